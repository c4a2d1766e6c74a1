package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/httpapi"
)

// routeCase describes a route: its permissions, a valid request and the expected status.
type routeCase struct {
	route       string
	permissions string // permissions that open the route, besides the wildcard of their verb; "": public
	body        any
	status      int
	auditAction string // action in the audit log
}

// tokenFor returns the body of a request for a token with one permission.
func tokenFor(permission string) any { return m{"user_id": "u", "permissions": []string{permission}} }

// exportFor returns the body of a request for an export that a key with this permission may create.
func exportFor(permission string) any {
	if permission == "analytics:read" {
		return m{"type": "usage"}
	}
	return m{"type": "calls"}
}

// requestBody returns the body of the request that a key with this permission sends.
func (c routeCase) requestBody(permission string) any {
	if f, ok := c.body.(func(string) any); ok {
		return f(permission)
	}
	return c.body
}

// routeCases returns a case for every route. {id} in a path stands for the id of an existing resource.
func routeCases() []routeCase {
	agent := m{"name": "a", "first_message": "Hello."}
	hook := m{"url": "https://example.com/hook", "events": []string{"*"}}
	return []routeCase{
		{"GET /healthz", "", nil, 200, ""},
		{"GET /readyz", "", nil, 200, ""},
		{"GET /openapi.json", "", nil, 200, ""},
		{"GET /docs", "", nil, 200, ""},
		{"GET /talk", "", nil, 200, ""},
		{"GET /talk.js", "", nil, 200, ""},
		{"GET /v1/usage/rate-limits", "analytics:read", nil, 200, ""},
		{"GET /.well-known/jwks.json", "", nil, 200, ""},
		{"GET /.well-known/oauth-authorization-server", "", nil, 200, ""},
		{"POST /v1/oauth/clients", "*:write", m{"name": "crm", "scopes": []string{"*:write"}}, 201, "oauth_client.created"},
		{"GET /v1/users", "*:read", nil, 200, ""},
		{"GET /v1/users/{id}", "*:read", nil, 200, ""},
		{"GET /v1/users/{id}/sessions", "*:read", nil, 200, ""},
		{"GET /v1/oauth/clients", "*:read", nil, 200, ""},
		{"GET /v1/oauth/clients/{id}", "*:read", nil, 200, ""},
		{"DELETE /v1/oauth/clients/{id}", "*:write", nil, 200, "oauth_client.deleted"},
		{"POST /v1/auth/token", "calls:read calls:write agents:read agents:write analytics:read", tokenFor, 200, "token.issued"},
		{"POST /v1/campaigns", "calls:write", m{"name": "c", "agent_id": "agent_" + ulidOf(1)}, 201, "campaign.created"},
		{"GET /v1/campaigns", "calls:read", nil, 200, ""},
		{"GET /v1/campaigns/{id}", "calls:read", nil, 200, ""},
		{"PATCH /v1/campaigns/{id}", "calls:write", m{"name": "d"}, 200, "campaign.updated"},
		{"POST /v1/campaigns/{id}/duplicate", "calls:write", nil, 201, "campaign.created"},
		{"POST /v1/campaigns/{id}/redial", "calls:write", m{"outcomes": []string{"busy"}}, 409, ""},
		{"DELETE /v1/campaigns/{id}", "calls:write", nil, 200, "campaign.deleted"},
		{"POST /v1/campaigns/{id}/contacts", "calls:write", m{"contacts": []m{{"phone": "+12025550123"}}}, 200, "campaign.contacts_added"},
		{"GET /v1/campaigns/{id}/contacts", "calls:read", nil, 200, ""},
		{"GET /v1/campaigns/{id}/contacts.csv", "calls:read", nil, 200, ""},
		{"GET /v1/campaigns/{id}/contacts.jsonl", "calls:read", nil, 200, ""},
		{"GET /v1/campaigns/{id}/contacts/{contact_id}", "calls:read", nil, 200, ""},
		{"PATCH /v1/campaigns/{id}/contacts/{contact_id}", "calls:write", m{"context": m{"name": "Ada"}}, 200, "campaign.contact_updated"},
		{"DELETE /v1/campaigns/{id}/contacts/{contact_id}", "calls:write", nil, 200, "campaign.contact_deleted"},
		{"GET /v1/campaigns/{id}/uploads", "calls:read", nil, 200, ""},
		{"GET /v1/campaigns/{id}/uploads/{upload_id}", "calls:read", nil, 200, ""},
		{"POST /v1/campaigns/{id}/start", "calls:write", nil, 200, "campaign.started"},
		{"POST /v1/campaigns/{id}/pause", "calls:write", nil, 409, ""},
		{"POST /v1/campaigns/{id}/resume", "calls:write", nil, 200, "campaign.resumed"},
		{"POST /v1/campaigns/{id}/cancel", "calls:write", nil, 200, "campaign.cancelled"},
		{"GET /v1/campaigns/{id}/status", "calls:read", nil, 200, ""},
		{"GET /v1/campaigns/{id}/progress", "calls:read", nil, 200, ""},
		{"POST /v1/campaigns/simulate", "calls:read", m{"name": "c", "agent_id": "agent_" + ulidOf(1)}, 200, ""},
		{"POST /v1/campaigns/{id}/simulate", "calls:read", m{"assumptions": m{"answer_rate": 0.5}}, 200, ""},
		{"GET /v1/campaigns/{id}/results", "calls:read analytics:read", nil, 200, ""},
		{"POST /v1/bulk/calls", "calls:write", m{"items": []m{{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}}}, 202, "bulk.created"},
		{"POST /v1/bulk/contacts", "calls:write", m{"defaults": m{"campaign_id": "campaign_" + ulidOf(1)}, "items": []m{{"phone": "+12025550123"}}}, 202, "bulk.created"},
		{"POST /v1/bulk/sms", "calls:write", m{"items": []m{{"to": "+12025550123", "body": "Hello."}}}, 202, "bulk.created"},
		{"POST /v1/bulk/dnc", "calls:write", m{"items": []m{{"phone": "+12025550123"}}}, 202, "bulk.created"},
		{"GET /v1/bulk", "calls:read", nil, 200, ""},
		{"GET /v1/bulk/{id}", "calls:read", nil, 200, ""},
		{"GET /v1/bulk/{id}/items", "calls:read", nil, 200, ""},
		{"POST /v1/bulk/{id}/cancel", "calls:write", nil, 200, "bulk.cancelled"},
		{"POST /v1/workspaces", "operator", m{"name": "w"}, 201, "workspace.created"},
		{"GET /v1/workspaces", "operator", nil, 200, ""},
		{"GET /v1/workspaces/{id}", "operator", nil, 200, ""},
		{"PATCH /v1/workspaces/{id}", "operator", m{"name": "x"}, 200, "workspace.updated"},
		{"DELETE /v1/workspaces/{id}", "operator", nil, 200, "workspace.deleted"},
		{"GET /v1/workspaces/{id}/phone-numbers", "operator", nil, 200, ""},
		{"POST /v1/workspaces/{id}/phone-numbers/{number_id}/approve", "operator", nil, 200, "phone_number.approved"},
		{"GET /v1/workspaces/{id}/trunks", "operator", nil, 200, ""},
		{"PATCH /v1/workspaces/{id}/trunks/{trunk_id}", "operator", m{"costs": []m{{"prefix": "+", "cost": "0.0100"}}}, 200, "trunk.updated"},
		{"GET /v1/operator/load", "operator", nil, 200, ""},
		{"GET /v1/operator/nodes", "operator", nil, 200, ""},
		{"GET /v1/operator/workspaces", "operator", nil, 200, ""},
		{"POST /v1/operator/dialling/stop", "operator", m{"reason": "a complaint"}, 200, "dialling.stopped"},
		{"POST /v1/operator/dialling/resume", "operator", nil, 200, "dialling.resumed"},
		{"POST /v1/operator/drain", "operator", nil, 200, "node.drained"},
		{"GET /v1/operator/quarantine", "operator", nil, 200, ""},
		{"POST /v1/operator/release", "operator", nil, 200, "store.released"},
		{"POST /v1/operator/undrain", "operator", nil, 200, "node.undrained"},
		{"POST /v1/alert-rules", "operator", goodAlertRule(), 201, "alert_rule.created"},
		{"GET /v1/alert-rules", "operator", nil, 200, ""},
		{"GET /v1/alert-rules/{id}", "operator", nil, 200, ""},
		{"PATCH /v1/alert-rules/{id}", "operator", m{"paused": true}, 200, "alert_rule.updated"},
		{"DELETE /v1/alert-rules/{id}", "operator", nil, 200, "alert_rule.deleted"},
		{"POST /v1/alert-rules/{id}/test", "operator", nil, 200, ""},
		{"GET /v1/alerts", "operator", nil, 200, ""},
		{"POST /v1/data-requests", "*:write", m{"type": "erase", "phone": "+12025550123"}, 202, "data_request.created"},
		{"GET /v1/data-requests", "*:read", nil, 200, ""},
		{"GET /v1/data-requests/{id}", "*:read", nil, 200, ""},
		{"GET /v1/data-requests/{id}/download", "*:read", nil, 200, "data_request.downloaded"},
		{"POST /v1/exports", "calls:read analytics:read", exportFor, 202, "export.created"},
		{"GET /v1/exports", "calls:read analytics:read", nil, 200, ""},
		{"GET /v1/exports/{id}", "calls:read analytics:read", nil, 200, ""},
		{"GET /v1/exports/{id}/download", "calls:read", nil, 200, "export.downloaded"},
		{"POST /v1/calls/outbound", "calls:write", m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}, 201, ""},
		{"GET /v1/calls", "calls:read", nil, 200, ""},
		{"GET /v1/calls/{id}", "calls:read", nil, 200, ""},
		{"DELETE /v1/calls/{id}", "calls:write", nil, 200, "call.deleted"},
		{"POST /v1/calls/{id}/hangup", "calls:write", nil, 200, ""},
		{"POST /v1/calls/{id}/transfer", "calls:write", m{"to": "+12025550123"}, 200, ""},
		{"POST /v1/calls/{id}/say", "calls:write", m{"text": "One moment."}, 200, ""},
		{"POST /v1/calls/{id}/dtmf", "calls:write", m{"digits": "1w23#"}, 200, ""},
		{"GET /v1/calls/{id}/events", "calls:read", nil, 200, ""},
		{"GET /v1/calls/{id}/sip", "calls:read", nil, 200, ""},
		{"GET /v1/calls/{id}/transcript", "calls:read", nil, 200, ""},
		{"GET /v1/calls/{id}/recording", "calls:read", nil, 200, ""},
		{"POST /v1/calls/{id}/recording/link", "calls:read", m{"expires_in": 60}, 201, "recording.linked"},
		{"POST /v1/calls/{id}/recording/pause", "calls:write", nil, 200, "recording.paused"},
		{"POST /v1/calls/{id}/recording/resume", "calls:write", nil, 200, "recording.resumed"},
		{"GET /v1/calls/{id}/listen", "calls:write", nil, 426, ""},
		{"GET /v1/agents/{id}/talk", "calls:write", nil, 426, ""},
		{"POST /v1/tickets", "calls:write analytics:read", m{"path": "/v1/calls/call_" + ulidOf(1) + "/listen"}, 201, ""},
		{"GET /v1/events", "analytics:read", nil, 200, ""},
		{"GET /v1/events/stream", "analytics:read", nil, 200, ""},
		{"GET /v1/events/{id}", "*:read", nil, 200, ""},
		{"GET /v1/usage", "analytics:read", nil, 200, ""},
		{"GET /v1/usage/ledger", "analytics:read", nil, 200, ""},
		{"GET /v1/audit-logs", "*:read", nil, 200, ""},
		{"GET /v1/workspace", "*:read", nil, 200, ""},
		{"PATCH /v1/workspace", "*:write", m{"name": "mine"}, 200, "workspace.updated"},
		{"POST /v1/agents", "agents:write", agent, 201, "agent.created"},
		{"GET /v1/agents", "agents:read", nil, 200, ""},
		{"GET /v1/agents/{id}", "agents:read", nil, 200, ""},
		{"PATCH /v1/agents/{id}", "agents:write", m{"name": "b"}, 200, "agent.updated"},
		{"DELETE /v1/agents/{id}", "agents:write", nil, 200, "agent.deleted"},
		{"POST /v1/agents/{id}/publish", "agents:write", nil, 200, "agent.published"},
		{"POST /v1/agents/{id}/on-inbound-secret", "agents:write", nil, 200, "agent.secret_made"},
		{"GET /v1/agents/{id}/versions", "agents:read", nil, 200, ""},
		{"GET /v1/agents/{id}/versions/{version}", "agents:read", nil, 200, ""},
		{"POST /v1/pathways", "agents:write", goodPathway(), 201, "pathway.created"},
		{"POST /v1/pathways/validate", "agents:write", goodPathway(), 200, ""},
		{"GET /v1/pathways", "agents:read", nil, 200, ""},
		{"GET /v1/pathways/{id}", "agents:read", nil, 200, ""},
		{"POST /v1/pathways/{id}/validate", "agents:read", nil, 200, ""},
		{"POST /v1/pathways/{id}/chat", "agents:read", m{}, 200, ""},
		{"POST /v1/pathways/{id}/test", "agents:read", m{"scenarios": []m{{"name": "a"}}}, 200, ""},
		{"POST /v1/pathways/{id}/replay", "*:read", m{"call_id": "x"}, 422, ""},
		{"PATCH /v1/pathways/{id}", "agents:write", m{"name": "b"}, 200, "pathway.updated"},
		{"DELETE /v1/pathways/{id}", "agents:write", nil, 200, "pathway.deleted"},
		{"POST /v1/tools", "agents:write", goodTool(), 201, "tool.created"},
		{"GET /v1/tools", "agents:read", nil, 200, ""},
		{"GET /v1/tools/{id}", "agents:read", nil, 200, ""},
		{"PATCH /v1/tools/{id}", "agents:write", m{"description": "Looks."}, 200, "tool.updated"},
		{"DELETE /v1/tools/{id}", "agents:write", nil, 200, "tool.deleted"},
		{"POST /v1/phone-numbers", "calls:write", m{"number": "(202) 555-0100", "agent_id": "agent_" + ulidOf(1)}, 201, "phone_number.created"},
		{"GET /v1/phone-numbers", "calls:read", nil, 200, ""},
		{"GET /v1/phone-numbers/{id}", "calls:read", nil, 200, ""},
		{"PATCH /v1/phone-numbers/{id}", "calls:write", m{"agent_id": "agent_" + ulidOf(2)}, 200, "phone_number.updated"},
		{"DELETE /v1/phone-numbers/{id}", "calls:write", nil, 200, "phone_number.deleted"},
		{"POST /v1/trunks", "calls:write", m{"name": "t", "proxies": []m{{"host": "sip.example.com"}}}, 201, "trunk.created"},
		{"GET /v1/trunks", "calls:read", nil, 200, ""},
		{"GET /v1/trunks/{id}", "calls:read", nil, 200, ""},
		{"PATCH /v1/trunks/{id}", "calls:write", m{"max_channels": 3}, 200, "trunk.updated"},
		{"POST /v1/trunks/{id}/test", "calls:write", nil, 200, ""},
		{"POST /v1/test/inbound-calls", "calls:write", m{"to": "+12025550100"}, 409, ""},
		{"DELETE /v1/trunks/{id}", "calls:write", nil, 200, "trunk.deleted"},
		{"GET /v1/campaigns/{id}/decisions", "calls:read", nil, 200, ""},
		{"GET /v1/campaigns/{id}/decisions.csv", "calls:read", nil, 200, ""},
		{"GET /v1/campaigns/{id}/decisions.jsonl", "calls:read", nil, 200, ""},
		{"GET /v1/campaigns/{id}/decisions/verify", "calls:read", nil, 200, ""},
		{"POST /v1/dnc-lists", "calls:write", m{"name": "Registry"}, 201, "dnc_list.created"},
		{"GET /v1/dnc-lists", "calls:read", nil, 200, ""},
		{"GET /v1/dnc-lists/{id}", "calls:read", nil, 200, ""},
		{"PATCH /v1/dnc-lists/{id}", "calls:write", m{"name": "National"}, 200, "dnc_list.updated"},
		{"DELETE /v1/dnc-lists/{id}", "calls:write", nil, 200, "dnc_list.deleted"},
		{"POST /v1/dnc-lists/{id}/entries", "calls:write", m{"entries": []string{"+12025550123"}}, 200, "dnc_list.imported"},
		{"GET /v1/dnc-lists/{id}/entries", "calls:read", nil, 200, ""},
		{"DELETE /v1/dnc-lists/{id}/entries/{phone}", "calls:write", nil, 200, "dnc_list.entry_deleted"},
		{"GET /v1/dnc/check?phone=%2B12025550123", "calls:read", nil, 200, ""},
		{"POST /v1/phones", "calls:write", m{"extension": "1001", "name": "desk"}, 201, "phone.created"},
		{"GET /v1/phones", "calls:read", nil, 200, ""},
		{"GET /v1/phones/{id}", "calls:read", nil, 200, ""},
		{"PATCH /v1/phones/{id}", "calls:write", m{"name": "door"}, 200, "phone.updated"},
		{"DELETE /v1/phones/{id}", "calls:write", nil, 200, "phone.deleted"},
		{"POST /v1/providers", "agents:write", m{"name": "Dr. Rivera"}, 201, "provider.created"},
		{"GET /v1/providers", "agents:read", nil, 200, ""},
		{"GET /v1/providers/{id}", "agents:read", nil, 200, ""},
		{"PATCH /v1/providers/{id}", "agents:write", m{"slot_minutes": 20}, 200, "provider.updated"},
		{"DELETE /v1/providers/{id}", "agents:write", nil, 200, "provider.deleted"},
		{"POST /v1/appointments", "agents:write", goodAppointment(), 201, "appointment.created"},
		{"GET /v1/appointments", "agents:read", nil, 200, ""},
		{"GET /v1/appointments/availability?provider=Dr.%20Rivera", "agents:read", nil, 200, ""},
		{"GET /v1/appointments/{id}", "agents:read", nil, 200, ""},
		{"GET /v1/appointments/{id}/calendar.ics", "agents:read", nil, 200, ""},
		{"PATCH /v1/appointments/{id}", "agents:write", m{"notes": "Bring the letter."}, 200, "appointment.updated"},
		{"POST /v1/appointments/{id}/confirm", "agents:write", nil, 200, "appointment.confirmed"},
		{"POST /v1/appointments/{id}/cancel", "agents:write", m{"reason": "ill"}, 200, "appointment.cancelled"},
		{"POST /v1/appointments/{id}/reschedule", "agents:write", m{"datetime": "2030-04-02T10:00:00Z"}, 200, "appointment.rescheduled"},
		{"DELETE /v1/appointments/{id}", "agents:write", nil, 200, "appointment.deleted"},
		{"POST /v1/sms", "calls:write", m{"to": "+12025550123", "body": "Hello."}, 201, ""},
		{"GET /v1/sms", "calls:read", nil, 200, ""},
		{"GET /v1/sms/{id}", "calls:read", nil, 200, ""},
		{"DELETE /v1/sms/{id}", "calls:write", nil, 200, "message.deleted"},
		{"GET /v1/sms-conversations", "calls:read", nil, 200, ""},
		{"GET /v1/sms-conversations/{id}", "calls:read", nil, 200, ""},
		{"POST /v1/sms-conversations/{id}/close", "calls:write", nil, 200, "sms_conversation.closed"},
		{"DELETE /v1/sms-conversations/{id}", "calls:write", nil, 200, "sms_conversation.deleted"},
		{"POST /v1/sms-gateways", "calls:write", goodGateway(), 201, "sms_gateway.created"},
		{"GET /v1/sms-gateways", "calls:read", nil, 200, ""},
		{"GET /v1/sms-gateways/{id}", "calls:read", nil, 200, ""},
		{"PATCH /v1/sms-gateways/{id}", "calls:write", m{"priority": 3}, 200, "sms_gateway.updated"},
		{"DELETE /v1/sms-gateways/{id}", "calls:write", nil, 200, "sms_gateway.deleted"},
		{"POST /v1/sms-gateways/{id}/events", "calls:write", m{"events": []m{{"type": "received", "id": "1", "from": "+12025550123", "to": "+12025550100", "body": "Hello."}}}, 200, ""},
		{"POST /v1/test/inbound-sms", "calls:write", m{"from": "+12025550123", "to": "+12025550100", "body": "STOP"}, 201, ""},
		{"POST /v1/knowledge-base", "agents:write", m{"name": "Front desk", "sources": []m{{"type": "text", "text": "We open at nine."}}}, 201, "knowledge_base.created"},
		{"GET /v1/knowledge-base", "agents:read", nil, 200, ""},
		{"GET /v1/knowledge-base/{id}", "agents:read", nil, 200, ""},
		{"PATCH /v1/knowledge-base/{id}", "agents:write", m{"name": "Desk"}, 200, "knowledge_base.updated"},
		{"DELETE /v1/knowledge-base/{id}", "agents:write", nil, 200, "knowledge_base.deleted"},
		{"POST /v1/knowledge-base/{id}/search", "agents:read", m{"query": "opening hours"}, 200, ""},
		{"POST /v1/knowledge-base/{id}/sources", "agents:write", m{"type": "file", "name": "faq.md", "content": "# Hours"}, 201, "knowledge_base.source_added"},
		{"GET /v1/knowledge-base/{id}/sources", "agents:read", nil, 200, ""},
		{"GET /v1/knowledge-base/{id}/sources/{source_id}", "agents:read", nil, 200, ""},
		{"DELETE /v1/knowledge-base/{id}/sources/{source_id}", "agents:write", nil, 200, "knowledge_base.source_deleted"},
		{"POST /v1/webhooks", "*:write", hook, 201, "webhook.created"},
		{"GET /v1/webhooks", "*:read", nil, 200, ""},
		{"GET /v1/webhooks/{id}", "*:read", nil, 200, ""},
		{"PATCH /v1/webhooks/{id}", "*:write", m{"events": []string{"call.*"}}, 200, "webhook.updated"},
		{"DELETE /v1/webhooks/{id}", "*:write", nil, 200, "webhook.deleted"},
		{"POST /v1/webhooks/{id}/pause", "*:write", nil, 200, "webhook.paused"},
		{"POST /v1/webhooks/{id}/resume", "*:write", nil, 200, "webhook.resumed"},
		{"POST /v1/webhooks/{id}/test", "*:write", m{"event_type": "call.initiated"}, 200, ""},
		{"POST /v1/webhooks/{id}/replay", "*:write", m{"event_ids": []string{"evt_" + ulidOf(1)}}, 202, "webhook.replayed"},
		{"GET /v1/webhooks/{id}/logs", "*:read", nil, 200, ""},
		{"GET /v1/webhooks/{id}/failed", "*:read", nil, 200, ""},
		{"POST /v1/api-keys", "*:write", m{"name": "k", "permissions": []string{"*:write"}}, 201, "api_key.created"},
		{"GET /v1/api-keys", "*:read", nil, 200, ""},
		{"GET /v1/api-keys/{id}", "*:read", nil, 200, ""},
		{"PUT /v1/api-keys/{id}", "*:write", m{"allowed_ips": []string{"10.0.0.0/8", "2001:db8::/32"}}, 200, "api_key.updated"},
		{"DELETE /v1/api-keys/{id}", "*:write", nil, 200, "api_key.revoked"},
	}
}

