package server

import (
	"github.com/callboard/callboard/cmd/callboard/services"
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

// apiServices selects the services that the HTTP API calls.
func apiServices(s *services.Services) httpapi.Services {
	return httpapi.Services{
		Account: account.Services{
			Workspaces: s.Workspaces, SpendWarnings: s.Trunks, Keys: s.Keys, Users: s.Users, OAuthClients: s.OAuth, Usage: s.Usage, Exports: s.Exports,
			DataRequests: s.DataRequests, AuditLog: s.Audit,
		},
		Agents: agents.Services{
			Agents: s.Agents, Tools: s.Tools, Pathways: s.Pathways, Models: s.AgentRuntime, Calls: s.Calls, Campaigns: s.Campaigns, Providers: s.Appointments,
			Appointments: s.Appointments, Knowledge: s.Knowledge,
		},
		Calls:     calls.Services{Calls: s.Calls, Actions: s.Calls, Events: s.Events, Recordings: s.Recordings},
		Campaigns: campaigns.Services{Campaigns: s.Campaigns, Forecasts: s.Forecasts, Contacts: s.Contacts, DNCLists: s.DNC, Decisions: s.Decisions, BulkJobs: s.Bulk},
		Events:    events.Services{Events: s.Events, Webhooks: s.Webhooks, Deliveries: s.Webhooks},
		Messaging: messaging.Services{Messages: s.SMS, Conversations: s.SMS, Gateways: s.SMS},
		Operator:  operator.Services{Workspaces: s.Workspaces, SpendWarnings: s.Trunks, Numbers: s.Numbers, Trunks: s.Trunks, Alerts: s.Alerts, Quarantine: s.Quarantine, Node: s.Operator},
		Telephony: telephonyapi.Services{Numbers: s.Numbers, TestCalls: s.Calls, Trunks: s.Trunks, Phones: s.Phones},
		Live:      live.Services{Calls: s.Calls, Agents: s.Agents, CallAudio: s.Calls, BrowserCalls: s.Calls, Events: s.Events},
		OAuth:     oauth.Services{Clients: s.OAuth, Grants: s.OAuth, Sessions: s.Users, Audit: s.Audit},

		Access: middleware.Services{
			Keys: s.Keys, OAuth: s.OAuth, Sessions: s.Users, Origins: s.Tokens, Workspaces: s.Workspaces, Audit: s.Audit, Drain: s.Node, RateWindows: s.Workspaces,
		},
		SigningKeys: s.Tokens, Numbers: s.Numbers, Replies: s.Idempotency,
		Cluster:  cluster.Services{Load: s.Operator, AlertSearch: s.Alerts, Workspaces: s.Workspaces, Idempotency: s.Idempotency},
		Health:   s.Node,
		Sessions: s.Users,
	}
}

// APIDocument returns the OpenAPI document of the API. It needs no running service.
func APIDocument(version string) []byte {
	return httpapi.New(httpapi.Config{Version: version}, httpapi.Services{}).Document()
}
