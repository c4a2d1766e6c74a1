package router

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// AddHandler registers a Fiber handler. It also registers a GET route for HEAD, which is answered without a body
// (RFC 9110 §9.3.2). For streams and WebSockets HEAD is 405.
func (s *Router) AddHandler(op Operation, handle fiber.Handler) {
	path := fiberPath(op.Path)
	s.App.Add(op.Method, path, handle)
	switch {
	case op.Method != http.MethodGet:
	case op.Stream:
		s.App.Add(http.MethodHead, path, func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderAllow, http.MethodGet)
			return fiber.ErrMethodNotAllowed
		})
	default:
		s.App.Add(http.MethodHead, path, handle)
	}
}

// headAPI is a huma.API that answers HEAD like GET, without the body.
type headAPI struct{ huma.API }

// Adapter returns an adapter that also registers each GET route for HEAD.
func (w headAPI) Adapter() huma.Adapter { return headAdapter{w.API.Adapter()} }

// headAdapter registers the routes of a huma.API and registers each GET route for HEAD as well.
type headAdapter struct{ huma.Adapter }

// Handle registers a route. It registers a GET route for HEAD as well.
func (h headAdapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	h.Adapter.Handle(op, handler)
	if op.Method == http.MethodGet {
		head := *op
		head.Method = http.MethodHead
		h.Adapter.Handle(&head, handler)
	}
}
