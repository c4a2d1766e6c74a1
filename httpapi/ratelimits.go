package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/limit"
)

// pathLimit is the limit of a path of its own, beside the workspace's (specification, Limits).
type pathLimit struct {
	path   string // as /v1/usage/rate-limits names it
	prefix bool   // and everything below
	post   bool   // only POST counts
	n      int    // 0: the plan's calls per minute
	window time.Duration
}

func pathLimits() []pathLimit {
	return []pathLimit{
		{path: "/v1/calls/outbound", window: time.Minute},
		{path: "/v1/sms", n: 100, prefix: true, window: time.Minute},
		{path: "/v1/knowledge-base", n: 60, prefix: true, window: time.Minute},
		{path: "/v1/exports", n: 10, prefix: true, post: true, window: time.Hour},
		{path: "/v1/bulk/*", n: 5, window: time.Minute},
	}
}

// covers says whether a route counts against the limit.
func (l pathLimit) covers(method, path string) bool {
	if l.post && method != http.MethodPost {
		return false
	}
	if base, all := strings.CutSuffix(l.path, "*"); all {
		return strings.HasPrefix(path, base)
	}
	return path == l.path || l.prefix && strings.HasPrefix(path, l.path+"/")
}

func (l pathLimit) rule(w *domain.Workspace) limit.Rule {
	n := l.n
	if n == 0 {
		n = w.Limits.CallsPerMinute
	}
	return limit.Rule{N: n, Window: l.window, Burst: true}
}

// name is what a workspace's requests are counted under.
func (l pathLimit) name(workspaceID string) string { return workspaceID + " " + l.path }

// requestRule is the limit of all requests of a workspace.
func requestRule(w *domain.Workspace) limit.Rule {
	return limit.Rule{N: w.Limits.RequestsPerMinute, Window: time.Minute, Burst: true}
}

// userRule lets one user have half of it and no burst: that is for the whole
// workspace.
func userRule(w *domain.Workspace) limit.Rule {
	return limit.Rule{N: (w.Limits.RequestsPerMinute + 1) / 2, Window: time.Minute}
}

// limitOf is the limit of its own that a route ("POST /v1/sms") has, if it has one.
func limitOf(route string) (pathLimit, bool) {
	method, path, _ := strings.Cut(route, " ")
	for _, l := range pathLimits() {
		if l.covers(method, path) {
			return l, true
		}
	}
	return pathLimit{}, false
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
	add(s, operation{
		method: http.MethodGet, path: "/v1/usage/rate-limits", id: "getRateLimits", tag: "Usage", summary: "Get what is used of the rate limits",
		about: "Asking counts as a request. Windows slide: what was made is what was made within the last minute or hour.",
	}, s.rateLimitUse)
}

func (s *Server) rateLimitUse(ctx context.Context, p domain.Principal, _ *struct{}) (*answer[RateLimits], error) {
	w, err := s.ports.Workspaces.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	use := func(l *limit.Limiter, name string, r limit.Rule) (LimitUse, time.Time) {
		made, reset := l.Used(name, r, now)
		return LimitUse{RequestsMade: made, RequestsLimit: r.N, WindowSeconds: int(r.Window / time.Second)}, reset.UTC()
	}
	out := RateLimits{Endpoints: make(map[string]LimitUse)}
	out.CurrentWindow.LimitUse, out.CurrentWindow.WindowReset = use(&s.limits, w.ID, requestRule(w))
	for _, l := range pathLimits() {
		out.Endpoints[l.path], _ = use(&s.paths, l.name(w.ID), l.rule(w))
	}
	return ok(out, nil)
}
