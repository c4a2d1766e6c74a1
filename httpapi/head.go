package httpapi

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// route registers a handler of ours. HEAD is answered as GET is, without the
// body (RFC 9110 §9.3.2), but where GET goes on: streams and sockets.
func (s *Server) route(op operation, handle fiber.Handler) {
	path := fiberPath(op.path)
	s.app.Add(op.method, path, handle)
	switch {
	case op.method != http.MethodGet:
	case op.live:
		s.app.Add(http.MethodHead, path, func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderAllow, http.MethodGet)
			return fiber.ErrMethodNotAllowed
		})
	default:
		s.app.Add(http.MethodHead, path, handle)
	}
}

// withHeads is an API that answers HEAD as GET.
type withHeads struct{ huma.API }

// Adapter serves each GET twice.
func (w withHeads) Adapter() huma.Adapter { return headed{w.API.Adapter()} }

type headed struct{ huma.Adapter }

// Handle is called with each route.
func (h headed) Handle(op *huma.Operation, handler func(huma.Context)) {
	h.Adapter.Handle(op, handler)
	if op.Method == http.MethodGet {
		head := *op
		head.Method = http.MethodHead
		h.Adapter.Handle(&head, handler)
	}
}
