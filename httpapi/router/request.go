package router

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/token"
	"github.com/callboard/callboard/service/record"
)

// Request holds what the server has found out about a request: its client, credential and principal.
type Request struct {
	Router       *Router
	Principal    domain.Principal
	Credential   string // the API key or token as the client sent it
	Cookie       string // session cookie of a signed-in dashboard user
	IP           netip.Addr
	UserAgent    string
	RequestID    string
	Claims       *token.Claims  // nil: the credential is no token
	ResourceID   string         // the created resource, for the audit log
	GeneralLimit limit.Decision // the limit that the rate limit headers show
	// CountPathRequest counts the request against the rate limit of its path. It is nil for a path without its own
	// limit.
	CountPathRequest func() (refund func(), err error)
}

type requestKey struct{}

// WithRequest returns a context that carries a request.
func WithRequest(ctx context.Context, v *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, v)
}

// RequestOf returns the request that a context carries. Without one it returns an empty Request.
func RequestOf(ctx context.Context) *Request {
	if v, ok := ctx.Value(requestKey{}).(*Request); ok {
		return v
	}
	return &Request{}
}

// SetResourceID records the resource that a request has created, for the audit log.
func SetResourceID(ctx context.Context, id string) { RequestOf(ctx).ResourceID = id }

// AuditAction returns an audit log entry with the address and the user agent of the request.
func (v *Request) AuditAction(kind, action string) record.AuditAction {
	return record.AuditAction{Type: kind, Action: action, IP: v.IP, UserAgent: v.UserAgent}
}

// Exchange holds the state of one HTTP request and its response. It is allocated per request and never reused, because
// goroutines that a handler starts may outlive the request.
type Exchange struct {
	Request       Request
	Body          Body
	Started       time.Time
	Routed        bool       // the request has reached the router
	Authenticated bool       // the credential is valid
	PageRequest   *Request   // the dashboard request that caused this API request; nil: an API client
	Repeated      bool       // the dashboard repeats an API request
	Form          url.Values // the form that a page has sent; nil until it is read
	Changed       bool       // a dashboard page has changed something
}

// ExchangeKey is the fasthttp user value that holds the Exchange of a request.
type ExchangeKey struct{}

// ExchangeOf returns the Exchange of a request. It creates one if the server failed to read the request.
func ExchangeOf(rc *fasthttp.RequestCtx) *Exchange {
	t, ok := rc.UserValue(ExchangeKey{}).(*Exchange)
	if !ok {
		t = &Exchange{Started: time.Now()}
		t.Request.RequestID = NewRequestID()
		rc.SetUserValue(ExchangeKey{}, t)
	}
	return t
}

// NewRequestID returns a random request id. The id is no secret.
func NewRequestID() string {
	const prefix = "req_"
	var b [16]byte                                      // the id uses the first bytes only
	binary.NativeEndian.PutUint64(b[:], rand.Uint64())  //nolint:gosec // the id is not secret
	binary.NativeEndian.PutUint64(b[8:], rand.Uint64()) //nolint:gosec // the id is not secret
	var text [len(prefix) + 24]byte
	copy(text[:], prefix)
	base32.HexEncoding.Encode(text[len(prefix):], b[:15])
	return string(text[:])
}

// RequestID returns the id of a request.
func RequestID(c *fiber.Ctx) string { return ExchangeOf(c.Context()).Request.RequestID }

// ForwardedHeader is the header in which the forwarding node describes a request, for example its principal.
const ForwardedHeader = forward.HeaderPrefix + "Forwarded"

// IsForwarded reports whether another node has authenticated and forwarded the request. It ignores ForwardedHeader in
// requests that come from clients.
func IsForwarded(c *fiber.Ctx) bool {
	_, node := c.Context().RemoteAddr().(forward.NodeAddr)
	return node && len(c.Request().Header.Peek(ForwardedHeader)) > 0
}
