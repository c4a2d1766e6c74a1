package operator

import (
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/account"
)

// Services are the use cases behind the operations of operators.
type Services struct {
	Workspaces    Workspaces
	SpendWarnings account.SpendWarnings
	Numbers       Numbers
	Trunks        Trunks
	Alerts        Alerts
	Quarantine    Quarantine
}

// Register registers the operations of operators.
func Register(r *router.Router, services Services) {
	registerWorkspaces(r, services)
	registerQuarantine(r, services.Quarantine)
	registerAlerts(r, services.Alerts)
}
