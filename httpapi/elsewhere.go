package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/forward"
)

// Elsewhere is the rest of an install that is divided among nodes: whom an
// operator's request about a workspace of another part goes to. Who asks, how
// often and whether the request was made before is seen here; there it is done.
type Elsewhere interface {
	// Has says whether another part has a workspace.
	Has(workspaceID string) bool
	// Ask sends a request to the part that has a workspace; "": that is to have
	// the next one, which follows from seed. It may arrive twice.
	Ask(ctx context.Context, workspaceID, seed string, r *http.Request) (*http.Response, error)
}

const (
	// lentHeader brings what another node has found out of a request.
	lentHeader = forward.Own + "Lent"
	// elsewhereLimit bounds how long another node may take, and mostElsewhere
	// what it may answer.
	elsewhereLimit = 20 * time.Second
	mostElsewhere  = 8 << 20
)

// lent is what a node says to another one of a request that it has let in.
type lent struct {
	Principal domain.Principal `json:"principal"`
	RequestID string           `json:"request_id"`
	IP        netip.Addr       `json:"ip"`
	Agent     string           `json:"agent"`
	Turn      string           `json:"turn"`
}

// isLent says whether another node has let a request in. The doors of nodes
// take such a header from nobody else.
func isLent(c *fiber.Ctx) bool {
	_, node := c.Context().RemoteAddr().(forward.NodeAddr)
	return node && len(c.Request().Header.Peek(lentHeader)) > 0
}

// borrow believes what another node says of a request.
func (s *Server) borrow(c *fiber.Ctx) error {
	text, err := base64.StdEncoding.AppendDecode(nil, c.Request().Header.Peek(lentHeader))
	var l lent
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		return domain.Errorf(domain.CodeInvalidRequest, "A request of another node cannot be read.")
	}
	v := visitOf(c.UserContext())
	v.principal, v.requestID, v.ip, v.agent = l.Principal, l.RequestID, l.IP, l.Agent
	tripOf(c.Context()).known = true
	ctx, err := s.ports.Once.InTurn(c.UserContext(), l.Turn)
	if err != nil {
		return err
	}
	c.SetUserContext(ctx)
	return nil
}

// away sends what an operator asks about a workspace to the part that has it;
// false: it is done here.
func (s *Server) away(c *fiber.Ctx, route string, body []byte) (bool, error) {
	const path = "/v1/workspaces"
	if s.cfg.Elsewhere == nil || isLent(c) {
		return false, nil
	}
	_, at, _ := strings.Cut(route, " ")
	id := ""
	switch {
	case route == http.MethodPost+" "+path:
	case strings.HasPrefix(at, path+"/{id}"):
		var err error
		if id, err = domain.ParseID(domain.PrefixWorkspace, c.Params("id")); err != nil || !s.cfg.Elsewhere.Has(id) {
			return false, nil //nolint:nilerr // said where it is done
		}
	default:
		return false, nil
	}
	v := visitOf(c.UserContext())
	if err := byOperator(v.principal); err != nil {
		return true, err
	}
	return true, s.lend(c, v, id, body)
}

// lend has another part do a request, and answers as it does.
func (s *Server) lend(c *fiber.Ctx, v *visit, id string, body []byte) error {
	l := lent{Principal: v.principal, RequestID: v.requestID, IP: v.ip, Agent: v.agent, Turn: s.ports.Once.Turn(c.UserContext())}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), elsewhereLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, c.Method(), "http://node"+string(c.Request().RequestURI()), bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set(fiber.HeaderXForwardedFor, v.ip.String())
	r.Header.Set(lentHeader, base64.StdEncoding.EncodeToString(text))
	if len(body) > 0 {
		r.Header.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	}
	resp, err := s.cfg.Elsewhere.Ask(ctx, id, l.Turn, r)
	if err != nil {
		s.log.Warn("another node was not reached for an operator", slog.Any("error", err))
		return domain.Errorf(domain.CodeUnavailable, "The node that has the workspace cannot be reached; try again.").With("retry_after", 2)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostElsewhere))
	if err != nil {
		return domain.Errorf(domain.CodeUnavailable, "The node that has the workspace went away; try again.").With("retry_after", 2)
	}
	var made struct {
		ID string `json:"id"`
	}
	if id == "" && json.Unmarshal(answer, &made) == nil {
		v.touched = made.ID
	}
	for _, name := range [...]string{fiber.HeaderContentType, fiber.HeaderRetryAfter, fiber.HeaderCacheControl} {
		if value := resp.Header.Get(name); value != "" {
			c.Set(name, value)
		}
	}
	return c.Status(resp.StatusCode).Send(answer)
}
