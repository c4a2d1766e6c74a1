package account

import (
	"context"
	"net/http"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/router"
)

// LimitUsage returns how much of its rate limits a workspace has used.
type LimitUsage interface {
	// Usage returns the use of the general limit first, followed by the use of the limits of single paths.
	Usage(w *domain.Workspace, env domain.Environment) []limit.Usage
}

// RateLimits is the response that shows the use of the rate limits.
type RateLimits struct {
	CurrentWindow WindowUse           `json:"current_window"`
	Endpoints     map[string]LimitUse `json:"endpoints" doc:"Paths with a separate limit."`
}

// WindowUse is the number of requests of a workspace in the current window.
type WindowUse struct {
	LimitUse
	WindowReset time.Time `json:"window_reset" doc:"When the oldest request leaves the window."`
}

// LimitUse says how many requests count against a rate limit, and how many are allowed.
type LimitUse struct {
	RequestsMade  int `json:"requests_made" doc:"Requests within the window that ends now."`
	RequestsLimit int `json:"requests_limit"`
	WindowSeconds int `json:"window_seconds"`
}

// registerRateLimits registers the route that returns the use of the rate limits.
func registerRateLimits(r *router.Router, limits LimitUsage) {
	router.Add(r, router.Operation{
		Method: http.MethodGet, Path: "/v1/usage/rate-limits", ID: "getRateLimits", Tag: "Usage", Summary: "Get the use of the rate limits",
		Description: "For the environment of the credential, because live and test are counted separately. This request counts too. Windows slide: requests_made covers the last minute or hour. " +
			"endpoints counts permitted and valid requests. Reading exports and bulk jobs is not counted there.",
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
