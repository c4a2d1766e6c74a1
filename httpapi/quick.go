package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
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

// bodied is an answer that is a body and nothing else.
type bodied interface{ body() any }

func (a *answer[T]) body() any { return a.Body }

// isQuick says whether a route reads one resource by its id and answers with
// a body: most requests do, and nothing of them needs the library that reads
// and checks all others.
func isQuick[O any](op operation) bool {
	_, plain := any(new(O)).(bodied)
	return plain && op.method == http.MethodGet && op.status == 0 && op.later == nil
}

// quickly serves such a route.
func quickly[O any](s *Server, op operation, r rule, look func(context.Context, domain.Principal, *One) (*O, error)) fiber.Handler {
	route := op.key()
	return func(c *fiber.Ctx) error {
		err := s.admit(c, r, route)
		if err == nil {
			err = s.queries.check(c, route)
		}
		if err == nil {
			err = s.emptyBody(c)
		}
		if err == nil {
			var sent bool
			if sent, err = s.away(c, route, nil); sent && err == nil {
				return nil
			}
		}
		if err != nil {
			return s.refuse(c, err)
		}
		out, err := look(c.UserContext(), tripOf(c.Context()).visit.principal, &One{ID: c.Params("id")})
		if err != nil {
			return s.refuse(c, err)
		}
		if b, ok := any(out).(bodied); ok {
			err = tellBody(c, b.body())
		}
		if err != nil {
			return s.refuse(c, err)
		}
		s.admin(c, r)
		return nil
	}
}

// emptyBody reads a body for which there is no use, within its limits.
func (s *Server) emptyBody(c *fiber.Ctx) error {
	b := bodyOf(c)
	if b.stream == nil {
		return nil
	}
	b.limit = s.cfg.JSONLimit
	text, err := b.all(c.Request().Header.ContentLength())
	if err != nil {
		return err
	}
	return jsonOnly(c, len(text))
}