// goodAlertRule returns a valid alert rule.
func goodAlertRule() m {
	return m{"name": "Carrier", "kind": "trunk_down", "emails": []string{"ops@example.com"}}
}

// pathResourceID returns the resource id in a path, "" if there is none.
func pathResourceID(path string) string {
	return strings.Split(strings.Replace(path, "/oauth/clients", "/clients", 1)+"///", "/")[3]
}

// auditedID returns the resource id that the audit log must record for a request: the last id in its path.
func auditedID(route, path string) string {
	switch {
	case strings.Contains(route, "{contact_id}"):
		return "contact_" + ulidOf(1)
	case strings.Contains(route, "{number_id}"):
		return "num_" + ulidOf(1)
	case strings.Contains(route, "{trunk_id}"):
		return "trunk_" + ulidOf(1)
	}
	return pathResourceID(path)
}

// pathWithResource creates the resources that a request of a route needs. It returns the path of the route with their
// ids.
func (d *testServer) pathWithResource(route string) string {
	method, path, _ := strings.Cut(route, " ")
	if hasSmallLimit(path) {
		d.resetLimits()
	}
	if !strings.Contains(path, "{id}") {
		return path
	}
	path = strings.NewReplacer("{contact_id}", "contact_"+ulidOf(1), "{number_id}", "num_"+ulidOf(1), "{trunk_id}", "trunk_"+ulidOf(1), "{upload_id}", "upload_"+ulidOf(1), "{phone}", "12025550123", "{source_id}", "src_"+ulidOf(1), "{version}", "1").Replace(path)
	kind := strings.Split(path, "/")[2]
	bodies := map[string]any{
		"campaigns": m{"name": "c", "agent_id": "agent_" + ulidOf(1)}, "agents": m{"name": "a", "first_message": "Hello."},
		"pathways": goodPathway(), "phone-numbers": m{"number": "+12025550100", "agent_id": "agent_" + ulidOf(1)},
		"users":     m{"name": "Ada", "role": "viewer"},
		"providers": m{"name": "Dr. Rivera"}, "appointments": goodAppointment(), "sms": m{"to": "+12025550123", "body": "Hello."},
		"knowledge-base": m{"name": "Front desk"}, "tools": goodTool(), "sms-gateways": goodGateway(),
		"phones":    m{"extension": "1001", "name": "desk"},
		"trunks":    m{"name": "t", "proxies": []m{{"host": "10.0.0.1"}}},
		"dnc-lists": m{"name": "Registry"}, "alert-rules": goodAlertRule(),
		"webhooks": m{"url": "https://example.com/hook", "events": []string{"*"}}, "api-keys": m{"name": "k", "permissions": []string{"calls:write"}},
	}
	at := "/v1/" + kind
	if kind == "oauth" {
		at, bodies[kind] = "/v1/oauth/clients", m{"name": "crm", "scopes": []string{"calls:read"}}
	}
	if kind == "calls" {
		at, bodies[kind] = "/v1/calls/outbound", m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}
	}
	_ = method
	if strings.Contains(route, "{number_id}") {
		d.create("/v1/phone-numbers", bodies["phone-numbers"])
	}
	if strings.Contains(route, "{trunk_id}") {
		d.create("/v1/trunks", bodies["trunks"])
	}
	if id := d.addJob(kind); id != "" {
		return strings.Replace(path, "{id}", id, 1)
	}
	return strings.Replace(path, "{id}", d.create(at, bodies[kind]), 1)
}

