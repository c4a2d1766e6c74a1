package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
)

// healthAnswer is the answer of healthz and readyz.
type healthAnswer struct {
	Status      string `json:"status" enum:"ok"`
	Quarantined bool   `json:"quarantined,omitempty" doc:"true: the store was restored from a backup and not released; nothing leaves the service."`
}

const readyWithin = 2 * time.Second

func (s *Server) healthRoutes() {
	describe := func(h *huma.Operation) {
		h.Responses["200"] = response("It is.", fiber.MIMEApplicationJSON, schemaOf[healthAnswer](s.api))
	}
	s.raw(operation{method: http.MethodGet, path: "/healthz", id: "healthz", tag: "Health", summary: "Whether the process is alive", open: true}, describe,
		func(c *fiber.Ctx) error { return c.JSON(healthAnswer{Status: "ok"}) })
	s.raw(operation{method: http.MethodGet, path: "/readyz", id: "readyz", tag: "Health", summary: "Whether it can serve; 503 tells why not", open: true}, describe,
		func(c *fiber.Ctx) error {
			ctx, cancel := context.WithTimeout(c.UserContext(), readyWithin)
			defer cancel()
			if err := s.ports.Health.Ready(ctx); err != nil {
				return s.refuse(c, &Failure{
					status: http.StatusServiceUnavailable, requestID: requestID(c),
					err: domain.Errorf(domain.CodeUnavailable, "Not ready: %v", err).With("reason", err.Error()),
				})
			}
			return c.JSON(healthAnswer{Status: "ok", Quarantined: s.ports.Health.Quarantined()})
		})
}
