package middleware

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/router"
)

// drainRetryAfter is the number of seconds after which a client may repeat a request that was refused during
// shutdown.
const drainRetryAfter = 5

// drainGate refuses requests that would start new work during shutdown.
type drainGate struct {
	service Drain
	// isMoving reports whether the shard is being handed over to another node. nil: never.
	isMoving func() bool
}

// isServedWhileDraining reports whether a route is served during shutdown: reads, actions on live calls, and all
// actions that stop or prevent calls.
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

// refuseNewWork refuses a request that would start new work during shutdown. The client's retry reaches the process that
// starts next.
func (g *drainGate) refuseNewWork(c *fiber.Ctx, route string) error {
	if isServedWhileDraining(route) || !g.service.RefusesWrites() {
		return nil
	}
	if err := g.refuseMoving(c, route); err != nil {
		return err // the handover has started since the request arrived
	}
	return domain.Errorf(domain.CodeUnavailable, "The service is being stopped; try again in %d seconds.", drainRetryAfter).With("retry_after", drainRetryAfter)
}

// refuseMoving refuses a request that would start new work while the shard is handed over, if another node forwarded
// the request. That node then sends it to the next owner of the shard.
func (g *drainGate) refuseMoving(c *fiber.Ctx, route string) error {
	if g.isMoving == nil || isServedWhileDraining(route) {
		return nil
	}
	if _, node := c.Context().RemoteAddr().(forward.NodeAddr); !node || !g.isMoving() {
		return nil
	}
	c.Response().Header.Set(forward.NotActive, "1")
	return router.ShardMovingError{Err: domain.Errorf(domain.CodeUnavailable, "Another node is taking over the workspace; try again.").With("retry_after", 1)}
}
