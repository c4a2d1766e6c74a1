package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/router"
)

// pathLimit is the limit of a path of its own, beside the workspace's (specification, Limits).
type pathLimit struct {
	path   string // as /v1/usage/rate-limits names it
	n      int    // 0: the plan's calls per minute
	window time.Duration
	routes []string // that spend it
}

func pathLimits() []pathLimit {
	const knowledge = "/v1/knowledge-base"
	return []pathLimit{
		{path: "/v1/calls/outbound", window: time.Minute, routes: []string{"POST /v1/calls/outbound"}},
		{path: "/v1/sms", n: 100, window: time.Minute, routes: []string{"POST /v1/sms", "GET /v1/sms", "GET /v1/sms/{id}", "DELETE /v1/sms/{id}"}},
		{path: knowledge, n: 60, window: time.Minute, routes: []string{
			"POST " + knowledge, "GET " + knowledge, "GET " + knowledge + "/{id}", "PATCH " + knowledge + "/{id}", "DELETE " + knowledge + "/{id}",
			"POST " + knowledge + "/{id}/search", "POST " + knowledge + "/{id}/sources", "GET " + knowledge + "/{id}/sources",
			"GET " + knowledge + "/{id}/sources/{source_id}", "DELETE " + knowledge + "/{id}/sources/{source_id}",
		}},
		{path: "/v1/exports", n: 10, window: time.Hour, routes: []string{"POST /v1/exports"}},
		{path: "/v1/bulk/*", n: 5, window: time.Minute, routes: []string{
			"POST /v1/bulk/calls", "POST /v1/bulk/contacts", "POST /v1/bulk/dnc", "POST /v1/bulk/sms", "POST /v1/bulk/{id}/cancel",
		}},
	}
}

func (l pathLimit) rule(w *domain.Workspace) limit.Rule {
	n := l.n
	if n == 0 {
		n = w.Limits.CallsPerMinute
	}
	return limit.Rule{N: n, Window: l.window, Burst: true}
}

// storedName is the name under which the requests of an environment to a path
// are kept; path "": all requests.
func storedName(env domain.Environment, path string) string {
	if env == domain.Test {
		return "test " + path
	}
	return path
}

// windowName is the name under which they are counted. The environments of a
// workspace count apart.
func windowName(workspaceID string, env domain.Environment, path string) string {
	return workspaceID + " " + storedName(env, path)
}

// requestRule is the limit of all requests of a workspace.
func requestRule(w *domain.Workspace) limit.Rule {
	return limit.Rule{N: w.Limits.RequestsPerMinute, Window: time.Minute, Burst: true}
}

// userRule lets one user have half of it and no burst: that is for the whole
// workspace.
func userRule(w *domain.Workspace) limit.Rule {
	return limit.Rule{N: (w.Limits.RequestsPerMinute + 1) / 2, Window: time.Minute}
}

// limitsByRoute are the limits of paths by the routes that spend them.
func limitsByRoute() map[string]pathLimit {
	out := make(map[string]pathLimit)
	for _, l := range pathLimits() {
		for _, route := range l.routes {
			out[route] = l
		}
	}
	return out
}

// countPathRequest counts a request against the limit of its path. The route calls
// it after the permission and the body were checked. refund removes the request
// from the count.
func (s *Server) countPathRequest(c *fiber.Ctx, l pathLimit) (refund func(), err error) {
	v := router.RequestOf(c.UserContext())
	w, err := s.Workspace(c.UserContext(), v.Principal)
	if err != nil {
		return nil, err
	}
	name := windowName(w.ID, v.Principal.Environment, l.path)
	a, err := s.take(c, &s.paths, w.ID, name, l.rule(w))
	if err != nil {
		return nil, err
	}
	general := v.GeneralLimit
	if a.Remaining > general.Remaining && general.Limit > 0 {
		_ = tell(c, general) // the tighter one; it let the request pass
	}
	return func() {
		s.paths.Refund(name, a)
		if general.Limit > 0 {
			_ = tell(c, general)
		}
	}, nil
}

// RateLimits is the rate-limit usage object of the specification.
type RateLimits struct {
	CurrentWindow WindowUse           `json:"current_window"`
	Endpoints     map[string]LimitUse `json:"endpoints" doc:"Paths with limits of their own."`
}

// WindowUse is what the workspace has used of its requests.
type WindowUse struct {
	LimitUse
	WindowReset time.Time `json:"window_reset" doc:"When the oldest request leaves the window."`
}

// LimitUse is what was used of a limit.
type LimitUse struct {
	RequestsMade  int `json:"requests_made" doc:"Within the window that ends now."`
	RequestsLimit int `json:"requests_limit"`
	WindowSeconds int `json:"window_seconds"`
}

func (s *Server) rateLimitRoutes() {
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/usage/rate-limits", ID: "getRateLimits", Tag: "Usage", Summary: "Get what is used of the rate limits",
		Description: "Of the environment of the credential: live and test count apart. Asking counts as a request. Windows slide: what was made is what was made within the last minute or hour. " +
			"endpoints counts the requests that were permitted and valid; reading exports and bulk jobs is not counted there.",
	}, s.rateLimitUse)
}

func (s *Server) rateLimitUse(ctx context.Context, p domain.Principal, _ *struct{}) (*router.Response[RateLimits], error) {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	use := func(l *limit.Limiter, name string, r limit.Rule) (LimitUse, time.Time) {
		made, reset := l.Used(name, r, now)
		return LimitUse{RequestsMade: made, RequestsLimit: r.N, WindowSeconds: int(r.Window / time.Second)}, reset.UTC()
	}
	out := RateLimits{Endpoints: make(map[string]LimitUse)}
	out.CurrentWindow.LimitUse, out.CurrentWindow.WindowReset = use(&s.limits, windowName(w.ID, p.Environment, ""), requestRule(w))
	for _, l := range pathLimits() {
		out.Endpoints[l.path], _ = use(&s.paths, windowName(w.ID, p.Environment, l.path), l.rule(w))
	}
	return router.Respond(out, nil)
}

// requestsLastMinute counts the requests of a workspace within the last minute, of both
// environments.
func (s *Server) requestsLastMinute(w *domain.Workspace) (sum int) {
	for _, env := range environments() {
		made, _ := s.limits.Used(windowName(w.ID, env, ""), requestRule(w), time.Now())
		sum += made
	}
	return sum
}
