package account

import (
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
)

// Services are the services that the handlers of this package call.
type Services struct {
	Workspaces    Workspaces
	SpendWarnings SpendWarnings
	Keys          Keys
	Users         Users
	OAuthClients  OAuthClients
	Usage         Usage
	Exports       Exports
	DataRequests  DataRequests
	AuditLog      AuditLog
}

// Register registers the routes for the settings of a workspace. issuer signs JWTs, and limits returns the use of the
// rate limits.
func Register(r *router.Router, services Services, issuer *token.Issuer, limits LimitUsage) {
	registerWorkspace(r, services.Workspaces, services.SpendWarnings)
	registerKeys(r, services.Keys)
	registerUsers(r, services.Users)
	registerTokens(r, issuer)
	registerClients(r, services.OAuthClients)
	registerUsage(r, services.Usage)
	registerRateLimits(r, limits)
	registerExports(r, services.Exports)
	registerDataRequests(r, services.DataRequests)
	registerAudit(r, services.AuditLog)
}
