package server

import (
	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/cluster"
	"github.com/callboard/callboard/httpapi/live"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/oauth"
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
			Workspaces: d, SpendWarnings: d, Keys: d, Users: d, OAuthClients: d, Usage: d, Exports: d, DataRequests: d, AuditLog: d,
		},
		Agents: agents.Services{
			Agents: d, Tools: d, Pathways: d, Models: d, Calls: d, Campaigns: d, Providers: d, Appointments: d, Knowledge: d,
		},
		Calls:     calls.Services{Calls: d, Actions: d, Events: d, Recordings: d},
		Campaigns: campaigns.Services{Campaigns: d, Forecasts: d, Contacts: d, DNCLists: d, Decisions: d, BulkJobs: d},
		Events:    events.Services{Events: d, Webhooks: d, Deliveries: d},
		Messaging: messaging.Services{Messages: d, Conversations: d, Gateways: d},
		Operator:  operator.Services{Workspaces: d, SpendWarnings: d, Numbers: d, Trunks: d, Alerts: d, Quarantine: d, Node: d},
		Telephony: telephonyapi.Services{Numbers: d, TestCalls: d, Trunks: d, Phones: d},
		Live:      live.Services{Calls: d, Agents: d, CallAudio: d, BrowserCalls: d, Events: d},
		OAuth:     oauth.Services{Clients: d, Grants: d, Sessions: d, Audit: d},

		Access: middleware.Services{
			Keys: d, OAuth: d, Sessions: d, Origins: d, Workspaces: d, Audit: d, Drain: d, RateWindows: d,
		},
		SigningKeys: d, Numbers: d, Replies: d,
		Cluster: cluster.Services{Load: d, AlertSearch: d, Workspaces: d, Idempotency: d},
		Health:  d,
	}
}

// APIDocument returns the OpenAPI document of the API, for which no service is needed.
func APIDocument(version string) []byte {
	return httpapi.New(httpapi.Config{Version: version}, httpapi.Services{}).Document()
}
