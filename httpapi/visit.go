package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"net/netip"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/httpapi/token"
)

// visit is one request on its way through the house.
type visit struct {
	principal  domain.Principal
	credential string // the key as it was sent
	ip         netip.Addr
	agent      string
	requestID  string
	claims     token.Claims // where the credential is a token
	touched    string       // the resource that a write made, for the audit log
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

const (
	requestIDLocal = "callboard.request_id"
	bodyLocal      = "callboard.body"
	knownLocal     = "callboard.known"
)

func newRequestID() string {
	var b [15]byte
	_, _ = rand.Read(b[:]) // never fails
	return "req_" + base32.HexEncoding.EncodeToString(b[:])
}

func requestID(c *fiber.Ctx) string {
	if id, ok := c.Locals(requestIDLocal).(string); ok {
		return id
	}
	id := newRequestID()
	c.Locals(requestIDLocal, id)
	c.Set("X-Request-Id", id)
	return id
}