func TestEveryRouteRequiresItsPermission(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{})
	narrow := []string{"*:read", "*:write", "calls:read", "calls:write", "agents:read", "agents:write", "analytics:read"}
	got, want := map[string][]string{}, map[string][]string{}
	for _, c := range routeCases() {
		method, _, _ := strings.Cut(c.route, " ")
		d.resetLimits() // some routes have their own rate limit
		path := ""
		for _, p := range narrow {
			if path == "" { // a refused request has not changed the resource, so its path is used again
				path = d.pathWithResource(c.route)
			}
			if hasSmallLimit(path) {
				d.resetLimits()
			}
			if c.permissions == "operator" { // none of these keys belongs to an operator
				assert.Equal(t, http.StatusForbidden, d.do(method, path, p, c.requestBody(p)).Status, c.route)
				continue
			}
			may := c.permissions == "" || slices.Contains(strings.Fields(c.permissions), p)
			for need := range strings.FieldsSeq(c.permissions) {
				may = may || strings.HasPrefix(p, "*:") && p[2:] == need[strings.Index(need, ":")+1:]
			}
			if may {
				want[c.route] = append(want[c.route], p)
			}
			r := d.do(method, path, p, c.requestBody(p))
			if r.Status == http.StatusForbidden {
				assert.Equal(t, "insufficient_permissions", r.failure(t)["code"], c.route)
				assert.NotEmpty(t, r.failure(t)["required"])
				continue
			}
			got[c.route] = append(got[c.route], p)
			assert.Equal(t, c.status, r.Status, "%s with %s: %s", c.route, p, r.Body)
			if method != http.MethodGet {
				path = ""
			}
		}
	}
	assert.Equal(t, want, got)
}

