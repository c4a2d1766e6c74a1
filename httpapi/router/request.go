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

// Request is a request while it is handled.
type Request struct {
	Router       *Router
	Principal    domain.Principal
	Credential   string // the key as it was sent
	Cookie       string // of who is signed in and asks from a page
	IP           netip.Addr
	UserAgent    string
	RequestID    string
	Claims       *token.Claims  // where the credential is a token
	ResourceID   string         // the resource that a write made, for the audit log
	GeneralLimit limit.Decision // of the general limit, as the headers show it
	// CountPathRequest counts the request against the limit of its path; nil: it has none.
	CountPathRequest func() (refund func(), err error)
}

type requestKey struct{}

// WithRequest returns a context that carries a request.
func WithRequest(ctx context.Context, v *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, v)
}

// RequestOf returns the request of a context.
func RequestOf(ctx context.Context) *Request {
	if v, ok := ctx.Value(requestKey{}).(*Request); ok {
		return v
	}
	return &Request{}
}

// SetResourceID says which resource a write has made.
func SetResourceID(ctx context.Context, id string) { RequestOf(ctx).ResourceID = id }

// AuditAction returns an audit entry of the request.
func (v *Request) AuditAction(kind, action string) record.AuditAction {
	return record.AuditAction{Type: kind, Action: action, IP: v.IP, UserAgent: v.UserAgent}
}

// Exchange is a request on the wire, and the visit that comes of it: made at once,
// and never used for another one, because what it began may outlive it.
type Exchange struct {
	Request       Request
	Body          Body
	Started       time.Time
	Routed        bool       // it came as far as the router
	Authenticated bool       // by a good credential
	PageRequest   *Request   // of whoever asks from a page of the dashboard
	Repeated      bool       // a page asks once more for what it has asked for
	Form          url.Values // that a page has sent, once it was read
	Changed       bool       // a page has changed something
}

// ExchangeKey is the user value that holds the Exchange of a request.
type ExchangeKey struct{}

// ExchangeOf is a request's trip. One that nobody has begun could not even be read.
func ExchangeOf(rc *fasthttp.RequestCtx) *Exchange {
	t, ok := rc.UserValue(ExchangeKey{}).(*Exchange)
	if !ok {
		t = &Exchange{Started: time.Now()}
		t.Request.RequestID = NewRequestID()
		rc.SetUserValue(ExchangeKey{}, t)
	}
	return t
}

// NewRequestID names a request; nothing is kept secret by it.
func NewRequestID() string {
	const prefix = "req_"
	var b [16]byte                                      // which ends in what is not used
	binary.NativeEndian.PutUint64(b[:], rand.Uint64())  //nolint:gosec // no secret
	binary.NativeEndian.PutUint64(b[8:], rand.Uint64()) //nolint:gosec // no secret
	var text [len(prefix) + 24]byte
	copy(text[:], prefix)
	base32.HexEncoding.Encode(text[len(prefix):], b[:15])
	return string(text[:])
}

// RequestID returns the id of a request.
func RequestID(c *fiber.Ctx) string { return ExchangeOf(c.Context()).Request.RequestID }

// ForwardedHeader carries what another node knows of a request that it forwards.
const ForwardedHeader = forward.HeaderPrefix + "Lent"

// IsForwarded reports whether another node has authenticated the request and forwarded it. Only connections of nodes may carry the
// header.
func IsForwarded(c *fiber.Ctx) bool {
	_, node := c.Context().RemoteAddr().(forward.NodeAddr)
	return node && len(c.Request().Header.Peek(ForwardedHeader)) > 0
}
