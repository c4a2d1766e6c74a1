package account

import "github.com/callboard/callboard/httpapi/router"

// Services are the use cases behind the operations of a workspace's own settings.
type Services struct {
	Workspaces    Workspaces
	SpendWarnings SpendWarnings
	Keys          Keys
	OAuthClients  OAuthClients
	Usage         Usage
	Exports       Exports
	DataRequests  DataRequests
	AuditLog      AuditLog
}

// Register registers the operations of a workspace's own settings.
func Register(r *router.Router, services Services) {
	registerWorkspace(r, services.Workspaces, services.SpendWarnings)
	registerKeys(r, services.Keys)
	registerClients(r, services.OAuthClients)
	registerUsage(r, services.Usage)
	registerExports(r, services.Exports)
	registerDataRequests(r, services.DataRequests)
	registerAudit(r, services.AuditLog)
}
