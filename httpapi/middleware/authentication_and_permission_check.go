// Package middleware checks requests before their handlers run: authentication, origin, rate limits, permissions
// and idempotency. It also writes the audit log.
package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
)

// Config configures the request checks of a server.
type Config struct {
	Log      *slog.Logger
	Registry *router.Registry // routes and their access rules
	Issuer   *token.Issuer
	Services Services
	// ShardMoves reports whether the shard is being handed over to another node. nil: never.
	ShardMoves func() bool
	// AcceptForwarded sets the principal of a request that another node has admitted and forwarded.
	AcceptForwarded func(c *fiber.Ctx) error
}

// Access checks whether a request may use its route.
type Access struct {
	*Authenticator

	Limits  *RateLimits
	Origins *Origins
	Audit   *AuditLog

	registry        *router.Registry
	operatorRoutes  map[string]router.AccessRule // routes that need an operator's credential
	limitedRoutes   map[string]pathLimit         // routes that have their own rate limit
	drain           drainGate
	acceptForwarded func(c *fiber.Ctx) error
}

// NewAccess returns the request checks of a server. Their background work ends with life.
func NewAccess(life context.Context, cfg Config) *Access {
	services := cfg.Services
	limits := NewRateLimits(life, cfg.Log, services.Workspaces, services.RateWindows)
	return &Access{
		Authenticator: &Authenticator{keys: services.Keys, oauth: services.OAuth, sessions: services.Sessions, issuer: cfg.Issuer},
		Limits:        limits,
		Origins:       &Origins{allowed: services.Origins, workspaces: services.Workspaces, limits: limits},
		Audit:         &AuditLog{service: services.Audit},
		registry:      cfg.Registry, operatorRoutes: router.OperatorRules(), limitedRoutes: pathLimitsByRoute(),
		drain: drainGate{service: services.Drain, isMoving: cfg.ShardMoves}, acceptForwarded: cfg.AcceptForwarded,
	}
}

// Admit authenticates a request, counts it against the rate limits and checks its permissions. It sets the principal
// of the request.
func (a *Access) Admit(c *fiber.Ctx, r router.AccessRule, route string) error {
	if len(r.Permissions) == 0 {
		return nil
	}
	if err := a.drain.refuseMoving(c, route); err != nil {
		return err
	}
	if router.IsForwarded(c) {
		return a.acceptForwarded(c)
	}
	v := router.RequestOf(c.UserContext())
	if t := router.ExchangeOf(c.Context()); t.PageRequest != nil {
		if !isCountedWithPage(c) {
			if err := a.Limits.CountRequest(c, v.Principal); err != nil {
				return err
			}
		}
		return a.checkPermission(c, v, r, route)
	}
	if err := a.identify(c, v); err != nil {
		return err
	}
	return a.admitPrincipal(c, v, r, route)
}

// AdmitTicket admits a request that has a ticket instead of a credential. credential is the one that created the
// ticket. If a user created the ticket, cookie is the user's session cookie instead.
func (a *Access) AdmitTicket(c *fiber.Ctx, r router.AccessRule, route, credential, cookie string) (err error) {
	v := router.RequestOf(c.UserContext())
	v.Credential, v.Cookie = credential, cookie
	if cookie == "" {
		if err = a.checkCredential(c, v, true); err != nil {
			return err
		}
		return a.admitPrincipal(c, v, r, route)
	}
	if v.Principal, err = a.CurrentPrincipal(c.UserContext(), v); err != nil {
		return err
	}
	router.ExchangeOf(c.Context()).Authenticated = true
	if err = a.Limits.CountRequest(c, v.Principal); err != nil {
		return err
	}
	return a.checkPermission(c, v, r, route)
}

// RefuseCredential counts a request without a valid credential against the rate limit of its address and writes an
// audit entry. It returns the error of the rate limit if the limit is reached, otherwise err.
func (a *Access) RefuseCredential(c *fiber.Ctx, err error) error {
	v := router.RequestOf(c.UserContext())
	if limited := a.Limits.CountFailure(c, v); limited != nil {
		return limited
	}
	a.Audit.NoteFailure(c.UserContext(), v, domain.CodeOf(err))
	return err
}

