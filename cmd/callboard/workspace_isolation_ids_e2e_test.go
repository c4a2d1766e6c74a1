package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/apitest"
)

// bodiesWithIDs returns a valid request body for each route whose body contains ids of other objects. A placeholder such
// as {agent} stands for the id of an object of this kind.
func bodiesWithIDs() map[string]string {
	const (
		campaign = `"agent_id": "{agent}", "pathway_id": "{pathway}", "compliance": {"dnc_list_id": "{dnc}"}`
		agent    = `"pathway_id": "{pathway}", "knowledge_base_ids": ["{kb}"], "tools": ["{tool}"], "transfer": {"destinations": [{"name": "desk", "phone": "{phone}"}]}`
		remind   = `"reminders": [{"minutes_before": 60, "channel": "call", "agent_id": "{agent}"}]`
		pathway  = `"name": "own", "start": "talk", "nodes": [
			{"id": "talk", "type": "converse", "prompt": "Talk.", "knowledge_base_ids": ["{kb}"], "tools": ["{tool}"]},
			{"id": "look", "type": "tool", "tool_id": "{tool}"}, {"id": "on", "type": "agent", "agent_id": "{agent}"}],
			"edges": [{"from": "talk", "to": "look", "when": {"type": "always"}}, {"from": "look", "to": "on", "when": {"type": "success"}}, {"from": "look", "to": "on", "when": {"type": "failure"}}]`
		filters = `"filters": {"agent_ids": ["{agent}"], "campaign_ids": ["{campaign}"]}`
		called  = `"agent_id": "{agent}", "pathway_id": "{pathway}"`
	)
	return map[string]string{
		"POST /v1/agents":                       `{"name": "own", ` + agent + `}`,
		"PATCH /v1/agents/{id}":                 `{` + agent + `}`,
		"POST /v1/appointments":                 `{"patient": {"name": "Bob", "phone": "+12025550123"}, "provider": "{prov}", "datetime": "{tomorrow}", "type": "visit", "call_id": "{call}", ` + remind + `}`,
		"PATCH /v1/appointments/{id}":           `{"call_id": "{call}", ` + remind + `}`,
		"POST /v1/appointments/{id}/reschedule": `{"datetime": "{later}", "provider": "{prov}"}`,
		"POST /v1/bulk/calls":                   `{"defaults": {` + called + `}, "items": [{"to": "+12025550123", "agent_id": "{agent}"}, {"to": "+12025550123", "pathway_id": "{pathway}"}, {"to": "+12025550123"}]}`,
		"POST /v1/bulk/contacts":                `{"defaults": {"campaign_id": "{campaign}"}, "items": [{"phone": "+12025550123"}]}`,
		"POST /v1/bulk/dnc":                     `{"defaults": {"list_id": "{dnc}"}, "items": [{"phone": "+12025550123"}]}`,
		"POST /v1/calls/outbound":               `{"to": "+12025550123", ` + called + `}`,
		"POST /v1/campaigns":                    `{"name": "own", ` + campaign + `}`,
		"POST /v1/campaigns/simulate":           `{"name": "own", "contacts": [{"phone": "+12025550123"}], ` + campaign + `}`,
		"PATCH /v1/campaigns/{id}":              `{` + campaign + `}`,
		"POST /v1/exports":                      `{"type": "campaign_results", "filters": {"campaign_id": "{campaign}"}}`,
		"POST /v1/pathways":                     `{` + pathway + `}`,
		"POST /v1/pathways/validate":            `{` + pathway + `}`,
		"PATCH /v1/pathways/{id}":               `{` + pathway + `}`,
		"POST /v1/pathways/{id}/chat":           `{"agent_id": "{agent}"}`,
		"POST /v1/pathways/{id}/replay":         `{"call_id": "{call}"}`,
		"POST /v1/pathways/{id}/test":           `{"agent_id": "{agent}", "scenarios": [{"name": "one"}]}`,
		"POST /v1/phone-numbers":                `{"number": "+12025550186", "agent_id": "{agent}", "trunk_id": "{trunk}"}`,
		"PATCH /v1/phone-numbers/{id}":          `{"agent_id": "{agent}", "trunk_id": "{trunk}"}`,
		"POST /v1/providers":                    `{"name": "own", ` + remind + `}`,
		"PATCH /v1/providers/{id}":              `{` + remind + `}`,
		"POST /v1/sms-gateways/{id}/events":     `{"events": [{"type": "delivered", "message_id": "{msg}"}]}`,
		"POST /v1/webhooks":                     `{"url": "{url}", "events": ["call.*"], ` + filters + `}`,
		"PATCH /v1/webhooks/{id}":               `{` + filters + `}`,
		"POST /v1/webhooks/{id}/replay":         `{"event_ids": ["{evt}"]}`,
	}
}

