package server

import (
	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/v1/account"
	"github.com/callboard/callboard/httpapi/v1/agents"
	"github.com/callboard/callboard/httpapi/v1/calls"
	"github.com/callboard/callboard/httpapi/v1/campaigns"
	"github.com/callboard/callboard/httpapi/v1/events"
	"github.com/callboard/callboard/httpapi/v1/messaging"
	"github.com/callboard/callboard/httpapi/v1/operator"
	telephonyapi "github.com/callboard/callboard/httpapi/v1/telephony"
)

// apiServices returns the services that the API asks.
func apiServices(d *actors.Desk) httpapi.Services {
	return httpapi.Services{
		Account: account.Services{
			Workspaces: d, SpendWarnings: d, Keys: d, OAuthClients: d, Usage: d, Exports: d, DataRequests: d, AuditLog: d,
		},
		Agents: agents.Services{
			Agents: d, Tools: d, Pathways: d, Models: d, Calls: d, Campaigns: d, Providers: d, Appointments: d, Knowledge: d,
		},
		Calls:     calls.Services{Calls: d, Actions: d, Events: d, Recordings: d},
		Campaigns: campaigns.Services{Campaigns: d, Forecasts: d, Contacts: d, DNCLists: d, Decisions: d, BulkJobs: d},
		Events:    events.Services{Events: d, Webhooks: d, Deliveries: d},
		Messaging: messaging.Services{Messages: d, Conversations: d, Gateways: d},
		Operator:  operator.Services{Workspaces: d, SpendWarnings: d, Numbers: d, Trunks: d, Alerts: d, Quarantine: d},
		Telephony: telephonyapi.Services{Numbers: d, TestCalls: d, Trunks: d, Phones: d},

		Keys: d, Tokens: d, OAuth: d, Consents: d, Users: d, Audit: d,
		Listening: d, Talking: d,
		Node: d, AlertSearch: d, Health: d, RateWindows: d, Idempotency: d,
	}
}

// APIDocument returns the OpenAPI document of the API, for which no service is needed.
func APIDocument(version string) []byte {
	return httpapi.New(httpapi.Config{Version: version}, httpapi.Services{}).Document()
}
