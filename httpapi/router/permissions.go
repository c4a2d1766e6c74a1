package router

import (
	"maps"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// AccessRule says which permissions a route needs and how the audit log records its use.
type AccessRule struct {
	Permissions  []domain.Permission // any of them is enough; none: the route is public
	AuditType    string              // auth or admin; "": not audited
	AuditAction  string              // action in the audit log, for example trunk.created
	ResourceType string              // type of the resource in the audit log
}

// routeTable returns the access rule of every route by method and path. A write permission does not include the read
// permission.
func routeTable() map[string]AccessRule {
	readAll, writeAll := anyOf(domain.AllRead), anyOf(domain.AllWrite)
	readCalls, writeCalls := anyOf(domain.CallsRead), anyOf(domain.CallsWrite)
	readAgents, writeAgents := anyOf(domain.AgentsRead), anyOf(domain.AgentsWrite)
	t := map[string]AccessRule{
		"GET /healthz":                              {},
		"GET /readyz":                               {},
		"GET /openapi.json":                         {},
		"GET /docs":                                 {},
		"GET /talk":                                 {},
		"GET /talk.js":                              {},
		"POST /v1/trunks/{id}/test":                 {Permissions: writeCalls},
		"GET /v1/events":                            {Permissions: anyOf(domain.AnalyticsRead)},
		"GET /v1/usage/rate-limits":                 {Permissions: anyOf(domain.AnalyticsRead)},
		"GET /v1/usage":                             {Permissions: anyOf(domain.AnalyticsRead)},
		"GET /v1/usage/ledger":                      {Permissions: anyOf(domain.AnalyticsRead)},
		"GET /v1/audit-logs":                        {Permissions: readAll},
		"GET /v1/workspace":                         {Permissions: readAll},
		"PATCH /v1/workspace":                       {writeAll, "admin", "workspace.updated", "workspace"},
		"POST /v1/webhooks/{id}/pause":              {writeAll, "admin", "webhook.paused", "webhook"},
		"POST /v1/webhooks/{id}/resume":             {writeAll, "admin", "webhook.resumed", "webhook"},
		"POST /v1/webhooks/{id}/test":               {Permissions: writeAll},
		"POST /v1/webhooks/{id}/replay":             {writeAll, "admin", "webhook.replayed", "webhook"},
		"GET /v1/webhooks/{id}/logs":                {Permissions: readAll},
		"GET /v1/webhooks/{id}/failed":              {Permissions: readAll},
		"POST /v1/agents/{id}/publish":              {writeAgents, "admin", "agent.published", "agent"},
		"POST /v1/agents/{id}/on-inbound-secret":    {writeAgents, "admin", "agent.secret_made", "agent"},
		"GET /v1/agents/{id}/versions":              {Permissions: readAgents},
		"GET /v1/agents/{id}/versions/{version}":    {Permissions: readAgents},
		"POST /v1/pathways/validate":                {Permissions: writeAgents},
		"POST /v1/pathways/{id}/validate":           {Permissions: readAgents},
		"POST /v1/dnc-lists/{id}/entries":           {writeCalls, "admin", "dnc_list.imported", "dnc_list"},
		"GET /v1/dnc-lists/{id}/entries":            {Permissions: readCalls},
		"DELETE /v1/dnc-lists/{id}/entries/{phone}": {writeCalls, "admin", "dnc_list.entry_deleted", "dnc_list"},
		"GET /v1/dnc/check":                         {Permissions: readCalls},
	}
	maps.Copy(t, campaignRules())
	maps.Copy(t, callRules())
	maps.Copy(t, resourceRules())
	maps.Copy(t, bulkRules())
	maps.Copy(t, OperatorRules())

	crud := func(path, object, change string, read, write []domain.Permission, kinds [3]string) {
		t["POST "+path] = AccessRule{write, kinds[0], object + ".created", object}
		t["GET "+path] = AccessRule{Permissions: read}
		t["GET "+path+"/{id}"] = AccessRule{Permissions: read}
		t[change+" "+path+"/{id}"] = AccessRule{write, kinds[1], object + ".updated", object}
		t["DELETE "+path+"/{id}"] = AccessRule{write, kinds[2], object + ".deleted", object}
	}
	admin := [3]string{"admin", "admin", "admin"}
	crud("/v1/agents", "agent", "PATCH", readAgents, writeAgents, admin)
	crud("/v1/pathways", "pathway", "PATCH", readAgents, writeAgents, admin)
	crud("/v1/tools", "tool", "PATCH", readAgents, writeAgents, admin)
	crud("/v1/phone-numbers", "phone_number", "PATCH", readCalls, writeCalls, admin)
	crud("/v1/trunks", "trunk", "PATCH", readCalls, writeCalls, admin)
	crud("/v1/sms-gateways", "sms_gateway", "PATCH", readCalls, writeCalls, admin)
	crud("/v1/dnc-lists", "dnc_list", "PATCH", readCalls, writeCalls, admin)
	crud("/v1/phones", "phone", "PATCH", readCalls, writeCalls, admin)
	crud("/v1/providers", "provider", "PATCH", readAgents, writeAgents, admin)
	crud("/v1/appointments", "appointment", "PATCH", readAgents, writeAgents, admin)
	crud("/v1/knowledge-base", "knowledge_base", "PATCH", readAgents, writeAgents, admin)
	crud("/v1/users", "user", "PATCH", readAll, writeAll, admin)
	crud("/v1/webhooks", "webhook", "PATCH", readAll, writeAll, admin)
	crud("/v1/api-keys", "api_key", "PUT", readAll, writeAll, [3]string{"", "admin", ""}) // the service audits the creation and revocation of keys in the same commit
	t["POST /v1/oauth/clients"] = AccessRule{writeAll, "auth", "oauth_client.created", "oauth_client"}
	t["GET /v1/oauth/clients"] = AccessRule{Permissions: readAll}
	t["GET /v1/oauth/clients/{id}"] = AccessRule{Permissions: readAll}
	t["DELETE /v1/oauth/clients/{id}"] = AccessRule{writeAll, "auth", "oauth_client.deleted", "oauth_client"}
	for _, open := range []string{
		"GET /.well-known/oauth-authorization-server", "POST /oauth/token", "POST /oauth/revoke", "POST /oauth/introspect",
		"GET /oauth/authorize", "POST /oauth/authorize", "GET /sign-in", "POST /sign-in", "POST /sign-out",
	} {
		t[open] = AccessRule{} // public: the handlers check client secrets, sessions and sign-in links
	}
	t["POST /v1/users/{id}/sign-in-link"] = AccessRule{writeAll, "auth", "user.sign_in_link_created", "user"}
	t["GET /v1/users/{id}/sessions"] = AccessRule{Permissions: readAll}
	t["DELETE /v1/users/{id}/sessions/{session_id}"] = AccessRule{writeAll, "auth", "user.signed_out", "user"}
	all := anyOf(domain.AllRead, domain.AllWrite, domain.CallsRead, domain.CallsWrite, domain.AgentsRead, domain.AgentsWrite, domain.AnalyticsRead)
	t["GET /.well-known/jwks.json"] = AccessRule{}
	t["POST /v1/auth/token"] = AccessRule{all, "auth", "token.issued", "api_key"}
	t["POST /v1/auth/refresh"] = AccessRule{all, "auth", "token.refreshed", "api_key"}
	return t
}

// campaignRules returns the access rules of the routes for campaigns and their contacts.
func campaignRules() map[string]AccessRule {
	readCalls, writeCalls := anyOf(domain.CallsRead), anyOf(domain.CallsWrite)
	return map[string]AccessRule{
		"POST /v1/campaigns":                              {writeCalls, "admin", "campaign.created", "campaign"},
		"GET /v1/campaigns":                               {Permissions: readCalls},
		"GET /v1/campaigns/{id}":                          {Permissions: readCalls},
		"PATCH /v1/campaigns/{id}":                        {writeCalls, "admin", "campaign.updated", "campaign"},
		"DELETE /v1/campaigns/{id}":                       {writeCalls, "admin", "campaign.deleted", "campaign"},
		"POST /v1/campaigns/{id}/duplicate":               {writeCalls, "admin", "campaign.created", "campaign"},
		"POST /v1/campaigns/{id}/redial":                  {writeCalls, "admin", "campaign.created", "campaign"},
		"POST /v1/campaigns/{id}/contacts":                {writeCalls, "admin", "campaign.contacts_added", "campaign"},
		"GET /v1/campaigns/{id}/contacts":                 {Permissions: readCalls},
		"GET /v1/campaigns/{id}/contacts.csv":             {Permissions: readCalls},
		"GET /v1/campaigns/{id}/contacts.jsonl":           {Permissions: readCalls},
		"GET /v1/campaigns/{id}/contacts/{contact_id}":    {Permissions: readCalls},
		"PATCH /v1/campaigns/{id}/contacts/{contact_id}":  {writeCalls, "admin", "campaign.contact_updated", "contact"},
		"DELETE /v1/campaigns/{id}/contacts/{contact_id}": {writeCalls, "admin", "campaign.contact_deleted", "contact"},
		"GET /v1/campaigns/{id}/uploads":                  {Permissions: readCalls},
		"GET /v1/campaigns/{id}/uploads/{upload_id}":      {Permissions: readCalls},
		"POST /v1/campaigns/{id}/simulate":                {Permissions: readCalls},
		"POST /v1/campaigns/simulate":                     {Permissions: readCalls},
		"POST /v1/campaigns/{id}/start":                   {writeCalls, "admin", "campaign.started", "campaign"},
		"POST /v1/campaigns/{id}/pause":                   {writeCalls, "admin", "campaign.paused", "campaign"},
		"POST /v1/campaigns/{id}/resume":                  {writeCalls, "admin", "campaign.resumed", "campaign"},
		"POST /v1/campaigns/{id}/cancel":                  {writeCalls, "admin", "campaign.cancelled", "campaign"},
		"GET /v1/campaigns/{id}/status":                   {Permissions: readCalls},
		"GET /v1/campaigns/{id}/progress":                 {Permissions: readCalls},
		"GET /v1/campaigns/{id}/results":                  {Permissions: anyOf(domain.CallsRead, domain.AnalyticsRead)},
		"GET /v1/campaigns/{id}/decisions":                {Permissions: readCalls},
		"GET /v1/campaigns/{id}/decisions.csv":            {Permissions: readCalls},
		"GET /v1/campaigns/{id}/decisions.jsonl":          {Permissions: readCalls},
		"GET /v1/campaigns/{id}/decisions/verify":         {Permissions: readCalls},
	}
}

// callRules returns the access rules of the routes for calls.
func callRules() map[string]AccessRule {
	readCalls, writeCalls := anyOf(domain.CallsRead), anyOf(domain.CallsWrite)
	return map[string]AccessRule{
		"POST /v1/calls/outbound":              {Permissions: writeCalls},
		"POST /v1/test/inbound-calls":          {Permissions: writeCalls},
		"GET /v1/calls":                        {Permissions: readCalls},
		"GET /v1/calls/{id}":                   {Permissions: readCalls},
		"DELETE /v1/calls/{id}":                {writeCalls, "admin", "call.deleted", "call"},
		"POST /v1/calls/{id}/hangup":           {Permissions: writeCalls},
		"POST /v1/calls/{id}/transfer":         {Permissions: writeCalls},
		"POST /v1/calls/{id}/say":              {Permissions: writeCalls},
		"POST /v1/calls/{id}/dtmf":             {Permissions: writeCalls},
		"GET /v1/calls/{id}/events":            {Permissions: readCalls},
		"GET /v1/calls/{id}/sip":               {Permissions: readCalls},
		"GET /v1/calls/{id}/transcript":        {Permissions: readCalls},
		"GET /v1/calls/{id}/recording":         {Permissions: readCalls},
		"POST /v1/calls/{id}/recording/link":   {readCalls, "admin", "recording.linked", "call"},
		"POST /v1/calls/{id}/recording/pause":  {writeCalls, "admin", "recording.paused", "call"},
		"POST /v1/calls/{id}/recording/resume": {writeCalls, "admin", "recording.resumed", "call"},
		"GET /v1/calls/{id}/listen":            {writeCalls, "admin", "call.listened", "call"},
		"GET /v1/agents/{id}/talk":             {writeCalls, "admin", "agent.talked_to", "agent"},
		"POST /v1/tickets":                     {Permissions: anyOf(domain.CallsWrite, domain.AnalyticsRead)},
	}
}

// resourceRules returns the access rules of the special routes for events, pathways, appointments, messages and
// knowledge bases. Create, read, update and delete are not among them.
func resourceRules() map[string]AccessRule {
	readCalls, writeCalls := anyOf(domain.CallsRead), anyOf(domain.CallsWrite)
	readAgents, writeAgents := anyOf(domain.AgentsRead), anyOf(domain.AgentsWrite)
	return map[string]AccessRule{
		"GET /v1/events/stream":                              {Permissions: anyOf(domain.AnalyticsRead)},
		"GET /v1/events/{id}":                                {Permissions: anyOf(domain.AnalyticsRead)},
		"POST /v1/pathways/{id}/chat":                        {Permissions: readAgents},
		"POST /v1/pathways/{id}/test":                        {Permissions: readAgents},
		"POST /v1/pathways/{id}/replay":                      {Permissions: anyOf(domain.AllRead)},
		"GET /v1/appointments/availability":                  {Permissions: readAgents},
		"GET /v1/appointments/{id}/calendar.ics":             {Permissions: readAgents},
		"POST /v1/appointments/{id}/confirm":                 {writeAgents, "admin", "appointment.confirmed", "appointment"},
		"POST /v1/appointments/{id}/cancel":                  {writeAgents, "admin", "appointment.cancelled", "appointment"},
		"POST /v1/appointments/{id}/reschedule":              {writeAgents, "admin", "appointment.rescheduled", "appointment"},
		"POST /v1/sms":                                       {Permissions: writeCalls},
		"GET /v1/sms":                                        {Permissions: readCalls},
		"GET /v1/sms/{id}":                                   {Permissions: readCalls},
		"DELETE /v1/sms/{id}":                                {writeCalls, "admin", "message.deleted", "message"},
		"POST /v1/test/inbound-sms":                          {Permissions: writeCalls},
		"GET /v1/sms-conversations":                          {Permissions: readCalls},
		"GET /v1/sms-conversations/{id}":                     {Permissions: readCalls},
		"POST /v1/sms-conversations/{id}/close":              {writeCalls, "admin", "sms_conversation.closed", "sms_conversation"},
		"DELETE /v1/sms-conversations/{id}":                  {writeCalls, "admin", "sms_conversation.deleted", "sms_conversation"},
		"POST /v1/sms-gateways/{id}/events":                  {Permissions: writeCalls},
		"POST /v1/knowledge-base/{id}/search":                {Permissions: readAgents},
		"POST /v1/knowledge-base/{id}/sources":               {writeAgents, "admin", "knowledge_base.source_added", "knowledge_base"},
		"GET /v1/knowledge-base/{id}/sources":                {Permissions: readAgents},
		"GET /v1/knowledge-base/{id}/sources/{source_id}":    {Permissions: readAgents},
		"DELETE /v1/knowledge-base/{id}/sources/{source_id}": {writeAgents, "admin", "knowledge_base.source_deleted", "knowledge_base"},
	}
}

// OperatorRules returns the access rules of the routes that manage the installation and its workspaces. Only operators
// may use these routes.
func OperatorRules() map[string]AccessRule {
	readAll, writeAll := anyOf(domain.AllRead), anyOf(domain.AllWrite)
	return map[string]AccessRule{
		"POST /v1/workspaces":        {writeAll, "admin", "workspace.created", "workspace"},
		"GET /v1/workspaces":         {Permissions: readAll},
		"GET /v1/workspaces/{id}":    {Permissions: readAll},
		"PATCH /v1/workspaces/{id}":  {writeAll, "admin", "workspace.updated", "workspace"},
		"DELETE /v1/workspaces/{id}": {writeAll, "admin", "workspace.deleted", "workspace"},

		"GET /v1/operator/load":             {Permissions: readAll},
		"GET /v1/operator/nodes":            {Permissions: readAll},
		"GET /v1/operator/workspaces":       {Permissions: readAll},
		"POST /v1/operator/dialling/stop":   {writeAll, "admin", "dialling.stopped", "dialling"},
		"POST /v1/operator/dialling/resume": {writeAll, "admin", "dialling.resumed", "dialling"},
		"POST /v1/operator/drain":           {writeAll, "admin", "node.drained", "node"},
		"POST /v1/operator/undrain":         {writeAll, "admin", "node.undrained", "node"},
		"GET /v1/operator/quarantine":       {Permissions: readAll},
		"POST /v1/operator/release":         {writeAll, "admin", "store.released", "store"},

		"POST /v1/alert-rules":           {writeAll, "admin", "alert_rule.created", "alert_rule"},
		"GET /v1/alert-rules":            {Permissions: readAll},
		"GET /v1/alert-rules/{id}":       {Permissions: readAll},
		"PATCH /v1/alert-rules/{id}":     {writeAll, "admin", "alert_rule.updated", "alert_rule"},
		"DELETE /v1/alert-rules/{id}":    {writeAll, "admin", "alert_rule.deleted", "alert_rule"},
		"POST /v1/alert-rules/{id}/test": {Permissions: writeAll},
		"GET /v1/alerts":                 {Permissions: readAll},

		"GET /v1/workspaces/{id}/phone-numbers":                      {Permissions: readAll},
		"POST /v1/workspaces/{id}/phone-numbers/{number_id}/approve": {writeAll, "admin", "phone_number.approved", "phone_number"},
		"GET /v1/workspaces/{id}/trunks":                             {Permissions: readAll},
		"PATCH /v1/workspaces/{id}/trunks/{trunk_id}":                {writeAll, "admin", "trunk.updated", "trunk"},
	}
}

// bulkRules returns the access rules of the routes for bulk jobs, exports and data requests.
func bulkRules() map[string]AccessRule {
	readCalls, writeCalls := anyOf(domain.CallsRead), anyOf(domain.CallsWrite)
	some := anyOf(domain.CallsRead, domain.AnalyticsRead)
	return map[string]AccessRule{
		"POST /v1/bulk/calls":       {writeCalls, "admin", "bulk.created", "bulk"},
		"POST /v1/bulk/contacts":    {writeCalls, "admin", "bulk.created", "bulk"},
		"POST /v1/bulk/sms":         {writeCalls, "admin", "bulk.created", "bulk"},
		"POST /v1/bulk/dnc":         {writeCalls, "admin", "bulk.created", "bulk"},
		"POST /v1/bulk/{id}/cancel": {writeCalls, "admin", "bulk.cancelled", "bulk"},
		"GET /v1/bulk":              {Permissions: readCalls},
		"GET /v1/bulk/{id}":         {Permissions: readCalls},
		"GET /v1/bulk/{id}/items":   {Permissions: readCalls},

		"POST /v1/data-requests":              {anyOf(domain.AllWrite), "admin", "data_request.created", "data_request"},
		"GET /v1/data-requests":               {Permissions: anyOf(domain.AllRead)},
		"GET /v1/data-requests/{id}":          {Permissions: anyOf(domain.AllRead)},
		"GET /v1/data-requests/{id}/download": {anyOf(domain.AllRead), "admin", "data_request.downloaded", "data_request"},

		// For an export, a credential also needs the read permission of the exported records.
		"POST /v1/exports":              {some, "admin", "export.created", "export"},
		"GET /v1/exports":               {Permissions: some},
		"GET /v1/exports/{id}":          {Permissions: some},
		"GET /v1/exports/{id}/download": {some, "admin", "export.downloaded", "export"},
	}
}

func anyOf(p ...domain.Permission) []domain.Permission { return p }

// Allows reports whether a principal with the permissions rights may use the route.
func (r AccessRule) Allows(rights []domain.Permission) bool {
	for _, need := range r.Permissions {
		if access.Covers(rights, need) {
			return true
		}
	}
	return len(r.Permissions) == 0
}

// RequireOperator returns operator_required unless the principal uses an operator key, or is an operator who has signed
// in to the dashboard.
func RequireOperator(p domain.Principal) error {
	if p.Operator && (p.UsesSession || !p.UsesTokenOrSession()) {
		return nil
	}
	return domain.Errorf(domain.CodeOperatorRequired, "This operation needs an operator key, or an operator signed in to the dashboard.")
}
