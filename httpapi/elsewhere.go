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
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/operator"
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
	// Own is this part, Others are the rest, and PartOf is the one that has a
	// workspace.
	Own() int
	Others() []int
	PartOf(workspaceID string) int
	// AskPart sends a request to a part. It may arrive twice.
	AskPart(ctx context.Context, part int, r *http.Request) (*http.Response, error)
}

const (
	// elsewhereLimit bounds how long another node may take, and mostElsewhere
	// what it may answer.
	elsewhereLimit = 20 * time.Second
	mostElsewhere  = 8 << 20
)

// otherNodes forwards requests to the other nodes of the installation, answers theirs,
// and serves the operators' view of all nodes.
type otherNodes struct {
	*router.Router

	shards    Elsewhere      // nil: this shard is the only one
	nodes     func() []Place // nil: this node is the only one
	version   string         // of the service on this node
	once      Idempotency    // keeps the turn of forwarded requests
	operators Operators
	tenants   operator.Workspaces
	alerts    AlertSearch
	requests  func(*domain.Workspace) int // of a workspace within the last minute
	loads     install                     // the last load of all shards
}

// forwardedHeader describes an authenticated request to the node that runs it.
type forwardedHeader struct {
	Principal domain.Principal `json:"principal"`
	RequestID string           `json:"request_id"`
	IP        netip.Addr       `json:"ip"`
	Agent     string           `json:"agent"`
	Turn      string           `json:"turn"`
}

// acceptForwarded takes the principal and the origin of a request from the node that
// forwards it.
func (o *otherNodes) acceptForwarded(c *fiber.Ctx) error {
	text, err := base64.StdEncoding.AppendDecode(nil, c.Request().Header.Peek(router.ForwardedHeader))
	var l forwardedHeader
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		return domain.Errorf(domain.CodeInvalidRequest, "A request of another node cannot be read.")
	}
	v := router.RequestOf(c.UserContext())
	v.Principal, v.RequestID, v.IP, v.UserAgent = l.Principal, l.RequestID, l.IP, l.Agent
	router.ExchangeOf(c.Context()).Authenticated = true
	ctx, err := o.once.InTurn(c.UserContext(), l.Turn)
	if err != nil {
		return err
	}
	c.SetUserContext(ctx)
	return nil
}

// Forward sends what an operator asks about a workspace, or about a node, to the
// part that has it; false: it is done here.
func (o *otherNodes) Forward(c *fiber.Ctx, route string, body []byte) (bool, error) {
	if o.shards == nil || router.IsForwarded(c) {
		return false, nil
	}
	send, err := o.destination(c, route, body)
	if err != nil || send == nil {
		return false, err
	}
	v := router.RequestOf(c.UserContext())
	if err := router.RequireOperator(v.Principal); err != nil {
		return true, err
	}
	return true, o.forward(c, v, route == http.MethodPost+" /v1/workspaces", body, send)
}

// destination returns the sender to the shard or node that a request concerns; nil: this
// shard, whose handler also reports invalid ids.
func (o *otherNodes) destination(c *fiber.Ctx, route string, body []byte) (sender, error) {
	const path = "/v1/workspaces"
	_, at, _ := strings.Cut(route, " ")
	id := ""
	switch {
	case route == drainRoute || route == undrainRoute:
		return o.nodeDestination(c, body)
	case route == http.MethodPost+" "+path:
	case strings.HasPrefix(at, path+"/{id}"):
		var err error
		if id, err = domain.ParseID(domain.PrefixWorkspace, c.Params("id")); err != nil || !o.shards.Has(id) {
			return nil, nil //nolint:nilerr // said where it is done
		}
	default:
		return nil, nil
	}
	return func(ctx context.Context, seed string, r *http.Request) (*http.Response, error) {
		return o.shards.Ask(ctx, id, seed, r)
	}, nil
}

// nodeDestination returns the sender to the node that the body names; nil: this node.
func (o *otherNodes) nodeDestination(c *fiber.Ctx, body []byte) (sender, error) {
	var choice NodeChoice
	if json.Unmarshal(body, &choice) != nil || choice.NodeID == "" || router.RequireOperator(router.RequestOf(c.UserContext()).Principal) != nil {
		return nil, nil //nolint:nilerr // said where it is done
	}
	parts, here, err := o.shardsOfNode(choice.NodeID)
	if err != nil || here {
		return nil, err
	}
	return func(ctx context.Context, _ string, r *http.Request) (*http.Response, error) {
		defer o.loads.forget()
		return o.askAnyShard(ctx, parts, r)
	}, nil
}

// forwardedRequest returns a request to another shard with its header, and the
// idempotency turn.
func (o *otherNodes) forwardedRequest(ctx context.Context, v *router.Request, method, uri string, body []byte) (*http.Request, string, error) {
	l := forwardedHeader{Principal: v.Principal, RequestID: v.RequestID, IP: v.IP, Agent: v.UserAgent, Turn: o.once.Turn(ctx)}
	text, err := json.Marshal(l)
	if err != nil {
		return nil, "", err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://node"+uri, bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set(fiber.HeaderXForwardedFor, v.IP.String())
	r.Header.Set(router.ForwardedHeader, base64.StdEncoding.EncodeToString(text))
	if len(body) > 0 {
		r.Header.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	}
	return r, l.Turn, nil
}

// sender sends a request to its destination.
type sender func(ctx context.Context, seed string, r *http.Request) (*http.Response, error)

// forward sends a request to another shard and answers with the response.
func (o *otherNodes) forward(c *fiber.Ctx, v *router.Request, made bool, body []byte, send sender) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), elsewhereLimit)
	defer cancel()
	r, turn, err := o.forwardedRequest(ctx, v, c.Method(), string(c.Request().RequestURI()), body)
	if err != nil {
		return err
	}
	resp, err := send(ctx, turn, r)
	if err != nil {
		o.Log.Warn("another node was not reached for an operator", slog.Any("error", err))
		return domain.Errorf(domain.CodeUnavailable, "The node that is to do it cannot be reached; try again.").With("retry_after", 2)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostElsewhere))
	if err != nil {
		return domain.Errorf(domain.CodeUnavailable, "The node that was to do it went away; try again.").With("retry_after", 2)
	}
	var thing struct {
		ID string `json:"id"`
	}
	if made && json.Unmarshal(answer, &thing) == nil {
		v.ResourceID = thing.ID
	}
	for _, name := range [...]string{fiber.HeaderContentType, fiber.HeaderRetryAfter, fiber.HeaderCacheControl} {
		if value := resp.Header.Get(name); value != "" {
			c.Set(name, value)
		}
	}
	return c.Status(resp.StatusCode).Send(answer)
}
