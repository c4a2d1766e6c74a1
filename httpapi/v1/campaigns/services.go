package campaigns

import "github.com/callboard/callboard/httpapi/router"

// Services are the services that the operations of this package use.
type Services struct {
	Campaigns Campaigns
	Forecasts Forecasts
	Contacts  Contacts
	DNCLists  DNCLists
	Decisions Decisions
	BulkJobs  BulkJobs
}

// Register registers the HTTP operations of this package.
func Register(r *router.Router, services Services) {
	registerCampaigns(r, services.Campaigns, services.Forecasts)
	registerContacts(r, services.Contacts)
	registerDNCLists(r, services.DNCLists)
	registerDecisions(r, services.Decisions)
	registerBulk(r, services.BulkJobs)
}