// exemptFields lists fields with ids that do not refer to an object of a workspace, by route.
func exemptFields() map[string][]string {
	nodes := []string{"nodes[].id", "start"}
	return map[string][]string{
		"POST /v1/auth/token":               {"user_id"},
		"POST /v1/sms-gateways/{id}/events": {"events[].id"},
		"POST /v1/pathways":                 nodes, "POST /v1/pathways/validate": nodes, "PATCH /v1/pathways/{id}": nodes,
		"POST /v1/calls/{id}/transfer": {"phone"},                                                                        // id of a live call, tested in workspace_isolation_phones_e2e_test.go
		"POST /v1/alert-rules":         {"watches_workspace_id"}, "PATCH /v1/alert-rules/{id}": {"watches_workspace_id"}, // for operators, who know all workspaces
		"POST /v1/operator/drain": {"node_id"}, "POST /v1/operator/undrain": {"node_id"}, // for operators; nodes belong to no workspace
		"POST /v1/trunks": {"caller_ids[]"}, "PATCH /v1/trunks/{id}": {"caller_ids[]"}, "PATCH /v1/workspaces/{id}/trunks/{trunk_id}": {"caller_ids[]"}, // phone numbers, not ids
		"POST /v1/pathways/{id}/chat": {"model_answers[].calls[].id", "model_answers[].calls[].tool"}, // replayed without a lookup
	}
}

var (
	placeholder  = regexp.MustCompile(`^\{([a-z]+)\}$`)
	indexPattern = regexp.MustCompile(`\[\d+\]`)
)

// findPlaceholders returns the path of each placeholder in a request body, with the kind of object it stands for.
func findPlaceholders(body any) map[string]string {
	out := make(map[string]string)
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case object:
			for name := range v {
				walk(v[name], strings.TrimPrefix(at+"."+name, "."))
			}
		case []any:
			for i := range v {
				walk(v[i], at+"["+strconv.Itoa(i)+"]")
			}
		case string:
			if m := placeholder.FindStringSubmatch(v); m != nil {
				out[at] = m[1]
			}
		}
	}
	walk(body, "")
	return out
}

// replacePlaceholders returns a copy of the body in which id(path, kind) replaces each placeholder. at is the path of
// body within the whole request body.
func replacePlaceholders(body any, at string, id func(at, kind string) string) any {
	switch v := body.(type) {
	case object:
		out := make(object, len(v))
		for name := range v {
			out[name] = replacePlaceholders(v[name], strings.TrimPrefix(at+"."+name, "."), id)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = replacePlaceholders(v[i], at+"["+strconv.Itoa(i)+"]", id)
		}
		return out
	case string:
		if m := placeholder.FindStringSubmatch(v); m != nil {
			return id(at, m[1])
		}
	}
	return body
}

// tenant sends requests with an API key of one workspace and stores the ids of the objects that it creates.
type tenant struct {
	*service
	t   *testing.T
	key string
	ids map[string]string // ids of the created objects, by kind
}

func (w *tenant) sendRequest(method, path string, body any) (int, []byte) {
	w.t.Helper()
	status, text, _ := w.tryRequest(method, path, body, "Authorization", "Bearer "+w.key)
	return status, text
}

// createChildKey creates an API key with the tenant's own key, for an environment of the workspace: live or test.
func (w *tenant) createChildKey(environment string) string {
	w.t.Helper()
	status, text := w.sendRequest("POST", "/v1/api-keys", object{"name": "lent", "permissions": []string{"*:read", "*:write"}, "environment": environment})
	require.Equal(w.t, http.StatusCreated, status, "%s", text)
	var created struct{ Key string }
	require.NoError(w.t, json.Unmarshal(text, &created))
	return created.Key
}

