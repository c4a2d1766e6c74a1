package dashboard

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// idleNodeAPI returns an API with the data of the operator's page for one node that has no calls and no alerts.
func idleNodeAPI() fakeAPI {
	none := respondWith(200, `{"data":[]}`)
	return fakeAPI{
		"GET /v1/operator/nodes": respondWith(200, `{"data":[{"id":"node_alone","here":true,"ready":true,"shards":1,"drain":{"on":false},"last_minute":{}}]}`),
		"GET /v1/operator/load":  respondWith(200, `{"ready":true,"lines":{},"last_minute":{},"trunks":{},"noisy":[],"dialling":{"stopped":true},"drain":{"on":true}}`),
		"GET /v1/alerts":         none, "GET /v1/alert-rules": none, "GET /v1/operator/workspaces": none,
	}
}

func TestAlertRuleFormRefusesInvalidNumber(t *testing.T) {
	t.Parallel()
	s, sent := idleNodeAPI(), ""
	s["POST /v1/alert-rules"] = func(_, _, body string) (int, string) {
		sent = body
		return 201, `{}`
	}
	for typed, good := range map[string]bool{"NaN": false, "Inf": false, "-inf": false, "1e999": false, "half": false, " 12.5 ": true} {
		page, body := servePage(t, s, "POST", "/operator/rules", url.Values{"name": {"Rate"}, "kind": {"answer_rate"}, "percent": {typed}})
		if good {
			assert.Equal(t, 303, page.Status, body)
			assert.JSONEq(t, `{"name":"Rate","kind":"answer_rate","below":0.125,"emails":[]}`, sent)
			continue
		}
		assert.Equal(t, 422, page.Status, typed)
		assert.Contains(t, body, "Per cent must be a number.", typed)
		assert.Contains(t, body, `name="percent" inputmode="decimal" value="`+typed+`"`, "the form keeps the typed value")
	}
}

func TestAlertRuleErrorsUseFormLabels(t *testing.T) {
	t.Parallel()
	s := idleNodeAPI()
	s["POST /v1/alert-rules"] = respondWith(201, `{}`)
	for _, one := range []struct{ kind, field, typed, why string }{
		{"answer_rate", "percent", "150", "Per cent must be above 0 and at most 100."},
		{"spend", "percent", "0", "Per cent must be above 0 and at most 100."},
		{"trunk_down", "percent", "50", "Per cent applies only to rules for answered calls or a spend cap."},
		{"trunk_down", "minutes", "0", "Minutes must be above 0."},
		{"answer_rate", "min_calls", "-1", "Calls must be above 0."},
		{"spend", "percent", "100", ""},
	} {
		page, body := servePage(t, s, "POST", "/operator/rules", url.Values{"name": {"Rate"}, "kind": {one.kind}, one.field: {one.typed}})
		if one.why == "" {
			assert.Equal(t, 303, page.Status, body)
			continue
		}
		assert.Equal(t, 422, page.Status, one)
		assert.Contains(t, body, one.why)
	}
}

// The operator's page shows the button that stops all dialing even if some data of the page cannot be read.
func TestOperatorPageShowsStopButtonWhenDataIsUnavailable(t *testing.T) {
	t.Parallel()
	parts := map[string]string{"/v1/operator/load": "node load", "/v1/operator/nodes": "the nodes", "/v1/alerts": "alerts", "/v1/operator/workspaces": "workspaces", "/v1/alert-rules": "alert rules"}
	for path, what := range parts {
		s := idleNodeAPI()
		s["GET "+path] = respondWith(503, `{"error":{"code":"unavailable","message":"the store cannot be reached"}}`)
		page, body := servePage(t, s, "GET", "/operator", nil)
		assert.Equal(t, 200, page.Status, path)
		assert.Contains(t, body, "Cannot be read now: "+what+".")
		assert.Contains(t, body, `action="/operator/dialling-stop"`)
		assert.Contains(t, body, `<div id="live" hx-get="/operator?part=live"`, "the live part is requested again")
	}
	s := idleNodeAPI()
	s["GET /v1/alerts"] = respondWith(503, `{"error":{"code":"unavailable","message":"the store cannot be reached"}}`)
	page, _ := servePage(t, s, "GET", "/operator", nil, "part=live")
	assert.Equal(t, 503, page.Status, "the browser keeps the present content")
}

func TestIncompleteSpendIsShownAsMinimum(t *testing.T) {
	t.Parallel()
	s := idleNodeAPI()
	for known, shown := range map[string]string{"true": "<dd>3.00 USD</dd>", "false": "<dd>3.00 USD or more</dd>"} {
		s["GET /v1/operator/load"] = respondWith(200, `{"ready":true,"lines":{},"last_minute":{},"trunks":{},"noisy":[],"dialling":{},"drain":{},"spent_today":{"amount":"3.00","currency":"USD"},"spent_known":`+known+`}`)
		_, body := servePage(t, s, "GET", "/operator", nil, "part=live")
		assert.Contains(t, body, shown)
	}
}

