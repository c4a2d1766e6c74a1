package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// answerUnmatchedRoute answers a request that matches no route with an error. The
// request counts like any other. A sender over the limit gets the same error.
func (s *Server) answerUnmatchedRoute(c *fiber.Ctx, status int, e *domain.Error) error {
	_ = s.countUnmatchedRoute(c) // sets the headers of the rate limit
	return s.RespondError(c, &router.Failure{Status: status, RequestID: router.RequestID(c), Err: e})
}

// countUnmatchedRoute counts a request that matches no route against the workspace
// of its credential, else against its address.
func (s *Server) countUnmatchedRoute(c *fiber.Ctx) error {
	v := router.RequestOf(c.UserContext())
	if len(c.Request().Header.PeekAll(fiber.HeaderAuthorization)) != 1 {
		return s.CountFailure(c, v)
	}
	if err := s.identify(c, v); err != nil {
		return err
	}
	return s.CountRequest(c, v.Principal)
}
