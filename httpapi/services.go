package httpapi

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/cluster"
	"github.com/callboard/callboard/httpapi/dashboard"
	"github.com/callboard/callboard/httpapi/live"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/oauth"
	"github.com/callboard/callboard/httpapi/token"
	"github.com/callboard/callboard/httpapi/v1/account"
	"github.com/callboard/callboard/httpapi/v1/agents"
	"github.com/callboard/callboard/httpapi/v1/calls"
	"github.com/callboard/callboard/httpapi/v1/campaigns"
	"github.com/callboard/callboard/httpapi/v1/events"
	"github.com/callboard/callboard/httpapi/v1/messaging"
	"github.com/callboard/callboard/httpapi/v1/operator"
	"github.com/callboard/callboard/httpapi/v1/telephony"
)

// Services are the services that the API calls. The zero value is enough to register the routes and to write the
// OpenAPI document.
//
// Rules for all services:
//   - The Principal of a method call gives the workspace, the environment and the permissions.
//   - A resource of another workspace or environment is not_found.
//   - The client may see an error of type *domain.Error. The end of the context becomes 503, any other error 500.
//   - Requests are validated and have their defaults.
//   - The caller must not change returned records. Records may hold secrets, which the API does not show.
type Services struct {
	// Services that the operations of the API call.
	Account   account.Services
	Agents    agents.Services
	Calls     calls.Services
	Campaigns campaigns.Services
	Events    events.Services
	Live      live.Services
	Messaging messaging.Services
	OAuth     oauth.Services
	Operator  operator.Services
	Telephony telephony.Services

	// Services that the server calls for requests of all operations.
	Access      middleware.Services
	SigningKeys token.Keys
	Numbers     Numbers
	Replies     middleware.Replies // nil: the Idempotency-Key header has no effect
	Cluster     cluster.Services
	Health      Health
	Sessions    dashboard.Sessions
}

// Numbers returns the caller IDs of workspaces.
type Numbers interface {
	// CallerIDs returns the numbers that outbound calls may show as caller ID: first the workspace's own numbers,
	// oldest first, then the numbers that its trunks list.
	CallerIDs(ctx context.Context, p domain.Principal) ([]string, error)
}

// Health reports the state of the service for the health checks.
type Health interface {
	// Ready returns nil if the store is open, SIP listens and campaigns are loaded. The text of its error is shown to API
	// clients.
	Ready(ctx context.Context) error
	// Quarantined reports whether the store was restored from a backup and not yet released by an operator. In quarantine
	// the service makes no calls and sends no messages or webhooks.
	Quarantined() bool
}