func TestMessageThreadLinksNeedTelephoneNumber(t *testing.T) {
	t.Parallel()
	s := fakeAPI{"GET /v1/sms": respondWith(200, `{"data":[{"direction":"inbound","from":"ACME","to":"+12025550100"},{"direction":"inbound","from":"+12025550123","to":"+12025550100"},{"direction":"outbound","from":"+12025550100","to":"12345"}]}`)}
	_, body := servePage(t, s, "GET", "/messages", nil)
	assert.Equal(t, []string{`/messages?with=%2b12025550123`}, regexp.MustCompile(`/messages\?with=[^"]*`).FindAllString(body, -1))
	assert.Contains(t, body, "ACME")
}

func TestPartialUpdateKeepsListPage(t *testing.T) {
	t.Parallel()
	s, requested := idleNodeAPI(), map[string]string{}
	for _, path := range []string{"/v1/alerts", "/v1/operator/workspaces"} {
		s["GET "+path] = func(_, query, _ string) (int, string) {
			requested[path] = query
			return 200, `{"data":[{"name":"one","lines":{},"last_minute":{},"share":{},"trunks":{}}]}`
		}
	}
	_, body := servePage(t, s, "GET", "/operator", nil, "alerts=a%2B1&cursor=c")
	for id, part := range map[string]string{"live": "/operator?alerts=a%2B1&amp;part=live", "people": "/operator?cursor=c&amp;part=people"} {
		assert.Contains(t, body, `<div id="`+id+`" hx-get="`+part+`"`)
	}
	assert.Equal(t, map[string]string{"/v1/alerts": "cursor=a%2B1&limit=50", "/v1/operator/workspaces": "cursor=c&limit=50"}, requested)
}

// An automatic update of the operator's page shows the buttons that fit the state of the node. The updated section has
// no input fields, because an update would discard typed text.
func TestOperatorButtonsFollowNodeState(t *testing.T) {
	t.Parallel()
	s := idleNodeAPI()
	_, live := servePage(t, s, "GET", "/operator", nil, "part=live")
	for _, to := range []string{"dialling-resume", "undrain"} {
		assert.Contains(t, live, `action="/operator/`+to+`"`)
	}
	assert.NotContains(t, live, "<input")
	s["GET /v1/operator/load"] = respondWith(200, `{"ready":true,"lines":{},"last_minute":{},"trunks":{},"noisy":[],"dialling":{"stopped":false},"drain":{"on":false}}`)
	_, live = servePage(t, s, "GET", "/operator", nil, "part=live")
	assert.Equal(t, []string{`action="/operator/drain"`}, regexp.MustCompile(`action="[^"]*"`).FindAllString(live, -1))
	_, all := servePage(t, s, "GET", "/operator", nil)
	assert.Equal(t, 1, strings.Count(all, `action="/operator/drain"`), "the page has one drain form")
	assert.Contains(t, all, `action="/operator/dialling-stop"`)
}

func TestEachNodeHasItsOwnDrainButton(t *testing.T) {
	t.Parallel()
	s, sent := idleNodeAPI(), ""
	s["GET /v1/operator/nodes"] = respondWith(200, `{"data":[
		{"id":"node_a","address":"10.0.0.1:8090","here":true,"ready":true,"shards":3,"drain":{"on":true},"last_minute":{}},
		{"id":"node_b","address":"10.0.0.2:8090","ready":true,"shards":2,"shards_silent":1,"drain":{"on":false},"last_minute":{}},
		{"id":"node_c","address":"10.0.0.3:8090","ready":true,"shards":0,"drain":{"on":false},"last_minute":{}}]}`)
	_, live := servePage(t, s, "GET", "/operator", nil, "part=live")
	assert.Equal(t, []string{`action="/operator/dialling-resume"`, `action="/operator/undrain"`, `action="/operator/drain"`}, regexp.MustCompile(`action="[^"]*"`).FindAllString(live, -1), "the third node accepts no calls")
	assert.Contains(t, live, "1 did not answer")
	assert.Contains(t, live, "Standby")
	s["POST /v1/operator/drain"] = func(_, _, body string) (int, string) {
		sent = body
		return 200, `{}`
	}
	page, _ := servePage(t, s, "POST", "/operator/drain", url.Values{"node_id": {"node_b"}, "confirmed": {"yes"}})
	assert.Equal(t, 303, page.Status)
	assert.JSONEq(t, `{"node_id":"node_b"}`, sent)
}