// createObject creates an object and stores its id.
func (w *tenant) createObject(kind, path string, body any) {
	w.t.Helper()
	w.ids[kind] = w.idOf(w.t, "POST", path, body, "Authorization", "Bearer "+w.key)
}

// createObjects creates one object of each kind that bodies refer to.
func (w *tenant) createObjects(number string) {
	w.t.Helper()
	agent := func(fields object) object { fields["name"] = "own"; return fields }
	w.createObject("kb", "/v1/knowledge-base", object{"name": "own", "sources": []object{{"type": "text", "text": "We open at nine."}}})
	w.createObject("tool", "/v1/tools", object{"name": "lent", "description": "Looks.", "parameters": object{"type": "object"}, "http": object{"method": "GET", "url": w.receiver.url}})
	w.createObject("pathway", "/v1/pathways", object{"name": "hello", "start": "bye", "nodes": []object{{"id": "bye", "type": "end"}}, "edges": []object{}})
	w.createObject("agent", "/v1/agents", agent(object{"pathway_id": w.ids["pathway"], "sms": object{"enabled": true}}))
	w.createObject("phone", "/v1/phones", object{"extension": "7" + number[9:], "name": "own", "username": "own" + number[1:]})
	w.createObject("trunk", "/v1/trunks", object{"caller_ids": []string{"+12025550100"}, "name": "lent", "proxies": []object{{"host": "127.0.0.1", "port": 9, "transport": "udp"}}})
	w.createObject("dnc", "/v1/dnc-lists", object{"name": "lent"})
	w.createObject("prov", "/v1/providers", object{"name": "lent", "timezone": "UTC", "hours": object{"monday": allDayHours(), "tuesday": allDayHours(), "wednesday": allDayHours(), "thursday": allDayHours(), "friday": allDayHours(), "saturday": allDayHours(), "sunday": allDayHours()}})
	w.createObject("num", "/v1/phone-numbers", object{"number": number, "agent_id": w.ids["agent"], "sms_enabled": true})
	w.createObject("campaign", "/v1/campaigns", object{"name": "lent", "agent_id": w.ids["agent"], "contacts": []object{{"phone": "+12025550123"}}})
	w.createObject("wh", "/v1/webhooks", object{"url": w.receiver.url, "events": []string{"call.*"}})
	w.createObject("appt", "/v1/appointments", object{"patient": object{"name": "Bob", "phone": "+12025550123"}, "provider": w.ids["prov"], "datetime": hoursAhead(48), "type": "visit"})
	if strings.HasPrefix(w.key, "svc_sk_live_") { // test calls use no trunk
		w.createObject("gw", "/v1/sms-gateways", object{"name": "lent", "url": w.receiver.url})
	}
	w.createObject("msg", "/v1/sms", object{"to": "+12025550123", "body": "Hello."})
	w.createObject("call", "/v1/calls/outbound", object{"to": "+12025550123", "agent_id": w.ids["agent"]})
	w.ids["evt"] = w.idOf(w.t, "GET", "/v1/events?limit=1", nil, "Authorization", "Bearer "+w.key)
	require.Eventually(w.t, func() bool { // indexing the sources changes the knowledge base
		status, text := w.sendRequest("GET", "/v1/knowledge-base/"+w.ids["kb"], nil)
		var base struct{ Status domain.KnowledgeStatus }
		return status == http.StatusOK && json.Unmarshal(text, &base) == nil && base.Status == domain.KnowledgeReady
	}, time.Minute, 20*time.Millisecond, "the knowledge base was not indexed")
	w.ids["url"], w.ids["tomorrow"], w.ids["later"] = w.receiver.url, hoursAhead(24), hoursAhead(72)
}

func allDayHours() []object { return []object{{"start": "00:00", "end": "24:00"}} }

// hoursAhead returns the time in the given number of hours, rounded down to the full hour.
func hoursAhead(hours int) string {
	return time.Now().Add(time.Duration(hours) * time.Hour).UTC().Truncate(time.Hour).Format(time.RFC3339)
}