func TestEveryRouteRequiresCredential(t *testing.T) {
	d := startServer(t, httpapi.Config{TrustedProxies: loopback()})
	for i, c := range routeCases() {
		method, _, _ := strings.Cut(c.route, " ")
		path := d.pathWithResource(c.route)
		d.takeAuditEntries()
		r := d.do(method, path, "", c.requestBody(""), "X-Forwarded-For", addressNo(i))
		if c.permissions == "" {
			assert.Equal(t, 200, r.Status, c.route)
			assert.Empty(t, d.takeAuditEntries())
			continue
		}
		assert.Equal(t, 401, r.Status, c.route)
		assert.Equal(t, "Bearer", r.Header.Get("WWW-Authenticate"))
		assert.Equal(t, "authentication_required", r.failure(t)["code"])
		assert.Equal(t, []string{"auth auth.failed   true authentication_required"}, d.takeAuditEntries())
		for key, code := range map[string]string{"nobody's": "invalid_api_key", "revoked": "expired_api_key"} {
			assert.Equal(t, code, d.must(401, method, path, key, c.requestBody(key), "X-Forwarded-For", addressNo(i)).failure(t)["code"])
		}
		assert.Equal(t, "ip_not_allowed", d.must(403, method, path, "elsewhere", c.requestBody(""), "X-Forwarded-For", addressNo(i)).failure(t)["code"])
		assert.Equal(t, "origin_not_allowed", d.must(403, method, path, "operator", c.requestBody(""), "Origin", "https://example.com", "X-Forwarded-For", addressNo(i)).failure(t)["code"])
	}
}