// CountUnmatchedRoute counts a request that matches no route against the rate limit of its workspace. Without a
// credential the request counts against the rate limit of its address.
func (a *Access) CountUnmatchedRoute(c *fiber.Ctx) error {
	v := router.RequestOf(c.UserContext())
	if len(c.Request().Header.PeekAll(fiber.HeaderAuthorization)) != 1 {
		return a.Limits.CountFailure(c, v)
	}
	if err := a.identify(c, v); err != nil {
		return err
	}
	return a.Limits.CountRequest(c, v.Principal)
}

// isCountedWithPage reports whether an API request of a dashboard page is not counted separately, because the request
// for the page was counted. This holds for reads, repeated requests and all requests of the operator's page.
func isCountedWithPage(c *fiber.Ctx) bool {
	t := router.ExchangeOf(c.Context())
	return t.PageRequest != nil && (c.Method() == http.MethodGet || t.Request.Principal.Operator || t.Repeated)
}

// admitPrincipal counts the request of an authenticated principal and checks its permissions.
func (a *Access) admitPrincipal(c *fiber.Ctx, v *router.Request, r router.AccessRule, route string) error {
	if err := a.Limits.CountRequest(c, v.Principal); err != nil {
		return err
	}
	if err := a.checkPermission(c, v, r, route); err != nil {
		return err
	}
	a.Audit.noteKeyUse(c.UserContext(), v)
	return nil
}

// checkPermission returns an error if the principal may not use a route, or if the route starts new work while the
// service is shutting down.
func (a *Access) checkPermission(c *fiber.Ctx, v *router.Request, r router.AccessRule, route string) error {
	noteRefusal := func() {
		if router.ExchangeOf(c.Context()).PageRequest == nil || c.Method() != http.MethodGet { // a page omits unreadable data
			a.Audit.NoteFailure(c.UserContext(), v, domain.CodeInsufficientPermissions)
		}
	}
	if err := a.registry.Credentials[route].Refuse(v.Principal); err != nil {
		noteRefusal()
		return err
	}
	if !r.Allows(v.Principal.Permissions) {
		required := make([]string, len(r.Permissions))
		for i, p := range r.Permissions {
			required[i] = string(p)
		}
		noteRefusal()
		return domain.Errorf(domain.CodeInsufficientPermissions, "The key lacks the permission %s.", strings.Join(required, " or ")).
			With("required", required)
	}
	if _, only := a.operatorRoutes[route]; only {
		if err := router.RequireOperator(v.Principal); err != nil {
			return err
		}
	}
	if path, limited := a.limitedRoutes[route]; limited && !isCountedWithPage(c) {
		v.CountPathRequest = func() (refund func(), err error) { return a.Limits.countPathRequest(c, path) }
	}
	return a.drain.refuseNewWork(c, route)
}

// identify sets the principal of the credential in the Authorization header. A failure counts against the rate limit
// of the client's address.
func (a *Access) identify(c *fiber.Ctx, v *router.Request) error {
	scheme, key, _ := strings.Cut(string(c.Request().Header.Peek(fiber.HeaderAuthorization)), " ")
	if key = strings.TrimSpace(key); !strings.EqualFold(scheme, "Bearer") || key == "" {
		return a.RefuseCredential(c, domain.Errorf(domain.CodeAuthenticationRequired, "Send an API key or a token: Authorization: Bearer svc_sk_…"))
	}
	v.Credential = key
	return a.checkCredential(c, v, false)
}

// checkCredential sets the principal of a request's credential. It refuses an API key that a web page sends, unless
// ticket is true.
func (a *Access) checkCredential(c *fiber.Ctx, v *router.Request, ticket bool) error {
	p, err := a.authenticate(c.UserContext(), v)
	if err == nil && !ticket {
		err = a.Origins.checkPage(c, p)
	}
	v.Principal = p
	if err == nil {
		router.ExchangeOf(c.Context()).Authenticated = true
		return nil
	}
	code := domain.CodeOf(err)
	if code == "" || code == domain.CodeUnavailable {
		return err
	}
	if code != router.CodeOriginNotAllowed {
		a.Origins.allowError(c, v)
	}
	return a.RefuseCredential(c, err)
}
