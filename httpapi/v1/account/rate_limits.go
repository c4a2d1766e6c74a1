package account

import (
	"context"
	"net/http"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/router"
)

// LimitUsage returns what a workspace has used of its rate limits.
type LimitUsage interface {
	// Usage returns the general limit first, then those of paths.
	Usage(w *domain.Workspace, env domain.Environment) []limit.Usage
}

// RateLimits is the rate-limit usage object of the specification.
type RateLimits struct {
	CurrentWindow WindowUse           `json:"current_window"`
	Endpoints     map[string]LimitUse `json:"endpoints" doc:"Paths with limits of their own."`
}

// WindowUse is the number of requests of a workspace.
type WindowUse struct {
	LimitUse
	WindowReset time.Time `json:"window_reset" doc:"When the oldest request leaves the window."`
}

// LimitUse is the number of requests that count against a limit.
type LimitUse struct {
	RequestsMade  int `json:"requests_made" doc:"Within the window that ends now."`
	RequestsLimit int `json:"requests_limit"`
	WindowSeconds int `json:"window_seconds"`
}

// registerRateLimits registers the operation of rate limits.
func registerRateLimits(r *router.Router, limits LimitUsage) {
	router.Add(r, router.Operation{
		Method: http.MethodGet, Path: "/v1/usage/rate-limits", ID: "getRateLimits", Tag: "Usage", Summary: "Get what is used of the rate limits",
		Description: "Of the environment of the credential: live and test count apart. Asking counts as a request. Windows slide: what was made is what was made within the last minute or hour. " +
			"endpoints counts the requests that were permitted and valid; reading exports and bulk jobs is not counted there.",
	}, func(ctx context.Context, p domain.Principal, _ *struct{}) (*router.Response[RateLimits], error) {
		w, err := r.Workspace(ctx, p)
		if err != nil {
			return nil, err
		}
		out := RateLimits{Endpoints: make(map[string]LimitUse)}
		for _, u := range limits.Usage(w, p.Environment) {
			use := LimitUse{RequestsMade: u.Used, RequestsLimit: u.Rule.N, WindowSeconds: int(u.Rule.Window / time.Second)}
			if u.Path == "" {
				out.CurrentWindow = WindowUse{LimitUse: use, WindowReset: u.Reset.UTC()}
			} else {
				out.Endpoints[u.Path] = use
			}
		}
		return router.Respond(out, nil)
	})
}
