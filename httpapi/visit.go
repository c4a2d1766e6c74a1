package httpapi

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
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/token"
)

// visit is one request on its way through the house.
type visit struct {
	router     *Router
	principal  domain.Principal
	credential string // the key as it was sent
	cookie     string // of who is signed in and asks from a page
	ip         netip.Addr
	agent      string
	requestID  string
	claims     *token.Claims // where the credential is a token
	touched    string        // the resource that a write made, for the audit log
	general    limit.Answer  // of the general limit, as the headers show it
	// countPathRequest counts the request against the limit of its path; nil: it has none.
	countPathRequest func() (refund func(), err error)
}

type visitKey struct{}

func withVisit(ctx context.Context, v *visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

func visitOf(ctx context.Context) *visit {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{}
}

// touch says which resource a write has made.
func touch(ctx context.Context, id string) { visitOf(ctx).touched = id }

func (v *visit) act(kind, action string) ask.Act {
	return ask.Act{Type: kind, Action: action, IP: v.ip, UserAgent: v.agent, RequestID: v.requestID}
}

// trip is a request on the wire, and the visit that comes of it: made at once,
// and never used for another one, because what it began may outlive it.
type trip struct {
	visit  visit
	body   body
	began  time.Time
	routed bool       // it came as far as the router
	known  bool       // by a good credential
	inside *visit     // of whoever asks from a page of the dashboard
	again  bool       // a page asks once more for what it has asked for
	form   url.Values // that a page has sent, once it was read
	wrote  bool       // a page has changed something
}

type tripKey struct{}

// tripOf is a request's trip. One that nobody has begun could not even be read.
func tripOf(rc *fasthttp.RequestCtx) *trip {
	t, ok := rc.UserValue(tripKey{}).(*trip)
	if !ok {
		t = &trip{began: time.Now()}
		t.visit.requestID = newRequestID()
		rc.SetUserValue(tripKey{}, t)
	}
	return t
}

// newRequestID names a request; nothing is kept secret by it.
func newRequestID() string {
	const prefix = "req_"
	var b [16]byte                                      // which ends in what is not used
	binary.NativeEndian.PutUint64(b[:], rand.Uint64())  //nolint:gosec // no secret
	binary.NativeEndian.PutUint64(b[8:], rand.Uint64()) //nolint:gosec // no secret
	var text [len(prefix) + 24]byte
	copy(text[:], prefix)
	base32.HexEncoding.Encode(text[len(prefix):], b[:15])
	return string(text[:])
}

func requestID(c *fiber.Ctx) string { return tripOf(c.Context()).visit.requestID }

// forwardedHeader carries what another node knows of a request that it forwards.
const forwardedHeader = forward.Own + "Lent"

// isForwarded says whether another node has let a request in. The doors of nodes
// take such a header from nobody else.
func isForwarded(c *fiber.Ctx) bool {
	_, node := c.Context().RemoteAddr().(forward.NodeAddr)
	return node && len(c.Request().Header.Peek(forwardedHeader)) > 0
}