// snapshot returns all objects of the tenant as text, and their number by kind. It omits fields that change without a
// request.
func (w *tenant) snapshot() map[string]string {
	w.t.Helper()
	out := make(map[string]string)
	for path, kind := range collectionPaths() {
		var all struct{ Data []struct{ ID string } }
		status, text := w.sendRequest("GET", path, nil)
		require.Equal(w.t, http.StatusOK, status, "%s %s", kind, text)
		require.NoError(w.t, json.Unmarshal(text, &all))
		out[path] = fmt.Sprint(all.Data)
		if kind == "call" || kind == "trunk" || kind == "wh" || w.ids[kind] == "" {
			continue
		}
		status, text = w.sendRequest("GET", path+"/"+w.ids[kind], nil)
		require.Equal(w.t, http.StatusOK, status, "%s %s", kind, text)
		out[kind] = string(text)
	}
	return out
}

// collectionPaths returns the kinds of objects by the paths of their collections.
func collectionPaths() map[string]string {
	return map[string]string{
		"/v1/agents": "agent", "/v1/pathways": "pathway", "/v1/campaigns": "campaign", "/v1/calls": "call", "/v1/phone-numbers": "num", "/v1/providers": "prov",
		"/v1/appointments": "appt", "/v1/webhooks": "wh", "/v1/sms-gateways": "gw", "/v1/knowledge-base": "kb", "/v1/tools": "tool", "/v1/phones": "phone",
		"/v1/trunks": "trunk", "/v1/dnc-lists": "dnc",
	}
}

// referringBody is a request body with the paths of the fields that contain ids of other objects.
type referringBody struct {
	route, method, path string
	body                any
	places              map[string]string
}

// checkForeignIDs sends each body with ids that the tenant must not use: ids of another workspace, of the tenant's
// test environment, and unknown ids. The service must give the same error for all three, name the field and change
// nothing. With the tenant's own ids it must accept the body.
func (s *service) checkForeignIDs(t *testing.T) {
	_, text, _ := s.tryRequest("GET", "/openapi.json", nil)
	contract, err := apitest.Read(text)
	require.NoError(t, err)
	key := func() string {
		return s.api("POST", "/v1/workspaces", object{"name": "lent", "plan": "enterprise"})["key"].(string)
	}
	theirs, own, tests := &tenant{s, t, key(), map[string]string{}}, &tenant{s, t, key(), map[string]string{}}, &tenant{s, t, "", map[string]string{}}
	theirs.createObjects("+12025550190")
	own.createObjects("+12025550191")
	tests.key = own.createChildKey("test")
	tests.createObjects("+12025550192")
	all := own.collectBodies(contract)
	before, mine, tried := []map[string]string{theirs.snapshot(), tests.snapshot()}, own.snapshot(), 0
	for _, l := range all {
		var places [][]string
		for _, at := range slices.Sorted(maps.Keys(l.places)) {
			if strings.Contains(theirs.ids[l.places[at]], "_") { // not a time or a URL
				places = append(places, []string{at})
			}
		}
		if l.route == "POST /v1/bulk/calls" {
			places = [][]string{slices.Concat(places...)}
		}
		for _, at := range places {
			tried++
			got, blamed := own.sendWithIDs(l, at, theirs.ids)
			want, _ := own.sendWithIDs(l, at, nil)
			assert.Equal(t, want, got, "%s %s: an id of another workspace gets the response of an unknown id", l.route, at)
			if !strings.HasPrefix(l.path, "/v1/bulk/") { // bulk requests have a low rate limit
				tested, _ := own.sendWithIDs(l, at, tests.ids)
				assert.Equal(t, want, tested, "%s %s: an id of the test environment gets the response of an unknown id", l.route, at)
			}
			if len(at) > 1 {
				at = []string{"items[0].agent_id", "items[1].agent_id", "items[2].agent_id"}
			}
			assert.Subset(t, blamed, withLists(at, blamed), "%s: the error names the field: %s", l.route, got)
		}
	}
	assert.Equal(t, mine, own.snapshot())
	for _, l := range all {
		if strings.HasPrefix(l.path, "/v1/bulk/") {
			continue
		}
		status, text := own.sendRequest(l.method, l.path, replacePlaceholders(l.body, "", own.ownID))
		assert.True(t, status < 300 || status == http.StatusConflict, "%s is valid with the tenant's own ids: %s", l.route, text)
	}
	assert.Equal(t, before[0], theirs.snapshot())
	assert.Equal(t, before[1], tests.snapshot())
	t.Logf("%d places with foreign ids tested", tried)
	assert.Greater(t, tried, 50)
}

