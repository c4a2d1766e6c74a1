package middleware

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/router"
)

// drainRetryAfter is the number of seconds after which a client may repeat a request
// that was refused while the service is being stopped.
const drainRetryAfter = 5

// drainGate refuses requests that would begin work while the service is being stopped.
type drainGate struct {
	service Drain
	// isMoving says whether the shard is being handed over to another node; nil: never.
	isMoving func() bool
}

// isServedWhileDraining says whether a route is served while the service is being
// stopped: reads, actions on live calls, and whatever ends calls.
func isServedWhileDraining(route string) bool {
	switch route {
	case "POST /v1/calls/{id}/hangup", "POST /v1/calls/{id}/transfer", "POST /v1/calls/{id}/say", "POST /v1/calls/{id}/dtmf",
		"POST /v1/calls/{id}/recording/pause", "POST /v1/calls/{id}/recording/resume", "POST /v1/calls/{id}/recording/link",
		"POST /v1/tickets", "POST /v1/campaigns/{id}/pause", "POST /v1/campaigns/{id}/cancel", "POST /v1/bulk/{id}/cancel",
		"POST /v1/operator/dialling/stop", "POST /v1/auth/token", "POST /v1/auth/refresh", "POST /v1/dnc-lists/{id}/entries", "POST /v1/sms-gateways/{id}/events":
		return true
	}
	return strings.HasPrefix(route, "GET ")
}

// refuseNewWork refuses a request that would begin work while the service is being
// stopped: a retry reaches the next process.
func (g *drainGate) refuseNewWork(c *fiber.Ctx, route string) error {
	if isServedWhileDraining(route) || !g.service.RefusesWrites() {
		return nil
	}
	if err := g.refuseMoving(c, route); err != nil {
		return err // the handover has begun since the request came
	}
	return domain.Errorf(domain.CodeUnavailable, "The service is being stopped; try again in %d seconds.", drainRetryAfter).With("retry_after", drainRetryAfter)
}

// refuseMoving refuses a forwarded request that would begin work while the shard is
// being handed over. The node that has forwarded the request sends it again, to the
// shard's next owner.
func (g *drainGate) refuseMoving(c *fiber.Ctx, route string) error {
	if g.isMoving == nil || isServedWhileDraining(route) {
		return nil
	}
	if _, node := c.Context().RemoteAddr().(forward.NodeAddr); !node || !g.isMoving() {
		return nil
	}
	c.Response().Header.Set(forward.NotActive, "1")
	return router.ResentError{Err: domain.Errorf(domain.CodeUnavailable, "Another node is about to have the workspace; try again.").With("retry_after", 1)}
}
