package middleware

import (
	"net/http"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
)

// Origins decides which web pages may use the API (CORS).
type Origins struct {
	allowed    AllowedOrigins
	workspaces Workspaces
	limits     *RateLimits
}

// checkPage refuses a request of a web page with an API key, or with a token if the workspace does not allow the origin
// of the page.
func (o *Origins) checkPage(c *fiber.Ctx, p domain.Principal) error {
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" {
		return nil
	}
	if !p.UsesTokenOrSession() {
		return domain.Errorf(router.CodeOriginNotAllowed, "An API key must not be used in a browser.")
	}
	w, err := o.workspaces.Workspace(c.UserContext(), p)
	if err != nil {
		return err
	}
	if slices.Contains(w.AllowedOrigins, origin) {
		allowOrigin(c, origin)
		return nil
	}
	return domain.Errorf(router.CodeOriginNotAllowed, "allowed_origins of the workspace does not name this page's origin.")
}

// AllowResponse sets the CORS headers that let a page read the response, if the workspace allows the page's origin.
func (o *Origins) AllowResponse(c *fiber.Ctx, p domain.Principal) error {
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" {
		return nil
	}
	w, err := o.workspaces.Workspace(c.UserContext(), p)
	if err == nil && slices.Contains(w.AllowedOrigins, origin) {
		allowOrigin(c, origin)
	}
	return err
}

// allowError lets a web page read the response that refuses its token, if any workspace allows the page's origin.
// Otherwise the browser reports only a network error to the page.
func (o *Origins) allowError(c *fiber.Ctx, v *router.Request) {
	if origin := c.Get(fiber.HeaderOrigin); origin != "" && token.IsJWT(v.Credential) && o.allowed.OriginAllowed(origin) {
		allowOrigin(c, origin)
	}
}

func allowOrigin(c *fiber.Ctx, origin string) {
	c.Set(fiber.HeaderAccessControlAllowOrigin, origin)
	c.Set(fiber.HeaderAccessControlExposeHeaders, "X-Request-Id, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Window")
	c.Vary(fiber.HeaderOrigin)
}

// Preflight answers the CORS preflight request of a browser. The request that follows is authenticated separately.
func (o *Origins) Preflight(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodOptions {
		return c.Next()
	}
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" || c.Get(fiber.HeaderAccessControlRequestMethod) == "" {
		return c.Next()
	}
	v := router.RequestOf(c.UserContext())
	if !o.allowed.OriginAllowed(origin) {
		if err := o.limits.CountFailure(c, v); err != nil {
			return v.Router.RespondError(c, err)
		}
		return v.Router.RespondError(c, domain.Errorf(router.CodeOriginNotAllowed, "No workspace allows pages of this origin."))
	}
	allowOrigin(c, origin)
	if err := o.limits.countPreflight(c, v); err != nil {
		return v.Router.RespondError(c, err)
	}
	c.Set(fiber.HeaderAccessControlAllowMethods, "GET, HEAD, POST, PUT, PATCH, DELETE")
	c.Set(fiber.HeaderAccessControlAllowHeaders, "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Range")
	c.Set(fiber.HeaderAccessControlMaxAge, "600")
	return c.SendStatus(http.StatusNoContent)
}