// withLists returns the paths of the fields that an error should name. For elements of a list, the error may name the
// list instead.
func withLists(places, blamed []string) []string {
	places = slices.Clone(places)
	for i, at := range places {
		list, _, is := strings.Cut(at[max(0, len(at)-3):], "[")
		if is && list == "" && slices.Contains(blamed, at[:len(at)-3]) {
			places[i] = at[:len(at)-3]
		}
	}
	return places
}

// collectBodies returns the bodies of all routes that contain ids, and fails if a route has no body.
func (w *tenant) collectBodies(contract *apitest.Contract) (out []referringBody) {
	w.t.Helper()
	texts, unlends := bodiesWithIDs(), exemptFields()
	for _, o := range contract.Operations {
		l := referringBody{route: o.Method + " " + o.Path, method: o.Method, path: o.Path}
		if text := texts[l.route]; text != "" {
			require.NoError(w.t, json.Unmarshal([]byte(text), &l.body), l.route)
		}
		l.places = findPlaceholders(l.body)
		tried := slices.Clone(unlends[l.route])
		for at := range l.places {
			tried = append(tried, indexPattern.ReplaceAllString(at, "[]"))
		}
		if names := contract.IDFields(o); len(names) > 0 {
			assert.Subset(w.t, tried, names, "%s: every field with an id is tested", l.route)
		}
		delete(texts, l.route)
		delete(unlends, l.route)
		if collection, _, below := strings.Cut(o.Path, "/{id}"); below {
			l.path = strings.Replace(o.Path, "{id}", w.ids[collectionPaths()[collection]], 1)
		}
		if len(l.places) > 0 {
			out = append(out, l)
		}
	}
	assert.Empty(w.t, texts, "bodies of unknown routes")
	assert.Empty(w.t, unlends, "exempt fields of unknown routes")
	return out
}

// ownID returns the id of the object of a kind that the tenant has created.
func (w *tenant) ownID(_, kind string) string { return w.ids[kind] }

// sendWithIDs sends a request body in which the given fields have the ids of theirs, or unknown ids if theirs is nil. It
// returns the response without fields that differ between requests, and the fields that the error names.
func (w *tenant) sendWithIDs(l referringBody, places []string, theirs map[string]string) (response string, blamed []string) {
	w.t.Helper()
	var sent []string
	status, text := w.sendRequest(l.method, l.path, replacePlaceholders(l.body, "", func(at, kind string) string {
		id := w.ids[kind]
		if !slices.Contains(places, at) {
			return id
		}
		if theirs != nil {
			id = theirs[kind]
		} else {
			prefix, _, _ := strings.Cut(id, "_")
			id = prefix + "_" + ulid.Make().String()
		}
		sent = append(sent, id, "{id}")
		return id
	}))
	var answer struct {
		Error struct {
			Param   string
			Details []struct{ Param string }
			Request string `json:"request_id"`
		}
		Errors  []domain.BulkError
		Results []struct{ Error *domain.BulkError }
		Unknown []string `json:"not_found"`
	}
	require.NoError(w.t, json.Unmarshal(text, &answer), "%s", text)
	blamed = append(blamed, answer.Error.Param)
	for _, d := range answer.Error.Details {
		blamed = append(blamed, d.Param)
	}
	if status < http.StatusBadRequest { // a bulk response lists accepted and rejected items separately
		text = nil
		for _, e := range answer.Errors {
			blamed = append(blamed, e.Param, fmt.Sprintf("items[%d].%s", e.Index, e.Param))
			text = fmt.Append(text, e)
		}
		for i, r := range answer.Results {
			if r.Error != nil {
				blamed = append(blamed, fmt.Sprintf("events[%d].%s", i, r.Error.Param))
				text = fmt.Append(text, *r.Error)
			}
		}
		for i, one := range answer.Unknown {
			blamed = append(blamed, fmt.Sprintf("event_ids[%d]", i))
			text = fmt.Append(text, one)
		}
	}
	response = strings.NewReplacer(sent...).Replace(string(text))
	if answer.Error.Request != "" {
		response = strings.ReplaceAll(response, answer.Error.Request, "{request}")
	}
	return fmt.Sprint(status, " ", response), blamed
}
