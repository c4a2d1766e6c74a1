package httpapi

import (
	"maps"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// rule says who may use a route and what the audit log calls its use.
type rule struct {
	need   []domain.Permission // any of them; none: open to everybody
	kind   string              // auth | admin; "": not audited
	action string              // e.g. trunk.created
	object string              // the type of the resource
}

// routeTable is the one table of routes: method and path → what it takes.
// Write does not imply read.
func routeTable() map[string]rule {
	readAll, writeAll := anyOf(domain.AllRead), anyOf(domain.AllWrite)
	readCalls, writeCalls := anyOf(domain.CallsRead), anyOf(domain.CallsWrite)
	readAgents, writeAgents := anyOf(domain.AgentsRead), anyOf(domain.AgentsWrite)
	t := map[string]rule{
		"GET /healthz":                              {},
		"GET /readyz":                               {},
		"GET /openapi.json":                         {},
		"GET /docs":                                 {},
		"GET /talk":                                 {},
		"GET /talk.js":                              {},
		"POST /v1/trunks/{id}/test":                 {need: writeCalls},
		"GET /v1/events":                            {need: anyOf(domain.AnalyticsRead)},
		"GET /v1/usage/rate-limits":                 {need: anyOf(domain.AnalyticsRead)},
		"GET /v1/usage":                             {need: anyOf(domain.AnalyticsRead)},
		"GET /v1/usage/ledger":                      {need: anyOf(domain.AnalyticsRead)},
		"GET /v1/audit-logs":                        {need: readAll},
		"GET /v1/workspace":                         {need: readAll},
		"PATCH /v1/workspace":                       {writeAll, "admin", "workspace.updated", "workspace"},
		"POST /v1/webhooks/{id}/pause":              {writeAll, "admin", "webhook.paused", "webhook"},
		"POST /v1/webhooks/{id}/resume":             {writeAll, "admin", "webhook.resumed", "webhook"},
		"POST /v1/webhooks/{id}/test":               {need: writeAll},
		"POST /v1/webhooks/{id}/replay":             {writeAll, "admin", "webhook.replayed", "webhook"},
		"GET /v1/webhooks/{id}/logs":                {need: readAll},
		"GET /v1/webhooks/{id}/failed":              {need: readAll},
		"POST /v1/agents/{id}/publish":              {writeAgents, "admin", "agent.published", "agent"},
		"POST /v1/agents/{id}/on-inbound-secret":    {writeAgents, "admin", "agent.secret_made", "agent"},
		"GET /v1/agents/{id}/versions":              {need: readAgents},
		"GET /v1/agents/{id}/versions/{version}":    {need: readAgents},
		"POST /v1/pathways/validate":                {need: writeAgents},
		"POST /v1/pathways/{id}/validate":           {need: readAgents},
		"POST /v1/dnc-lists/{id}/entries":           {writeCalls, "admin", "dnc_list.imported", "dnc_list"},
		"GET /v1/dnc-lists/{id}/entries":            {need: readCalls},
		"DELETE /v1/dnc-lists/{id}/entries/{phone}": {writeCalls, "admin", "dnc_list.entry_deleted", "dnc_list"},
		"GET /v1/dnc/check":                         {need: readCalls},
	}
	maps.Copy(t, campaignRules())
	maps.Copy(t, callRules())
	maps.Copy(t, resourceRules())
	maps.Copy(t, bulkRules())
	maps.Copy(t, tenantRules())

	crud := func(path, object, change string, read, write []domain.Permission, kinds [3]string) {
		t["POST "+path] = rule{write, kinds[0], object + ".created", object}
		t["GET "+path] = rule{need: read}
		t["GET "+path+"/{id}"] = rule{need: read}
		t[change+" "+path+"/{id}"] = rule{write, kinds[1], object + ".updated", object}
		t["DELETE "+path+"/{id}"] = rule{write, kinds[2], object + ".deleted", object}
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
	crud("/v1/api-keys", "api_key", "PUT", readAll, writeAll, [3]string{"", "admin", ""}) // what makes and revokes one is audited in the same commit
	t["POST /v1/oauth/clients"] = rule{writeAll, "auth", "oauth_client.created", "oauth_client"}
	t["GET /v1/oauth/clients"] = rule{need: readAll}
	t["GET /v1/oauth/clients/{id}"] = rule{need: readAll}
	t["DELETE /v1/oauth/clients/{id}"] = rule{writeAll, "auth", "oauth_client.deleted", "oauth_client"}
	for _, open := range []string{
		"GET /.well-known/oauth-authorization-server", "POST /oauth/token", "POST /oauth/revoke", "POST /oauth/introspect",
		"GET /oauth/authorize", "POST /oauth/authorize", "GET /sign-in", "POST /sign-in", "POST /sign-out",
	} {
		t[open] = rule{} // clients and people prove themselves there
	}
	t["POST /v1/users/{id}/sign-in-link"] = rule{writeAll, "auth", "user.sign_in_link_created", "user"}
	t["GET /v1/users/{id}/sessions"] = rule{need: readAll}
	t["DELETE /v1/users/{id}/sessions/{session_id}"] = rule{writeAll, "auth", "user.signed_out", "user"}
	all := anyOf(domain.AllRead, domain.AllWrite, domain.CallsRead, domain.CallsWrite, domain.AgentsRead, domain.AgentsWrite, domain.AnalyticsRead)
	t["GET /.well-known/jwks.json"] = rule{}
	t["POST /v1/auth/token"] = rule{all, "auth", "token.issued", "api_key"}
	t["POST /v1/auth/refresh"] = rule{all, "auth", "token.refreshed", "api_key"}
	return t
}

// campaignRules are those of campaigns and their contacts.
func campaignRules() map[string]rule {
	readCalls, writeCalls := anyOf(domain.CallsRead), anyOf(domain.CallsWrite)
	return map[string]rule{
		"POST /v1/campaigns":                              {writeCalls, "admin", "campaign.created", "campaign"},
		"GET /v1/campaigns":                               {need: readCalls},
		"GET /v1/campaigns/{id}":                          {need: readCalls},
		"PATCH /v1/campaigns/{id}":                        {writeCalls, "admin", "campaign.updated", "campaign"},
		"DELETE /v1/campaigns/{id}":                       {writeCalls, "admin", "campaign.deleted", "campaign"},
		"POST /v1/campaigns/{id}/duplicate":               {writeCalls, "admin", "campaign.created", "campaign"},
		"POST /v1/campaigns/{id}/redial":                  {writeCalls, "admin", "campaign.created", "campaign"},
		"POST /v1/campaigns/{id}/contacts":                {writeCalls, "admin", "campaign.contacts_added", "campaign"},
		"GET /v1/campaigns/{id}/contacts":                 {need: readCalls},
		"GET /v1/campaigns/{id}/contacts.csv":             {need: readCalls},
		"GET /v1/campaigns/{id}/contacts.jsonl":           {need: readCalls},
		"GET /v1/campaigns/{id}/contacts/{contact_id}":    {need: readCalls},
		"PATCH /v1/campaigns/{id}/contacts/{contact_id}":  {writeCalls, "admin", "campaign.contact_updated", "contact"},
		"DELETE /v1/campaigns/{id}/contacts/{contact_id}": {writeCalls, "admin", "campaign.contact_deleted", "contact"},
		"GET /v1/campaigns/{id}/uploads":                  {need: readCalls},
		"GET /v1/campaigns/{id}/uploads/{upload_id}":      {need: readCalls},
		"POST /v1/campaigns/{id}/simulate":                {need: readCalls},
		"POST /v1/campaigns/simulate":                     {need: readCalls},
		"POST /v1/campaigns/{id}/start":                   {writeCalls, "admin", "campaign.started", "campaign"},
		"POST /v1/campaigns/{id}/pause":                   {writeCalls, "admin", "campaign.paused", "campaign"},
		"POST /v1/campaigns/{id}/resume":                  {writeCalls, "admin", "campaign.resumed", "campaign"},
		"POST /v1/campaigns/{id}/cancel":                  {writeCalls, "admin", "campaign.cancelled", "campaign"},
		"GET /v1/campaigns/{id}/status":                   {need: readCalls},
		"GET /v1/campaigns/{id}/progress":                 {need: readCalls},
		"GET /v1/campaigns/{id}/results":                  {need: anyOf(domain.CallsRead, domain.AnalyticsRead)},
		"GET /v1/campaigns/{id}/decisions":                {need: readCalls},
		"GET /v1/campaigns/{id}/decisions.csv":            {need: readCalls},
		"GET /v1/campaigns/{id}/decisions.jsonl":          {need: readCalls},
		"GET /v1/campaigns/{id}/decisions/verify":         {need: readCalls},
	}
}

// callRules are those of calls.
func callRules() map[string]rule {
	readCalls, writeCalls := anyOf(domain.CallsRead), anyOf(domain.CallsWrite)
	return map[string]rule{
		"POST /v1/calls/outbound":              {need: writeCalls},
		"POST /v1/test/inbound-calls":          {need: writeCalls},
		"GET /v1/calls":                        {need: readCalls},
		"GET /v1/calls/{id}":                   {need: readCalls},
		"DELETE /v1/calls/{id}":                {writeCalls, "admin", "call.deleted", "call"},
		"POST /v1/calls/{id}/hangup":           {need: writeCalls},
		"POST /v1/calls/{id}/transfer":         {need: writeCalls},
		"POST /v1/calls/{id}/say":              {need: writeCalls},
		"POST /v1/calls/{id}/dtmf":             {need: writeCalls},
		"GET /v1/calls/{id}/events":            {need: readCalls},
		"GET /v1/calls/{id}/sip":               {need: readCalls},
		"GET /v1/calls/{id}/transcript":        {need: readCalls},
		"GET /v1/calls/{id}/recording":         {need: readCalls},
		"POST /v1/calls/{id}/recording/link":   {readCalls, "admin", "recording.linked", "call"},
		"POST /v1/calls/{id}/recording/pause":  {writeCalls, "admin", "recording.paused", "call"},
		"POST /v1/calls/{id}/recording/resume": {writeCalls, "admin", "recording.resumed", "call"},
		"GET /v1/calls/{id}/listen":            {writeCalls, "admin", "call.listened", "call"},
		"GET /v1/agents/{id}/talk":             {writeCalls, "admin", "agent.talked_to", "agent"},
		"POST /v1/tickets":                     {need: anyOf(domain.CallsWrite, domain.AnalyticsRead)},
	}
}

// resourceRules are those of events, appointments, messages and knowledge bases beside
// making, reading, changing and deleting.
func resourceRules() map[string]rule {
	readCalls, writeCalls := anyOf(domain.CallsRead), anyOf(domain.CallsWrite)
	readAgents, writeAgents := anyOf(domain.AgentsRead), anyOf(domain.AgentsWrite)
	return map[string]rule{
		"GET /v1/events/stream":                              {need: anyOf(domain.AnalyticsRead)},
		"GET /v1/events/{id}":                                {need: anyOf(domain.AnalyticsRead)},
		"POST /v1/pathways/{id}/chat":                        {need: readAgents},
		"POST /v1/pathways/{id}/test":                        {need: readAgents},
		"POST /v1/pathways/{id}/replay":                      {need: anyOf(domain.AllRead)},
		"GET /v1/appointments/availability":                  {need: readAgents},
		"GET /v1/appointments/{id}/calendar.ics":             {need: readAgents},
		"POST /v1/appointments/{id}/confirm":                 {writeAgents, "admin", "appointment.confirmed", "appointment"},
		"POST /v1/appointments/{id}/cancel":                  {writeAgents, "admin", "appointment.cancelled", "appointment"},
		"POST /v1/appointments/{id}/reschedule":              {writeAgents, "admin", "appointment.rescheduled", "appointment"},
		"POST /v1/sms":                                       {need: writeCalls},
		"GET /v1/sms":                                        {need: readCalls},
		"GET /v1/sms/{id}":                                   {need: readCalls},
		"DELETE /v1/sms/{id}":                                {writeCalls, "admin", "message.deleted", "message"},
		"POST /v1/test/inbound-sms":                          {need: writeCalls},
		"GET /v1/sms-conversations":                          {need: readCalls},
		"GET /v1/sms-conversations/{id}":                     {need: readCalls},
		"POST /v1/sms-conversations/{id}/close":              {writeCalls, "admin", "sms_conversation.closed", "sms_conversation"},
		"DELETE /v1/sms-conversations/{id}":                  {writeCalls, "admin", "sms_conversation.deleted", "sms_conversation"},
		"POST /v1/sms-gateways/{id}/events":                  {need: writeCalls},
		"POST /v1/knowledge-base/{id}/search":                {need: readAgents},
		"POST /v1/knowledge-base/{id}/sources":               {writeAgents, "admin", "knowledge_base.source_added", "knowledge_base"},
		"GET /v1/knowledge-base/{id}/sources":                {need: readAgents},
		"GET /v1/knowledge-base/{id}/sources/{source_id}":    {need: readAgents},
		"DELETE /v1/knowledge-base/{id}/sources/{source_id}": {writeAgents, "admin", "knowledge_base.source_deleted", "knowledge_base"},
	}
}

// tenantRules are those of the workspaces of the install. They take an operator
// besides.
func tenantRules() map[string]rule {
	readAll, writeAll := anyOf(domain.AllRead), anyOf(domain.AllWrite)
	return map[string]rule{
		"POST /v1/workspaces":        {writeAll, "admin", "workspace.created", "workspace"},
		"GET /v1/workspaces":         {need: readAll},
		"GET /v1/workspaces/{id}":    {need: readAll},
		"PATCH /v1/workspaces/{id}":  {writeAll, "admin", "workspace.updated", "workspace"},
		"DELETE /v1/workspaces/{id}": {writeAll, "admin", "workspace.deleted", "workspace"},

		"GET /v1/operator/load":             {need: readAll},
		"GET /v1/operator/nodes":            {need: readAll},
		"GET /v1/operator/workspaces":       {need: readAll},
		"POST /v1/operator/dialling/stop":   {writeAll, "admin", "dialling.stopped", "dialling"},
		"POST /v1/operator/dialling/resume": {writeAll, "admin", "dialling.resumed", "dialling"},
		"POST /v1/operator/drain":           {writeAll, "admin", "node.drained", "node"},
		"POST /v1/operator/undrain":         {writeAll, "admin", "node.undrained", "node"},
		"GET /v1/operator/quarantine":       {need: readAll},
		"POST /v1/operator/release":         {writeAll, "admin", "store.released", "store"},

		"POST /v1/alert-rules":           {writeAll, "admin", "alert_rule.created", "alert_rule"},
		"GET /v1/alert-rules":            {need: readAll},
		"GET /v1/alert-rules/{id}":       {need: readAll},
		"PATCH /v1/alert-rules/{id}":     {writeAll, "admin", "alert_rule.updated", "alert_rule"},
		"DELETE /v1/alert-rules/{id}":    {writeAll, "admin", "alert_rule.deleted", "alert_rule"},
		"POST /v1/alert-rules/{id}/test": {need: writeAll},
		"GET /v1/alerts":                 {need: readAll},

		"GET /v1/workspaces/{id}/phone-numbers":                      {need: readAll},
		"POST /v1/workspaces/{id}/phone-numbers/{number_id}/approve": {writeAll, "admin", "phone_number.approved", "phone_number"},
		"GET /v1/workspaces/{id}/trunks":                             {need: readAll},
		"PATCH /v1/workspaces/{id}/trunks/{trunk_id}":                {writeAll, "admin", "trunk.updated", "trunk"},
	}
}

// bulkRules are those of jobs of many items, and of exports.
func bulkRules() map[string]rule {
	readCalls, writeCalls := anyOf(domain.CallsRead), anyOf(domain.CallsWrite)
	some := anyOf(domain.CallsRead, domain.AnalyticsRead)
	return map[string]rule{
		"POST /v1/bulk/calls":       {writeCalls, "admin", "bulk.created", "bulk"},
		"POST /v1/bulk/contacts":    {writeCalls, "admin", "bulk.created", "bulk"},
		"POST /v1/bulk/sms":         {writeCalls, "admin", "bulk.created", "bulk"},
		"POST /v1/bulk/dnc":         {writeCalls, "admin", "bulk.created", "bulk"},
		"POST /v1/bulk/{id}/cancel": {writeCalls, "admin", "bulk.cancelled", "bulk"},
		"GET /v1/bulk":              {need: readCalls},
		"GET /v1/bulk/{id}":         {need: readCalls},
		"GET /v1/bulk/{id}/items":   {need: readCalls},

		"POST /v1/data-requests":              {anyOf(domain.AllWrite), "admin", "data_request.created", "data_request"},
		"GET /v1/data-requests":               {need: anyOf(domain.AllRead)},
		"GET /v1/data-requests/{id}":          {need: anyOf(domain.AllRead)},
		"GET /v1/data-requests/{id}/download": {anyOf(domain.AllRead), "admin", "data_request.downloaded", "data_request"},

		// What an export is of takes its own permission, too.
		"POST /v1/exports":              {some, "admin", "export.created", "export"},
		"GET /v1/exports":               {need: some},
		"GET /v1/exports/{id}":          {need: some},
		"GET /v1/exports/{id}/download": {some, "admin", "export.downloaded", "export"},
	}
}

func anyOf(p ...domain.Permission) []domain.Permission { return p }

// allowed says whether the rights open a route.
func (r rule) allowed(rights []domain.Permission) bool {
	for _, need := range r.need {
		if access.Covers(rights, need) {
			return true
		}
	}
	return len(r.need) == 0
}

// byOperator lets operators in: their keys, and those who are there in person.
func byOperator(p domain.Principal) error {
	if p.Operator && (p.InPerson || !p.ByToken()) {
		return nil
	}
	return domain.Errorf(domain.CodeOperatorRequired, "The workspaces of the install, and the node itself, take an operator key.")
}
