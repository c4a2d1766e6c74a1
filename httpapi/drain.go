package httpapi

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/router"
)

// drainRetry is after how many seconds somebody who is turned away while the
// service is being stopped may ask again.
const drainRetry = 5

// goesOn says whether a route is served while the service is being stopped:
// what reads, what live calls need, and what ends calls and begins none.
func goesOn(route string) bool {
	switch route {
	case "POST /v1/calls/{id}/hangup", "POST /v1/calls/{id}/transfer", "POST /v1/calls/{id}/say", "POST /v1/calls/{id}/dtmf",
		"POST /v1/calls/{id}/recording/pause", "POST /v1/calls/{id}/recording/resume", "POST /v1/calls/{id}/recording/link",
		"POST /v1/tickets", "POST /v1/campaigns/{id}/pause", "POST /v1/campaigns/{id}/cancel", "POST /v1/bulk/{id}/cancel",
		"POST /v1/operator/dialling/stop", "POST /v1/auth/token", "POST /v1/auth/refresh", "POST /v1/dnc-lists/{id}/entries", "POST /v1/sms-gateways/{id}/events":
		return true
	}
	return strings.HasPrefix(route, "GET ")
}

// stopping refuses what would begin something while the service is being
// stopped: whoever asks again finds the next process.
func (s *Server) stopping(c *fiber.Ctx, route string) error {
	if goesOn(route) || !s.services.Health.Draining() {
		return nil
	}
	if err := s.moves(c, route); err != nil {
		return err // it has begun since the request came
	}
	return domain.Errorf(domain.CodeUnavailable, "The service is being stopped; try again in %d seconds.", drainRetry).With("retry_after", drainRetry)
}

// moves refuses a request that a node has passed on, and that stopping would
// refuse, while the part is being given away: whoever has passed it on sends it
// again, to the one that has the part next.
func (s *Server) moves(c *fiber.Ctx, route string) error {
	if s.cfg.Moves == nil || goesOn(route) {
		return nil
	}
	if _, node := c.Context().RemoteAddr().(forward.NodeAddr); !node || !s.cfg.Moves() {
		return nil
	}
	c.Response().Header.Set(forward.NotActive, "1")
	return router.ResentError{Err: domain.Errorf(domain.CodeUnavailable, "Another node is about to have the workspace; try again.").With("retry_after", 1)}
}
