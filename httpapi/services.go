package httpapi

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/cluster"
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

// Services are the use cases that the API serves. The zero value is enough to
// register the routes and to write the OpenAPI document.
//
// The Principal of a call gives workspace, environment and permissions. A resource
// of another workspace or environment is not_found. Errors are *domain.Error, which
// the client may see; the end of the context is 503, any other error 500. Requests
// are validated and have their defaults. Returned records belong to the caller: no
// one changes them. They may hold secrets, which the API never shows.
type Services struct {
	// Operations of the API.
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

	// Services of all requests.
	Access      middleware.Services
	SigningKeys token.Keys
	Numbers     Numbers
	Replies     middleware.Replies // nil: the Idempotency-Key header has no effect
	Cluster     cluster.Services
	Health      Health
}

// Numbers are the phone numbers of workspaces.
type Numbers interface {
	// CallerIDs returns the numbers that outbound calls may show: the workspace's own, oldest first, then those that its
	// trunks list.
	CallerIDs(ctx context.Context, p domain.Principal) ([]string, error)
}

// Health says whether the service can serve.
type Health interface {
	// Ready returns nil when the store is open, SIP listens and campaigns are loaded.
	// The text of the error is shown.
	Ready(ctx context.Context) error
	// Quarantined says whether the store was restored from a backup and nothing leaves the
	// service.
	Quarantined() bool
}
