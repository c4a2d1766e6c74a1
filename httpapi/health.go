package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// healthAnswer is the response of /healthz and /readyz.
type healthAnswer struct {
	Status      string `json:"status" enum:"ok"`
	Quarantined bool   `json:"quarantined,omitempty" doc:"True while a store that was restored from a backup is not released. The service then sends nothing out."`
}

// readyTimeout is the maximum duration of a readiness check.
const readyTimeout = 2 * time.Second

// registerHealth registers the health check routes.
func (s *Server) registerHealth() {
	describe := func(h *huma.Operation) {
		h.Responses["200"] = router.DescribeResponse("The check has passed.", fiber.MIMEApplicationJSON, router.SchemaOf[healthAnswer](s.API))
	}
	s.AddRaw(router.Operation{Method: http.MethodGet, Path: "/healthz", ID: "healthz", Tag: "Health", Summary: "Check liveness", Public: true}, describe,
		func(c *fiber.Ctx) error { return c.JSON(healthAnswer{Status: "ok"}) })
	s.AddRaw(router.Operation{Method: http.MethodGet, Path: "/readyz", ID: "readyz", Tag: "Health", Summary: "Check readiness; 503 gives the reason", Public: true}, describe,
		func(c *fiber.Ctx) error {
			ctx, cancel := context.WithTimeout(c.UserContext(), readyTimeout)
			defer cancel()
			if err := s.services.Health.Ready(ctx); err != nil {
				return s.RespondError(c, &router.Failure{
					Status: http.StatusServiceUnavailable, RequestID: router.RequestID(c),
					Err: domain.Errorf(domain.CodeUnavailable, "Not ready: %v", err).With("reason", err.Error()),
				})
			}
			return c.JSON(healthAnswer{Status: "ok", Quarantined: s.services.Health.Quarantined()})
		})
}