func TestDrainRefusesNewWorkAndServesLiveCalls(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	serves := []string{
		"POST /v1/calls/{id}/hangup", "POST /v1/calls/{id}/transfer", "POST /v1/calls/{id}/say", "POST /v1/calls/{id}/dtmf",
		"POST /v1/calls/{id}/recording/pause", "POST /v1/calls/{id}/recording/resume", "POST /v1/calls/{id}/recording/link",
		"POST /v1/tickets", "POST /v1/campaigns/{id}/pause", "POST /v1/campaigns/{id}/cancel", "POST /v1/bulk/{id}/cancel",
		"POST /v1/auth/token", "POST /v1/auth/refresh", "POST /v1/dnc-lists/{id}/entries", "POST /v1/sms-gateways/{id}/events", "POST /v1/operator/dialling/stop",
	}
	for _, c := range routeCases() {
		method, _, _ := strings.Cut(c.route, " ")
		path := d.pathWithResource(c.route)
		d.draining.Store(true)
		r := d.do(method, path, "operator", c.requestBody("*:read"))
		d.draining.Store(false)
		if method == http.MethodGet || slices.Contains(serves, c.route) {
			assert.Equal(t, c.status, r.Status, "%s: %s", c.route, r.Body)
			continue
		}
		assert.Equal(t, http.StatusServiceUnavailable, r.Status, "%s: %s", c.route, r.Body)
		assert.Equal(t, "5", r.Header.Get("Retry-After"), c.route)
		assert.Equal(t, "unavailable", r.failure(t)["code"])
	}
}

