package operator

import (
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/account"
)

// Services are the services that the operations of this package use.
type Services struct {
	Workspaces    Workspaces
	SpendWarnings account.SpendWarnings
	Numbers       Numbers
	Trunks        Trunks
	Alerts        Alerts
	Quarantine    Quarantine
	Node          Node
}

// Register registers the HTTP operations of this package.
func Register(r *router.Router, services Services, cluster Cluster) {
	registerWorkspaces(r, services)
	registerQuarantine(r, services.Quarantine)
	registerNodes(r, services.Node, cluster)
	registerAlerts(r, services.Alerts)
}
