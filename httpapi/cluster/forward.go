package cluster

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

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/operator"
)

// forwardedHeader is the header, as base64 of JSON, that describes an authenticated request to the node that runs it.
type forwardedHeader struct {
	Principal        domain.Principal `json:"principal"`
	RequestID        string           `json:"request_id"`
	IP               netip.Addr       `json:"ip"`
	Agent            string           `json:"agent"`
	IdempotencyState string           `json:"turn"`
}

// AcceptForwarded sets the principal and the origin of a request from the header of the node that forwards it.
func (cl *Cluster) AcceptForwarded(c *fiber.Ctx) error {
	text, err := base64.StdEncoding.AppendDecode(nil, c.Request().Header.Peek(router.ForwardedHeader))
	var l forwardedHeader
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		return domain.Errorf(domain.CodeInvalidRequest, "The forwarded request cannot be read.")
	}
	v := router.RequestOf(c.UserContext())
	v.Principal, v.RequestID, v.IP, v.UserAgent = l.Principal, l.RequestID, l.IP, l.Agent
	router.ExchangeOf(c.Context()).Authenticated = true
	ctx, err := cl.idempotency.DecodeRequest(c.UserContext(), l.IdempotencyState)
	if err != nil {
		return err
	}
	c.SetUserContext(ctx)
	return nil
}

// Forward sends an operator's request about a workspace or a node to the shard that owns it. It returns false if
// this node must handle the request.
func (cl *Cluster) Forward(c *fiber.Ctx, route string, body []byte) (bool, error) {
	if cl.shards == nil || router.IsForwarded(c) {
		return false, nil
	}
	send, err := cl.destination(c, route, body)
	if err != nil || send == nil {
		return false, err
	}
	v := router.RequestOf(c.UserContext())
	if err := router.RequireOperator(v.Principal); err != nil {
		return true, err
	}
	return true, cl.forward(c, v, route == http.MethodPost+" /v1/workspaces", body, send)
}

// destination returns the sender for the shard or node that a request concerns. It returns nil if this node must
// handle the request, also for an invalid id, which the handler reports.
func (cl *Cluster) destination(c *fiber.Ctx, route string, body []byte) (sender, error) {
	const path = "/v1/workspaces"
	_, at, _ := strings.Cut(route, " ")
	id := ""
	switch {
	case route == operator.DrainRoute || route == operator.UndrainRoute:
		return cl.nodeDestination(c, body)
	case route == http.MethodPost+" "+path:
	case strings.HasPrefix(at, path+"/{id}"):
		var err error
		if id, err = domain.ParseID(domain.PrefixWorkspace, c.Params("id")); err != nil || !cl.shards.IsElsewhere(id) {
			return nil, nil //nolint:nilerr // the handler reports the error
		}
	default:
		return nil, nil
	}
	return func(ctx context.Context, seed string, r *http.Request) (*http.Response, error) {
		return cl.shards.Send(ctx, id, seed, r)
	}, nil
}

// nodeDestination returns the sender for the node that the request body names. It returns nil if this node must handle
// the request.
func (cl *Cluster) nodeDestination(c *fiber.Ctx, body []byte) (sender, error) {
	var choice operator.NodeChoice
	if json.Unmarshal(body, &choice) != nil || choice.NodeID == "" || router.RequireOperator(router.RequestOf(c.UserContext()).Principal) != nil {
		return nil, nil //nolint:nilerr // the handler reports the error
	}
	shards, here, err := cl.shardsOfNode(choice.NodeID)
	if err != nil || here {
		return nil, err
	}
	return func(ctx context.Context, _ string, r *http.Request) (*http.Response, error) {
		defer cl.loads.reset()
		return cl.sendToAny(ctx, shards, r)
	}, nil
}

// forwardedRequest returns a copy of a request for another shard, with the header that describes its principal. The
// returned string is the encoded idempotency state.
func (cl *Cluster) forwardedRequest(ctx context.Context, v *router.Request, method, uri string, body []byte) (*http.Request, string, error) {
	l := forwardedHeader{Principal: v.Principal, RequestID: v.RequestID, IP: v.IP, Agent: v.UserAgent, IdempotencyState: cl.idempotency.EncodeRequest(ctx)}
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
	return r, l.IdempotencyState, nil
}

// sender sends a request to another shard. seed determines the shard of a new workspace.
type sender func(ctx context.Context, seed string, r *http.Request) (*http.Response, error)

// forward sends a request to another shard and answers with the response of that shard.
func (cl *Cluster) forward(c *fiber.Ctx, v *router.Request, creates bool, body []byte, send sender) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), forwardTimeout)
	defer cancel()
	r, turn, err := cl.forwardedRequest(ctx, v, c.Method(), string(c.Request().RequestURI()), body)
	if err != nil {
		return err
	}
	resp, err := send(ctx, turn, r)
	if err != nil {
		cl.Log.Warn("node not reached for an operator's request", slog.Any("error", err))
		return domain.Errorf(domain.CodeUnavailable, "The node that owns the workspace cannot be reached; try again.").With("retry_after", 2)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return domain.Errorf(domain.CodeUnavailable, "The node that owned the workspace went away; try again.").With("retry_after", 2)
	}
	var created struct {
		ID string `json:"id"`
	}
	if creates && json.Unmarshal(answer, &created) == nil {
		v.ResourceID = created.ID
	}
	for _, name := range [...]string{fiber.HeaderContentType, fiber.HeaderRetryAfter, fiber.HeaderCacheControl} {
		if value := resp.Header.Get(name); value != "" {
			c.Set(name, value)
		}
	}
	return c.Status(resp.StatusCode).Send(answer)
}