func TestRefusedFormKeepsItsIdempotencyKeyAndValues(t *testing.T) {
	t.Parallel()
	s := fakeAPI{"POST /v1/api-keys": respondWith(422, `{"error":{"code":"validation_failed","message":"name No.","param":"name"}}`)}
	once := strings.Repeat("0f", 16)
	_, body := servePage(t, s, "POST", "/keys", url.Values{"name": {"till"}, "once": {once}})
	assert.Contains(t, body, `name="once" value="`+once+`"`)
	assert.Regexp(t, `id="f-name" name="name" value="till"[^>]* aria-invalid="true" aria-describedby="f-name-error"`, body)
	assert.Contains(t, body, `<p class="error" id="f-name-error">Name No.</p>`)
}

func TestConcurrentCallsAreCountedOnlyFromCompleteList(t *testing.T) {
	t.Parallel()
	for more, shown := range map[string][]string{"false": {"1 of 20", "2 of 30"}, "true": {"at most 20", "at most 30"}} {
		_, body := servePage(t, fakeAPI{
			"GET /v1/workspace": respondWith(200, `{"limits":{"concurrent_outbound":20,"concurrent_inbound":30}}`),
			"GET /v1/campaigns": respondWith(200, `{"data":[]}`), "GET /v1/webhooks": respondWith(200, `{"data":[]}`),
			"GET /v1/calls": respondWith(200, `{"data":[{"direction":"inbound"},{"direction":"outbound"},{"direction":"inbound"}],"has_more":`+more+`}`),
		}, "GET", "/", nil, "part=live")
		for i, name := range []string{"outbound", "inbound"} {
			assert.Contains(t, body, shown[i]+" "+name)
		}
	}
}

// The call page omits the events while it polls, because reading the events of a call scans the event log.
func TestCallPageReadsEventsAfterProcessing(t *testing.T) {
	t.Parallel()
	for rest, want := range map[string]struct{ every, events string }{
		``: {"every 2s", ""}, `,"ended_at":"2030-04-01T09:00:00Z","processing":true`: {"every 10s", ""},
		`,"ended_at":"2030-04-01T09:00:00Z","processing":false`: {"", "call.ended"},
	} {
		_, body := servePage(t, fakeAPI{
			"GET /v1/calls/call_1":        respondWith(200, `{"id":"call_1","status":"completed","recording_available":true`+rest+`}`),
			"GET /v1/calls/call_1/events": respondWith(200, `{"data":[{"type":"call.ended"}]}`),
		}, "GET", "/calls/call_1", nil)
		assert.Equal(t, want.every, strings.TrimSuffix(strings.TrimPrefix(regexp.MustCompile(`hx-trigger="every \w+"|$`).FindString(body), `hx-trigger="`), `"`), rest)
		assert.Equal(t, want.events != "", strings.Contains(body, "call.ended"), rest)
		assert.Equal(t, want.events != "", strings.Contains(body, "<audio"), "the recording is ready: %s", rest)
	}
}

func TestRevokedKeyPageListsRemainingResources(t *testing.T) {
	t.Parallel()
	left := `{"id":"key_1","deleted":true,"remaining":[{"id":"wh_1","object":"webhook"}],"ended":[]}`
	var cascaded string
	sent := 0
	s := fakeAPI{"GET /v1/api-keys/key_1": respondWith(200, `{"id":"key_1","name":"till"}`), "DELETE /v1/api-keys/key_1": func(_, query, _ string) (int, string) {
		sent++
		if cascaded = query; query != "" {
			return 200, `{"id":"key_1","deleted":true,"remaining":[],"ended":[{"id":"wh_1","object":"webhook"}]}`
		}
		return 200, left
	}}
	for _, form := range []url.Values{nil, {"confirmed": {"yes"}}, {"confirmed": {"yes"}, "typed": {"tilt"}}} {
		_, body := servePage(t, s, "POST", "/keys/key_1/revoke", form)
		assert.Contains(t, body, "Type <strong>till</strong> to confirm")
		assert.Zero(t, sent, "the key is not revoked without a confirmation: %v", form)
	}
	page, body := servePage(t, s, "POST", "/keys/key_1/revoke", url.Values{"confirmed": {"yes"}, "typed": {"till"}})
	assert.Equal(t, 200, page.Status)
	assert.Contains(t, body, "wh_1")
	assert.Contains(t, body, `name="cascade" value="yes"`, "the page offers to delete the resources")
	page, _ = servePage(t, s, "POST", "/keys/key_1/revoke", url.Values{"cascade": {"yes"}, "again": {"yes"}, "confirmed": {"yes"}})
	assert.Equal(t, 303, page.Status)
	assert.Equal(t, "cascade=true", cascaded)
}