func TestAuditLogRecordsEveryUseAndChange(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	for _, c := range routeCases() {
		method, _, _ := strings.Cut(c.route, " ")
		path := d.pathWithResource(c.route)
		d.takeAuditEntries()
		r := d.must(c.status, method, path, "operator", c.requestBody("*:read"))
		var want []string
		if c.permissions != "" {
			want = append(want, "auth api_key.used key_operator  false ")
		}
		if c.auditAction != "" {
			id := auditedID(c.route, path)
			if !strings.Contains(c.route, "{id}") || strings.HasSuffix(path, "/duplicate") { // the id of the created resource
				id, _ = r.json(t)["id"].(string)
			}
			kind := "admin"
			if slices.Contains([]string{"api_key.created", "api_key.revoked", "token.issued", "oauth_client.created", "oauth_client.deleted"}, c.auditAction) {
				kind = "auth"
			}
			if c.auditAction == "token.issued" { // the audit entry names the key
				id = "key_operator"
			}
			want = append(want, kind+" "+c.auditAction+" key_operator "+id+" false ")
		}
		assert.Equal(t, want, d.takeAuditEntries(), c.route)
	}
}

func TestUnknownResourceIsNotFound(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	for _, c := range routeCases() {
		method, path, _ := strings.Cut(c.route, " ")
		if !strings.Contains(path, "{id}") || strings.HasSuffix(path, "/pause") {
			continue
		}
		kind := pathResourceID(d.pathWithResource(c.route))
		prefix, _, _ := strings.Cut(kind, "_")
		for _, id := range []string{prefix + "_01J9999999ZZZZZZZZZZZZZZZZ", "x", "other_" + ulidOf(1), "%00", strings.Repeat("a", 3000)} {
			inner := strings.NewReplacer("{id}", id, "{contact_id}", "contact_"+ulidOf(1), "{number_id}", "num_"+ulidOf(1), "{trunk_id}", "trunk_"+ulidOf(1), "{upload_id}", "upload_"+ulidOf(1), "{phone}", "12025550123", "{source_id}", "src_"+ulidOf(1), "{version}", "1").Replace(path)
			if hasSmallLimit(inner) {
				d.resetLimits()
			}
			r := d.must(404, method, inner, "operator", c.requestBody(""))
			assert.Equal(t, "not_found", r.failure(t)["code"])
		}
	}
}
