package middleware

import (
	"maps"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/limit"
)

// pathLimit is the rate limit of one path, in addition to the limit of the workspace.
type pathLimit struct {
	path   string // the path as /v1/usage/rate-limits shows it
	n      int    // 0: the plan's calls per minute
	window time.Duration
	routes []string // routes that are counted
}

// pathLimits returns the paths with rate limits of their own.
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

// pathLimitsByRoute returns the path limit of each route that has one.
func pathLimitsByRoute() map[string]pathLimit {
	out := make(map[string]pathLimit)
	for _, l := range pathLimits() {
		for _, route := range l.routes {
			out[route] = l
		}
	}
	return out
}

// LimitedRoutes returns the routes with a path limit.
func LimitedRoutes() []string { return slices.Sorted(maps.Keys(pathLimitsByRoute())) }
