package dashboard

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExternalTextIsEscapedOnEveryPage puts markup into every text that comes from outside, and expects that each page
// shows the text escaped.
func TestExternalTextIsEscapedOnEveryPage(t *testing.T) {
	t.Parallel()
	evil := func(what string) string {
		return `"><script>` + what + `</script><img src=x onerror="alert('` + what + `')">`
	}
	one := func(o object) object { return object{"data": []object{o}, "logs": []object{o}} }
	call := object{
		"id": "call_1", "to": evil("to"), "from": evil("from"), "status": "completed", "ended_at": "2030-04-01T09:00:00Z", "created_at": "2030-04-01T09:00:00Z", "ended_reason": evil("ended"),
		"context": object{evil("key"): evil("value")}, "variables": object{"answer": evil("said")}, "recording_available": true,
		"legs": []object{{"target": evil("target"), "reason": evil("reason phrase"), "codec": evil("codec")}},
	}
	appointment := object{
		"id": "appt_1", "patient": object{"name": evil("patient"), "phone": evil("patient number")}, "provider": evil("doctor"), "local_datetime": "2030-04-01T09:00:00", "timezone": evil("zone"),
		"status": "cancelled", "cancel_reason": evil("reason"), "type": evil("about"), "notes": evil("notes"),
	}
	responses := map[string]any{
		"/v1/calls/1": call, "/v1/calls/1/transcript": object{"segments": []object{{"speaker": "caller", "text": evil("transcript"), "start_ms": 1.0}}},
		"/v1/calls/1/events": one(object{"type": evil("event")}), "/v1/calls/1/sip": evil("sip header"),
		"/v1/calls":             one(call),
		"/v1/sms":               one(object{"from": evil("sms from"), "to": evil("sms to"), "body": evil("sms"), "direction": "inbound", "status": "failed", "error_message": evil("sms error")}),
		"/v1/webhooks/1":        object{"id": "1", "url": evil("url"), "status": "active", "events": []string{"*"}},
		"/v1/webhooks/1/failed": one(object{"event_id": "evt_1", "last_error": evil("given up")}), "/v1/webhooks/1/logs": one(object{"error": evil("webhook answer"), "status": "failed"}),
		"/v1/campaigns/1":           object{"id": "1", "name": evil("campaign"), "status": "running"},
		"/v1/campaigns/1/status":    object{"status": "running", "progress": object{"in_progress": 0.0}, "timing": object{}},
		"/v1/campaigns/1/contacts":  one(object{"phone": evil("phone"), "status": "failed", "context": object{evil("column"): evil("contact")}}),
		"/v1/campaigns/1/uploads/u": object{"contacts_summary": object{"received": 1.0}, "contact_errors": []object{{"line": 2.0, "phone": evil("bad phone"), "message": evil("row")}}},
		"/v1/appointments":          one(appointment), "/v1/appointments/1": appointment, "/v1/providers": one(object{"id": "prov_1", "name": evil("provider")}),
		"/v1/audit-logs": one(object{"action": "user.signed_in", "actor": object{"type": "user", "id": "user_1"}, "ip": "192.0.2.1", "user_agent": evil("agent"), "outcome": "failure", "reason": evil("why not")}),
		"/v1/operator/load": object{
			"ready": false, "reason": evil("not ready"), "dialling": object{"stopped": true, "reason": evil("stopped")}, "noisy": []object{{"name": evil("noisy"), "calls": 1.0}},
			"lines": object{}, "last_minute": object{}, "trunks": object{}, "drain": object{"on": false},
		},
		"/v1/operator/nodes": object{"data": []object{
			{"id": "node_1", "address": evil("address"), "version": evil("version"), "ready": false, "reason": evil("node"), "drain": object{"on": false}, "last_minute": object{}},
			{"id": evil("id"), "ready": true, "shards": 1.0, "drain": object{"on": false}, "last_minute": object{}},
		}},
		"/v1/operator/workspaces": one(object{
			"id": "ws_1", "name": evil("workspace"), "lines": object{}, "last_minute": object{}, "share": object{}, "trunks": object{},
			"troubles": []object{{"name": evil("trunk"), "status": "down", "last_error": evil("trunk error")}},
		}),
		"/v1/alerts":      one(object{"rule_name": evil("alert"), "subject_name": evil("subject"), "status": "firing"}),
		"/v1/alert-rules": one(object{"id": "r", "name": evil("rule"), "kind": "spend", "emails": []string{evil("mail")}}),
	}
	for path, shows := range map[string]string{
		"/calls": "from|to", "/calls/:id": "to|from|ended|key|value|said|target|reason phrase|codec|transcript|event|sip header",
		"/messages": "sms|sms from|sms to|sms error", "/messages?with=%2B1": "sms|sms to", "/webhooks/:id": "url|given up|webhook answer",
		"/campaigns/:id?upload=u": "campaign|phone|column|contact|bad phone|row", "/appointments/list": "patient|patient number|doctor|notes",
		"/appointments?week=2030-04-01": "patient|doctor|provider", "/appointments/:id": "patient|patient number|doctor|zone|reason|about|notes", "/audit": "why not",
		"/operator": "address|version|node|not ready|stopped|noisy|workspace|trunk|trunk error|alert|subject|rule|mail",
	} {
		at, err := url.Parse(path)
		require.NoError(t, err)
		matched := 0
		for _, r := range Routes() {
			if r.Path != at.Path || r.Method != http.MethodGet {
				continue
			}
			matched++
			page := New().Serve(r, &Request{
				Method: "GET", ID: "1", Query: at.Query(), Visitor: Visitor{Name: evil("visitor"), Workspace: evil("own"), Operator: true, Rights: func(string) bool { return true }},
				API: func(_, asked, _, _ string, _ io.Reader) (int, []byte) {
					asked, _, _ = strings.Cut(asked, "?")
					a, known := responses[asked]
					if text, plain := a.(string); plain {
						return 200, []byte(text)
					}
					if !known {
						return 404, []byte(`{"error":{"code":"not_found","message":"None."}}`)
					}
					text, err := json.Marshal(a)
					require.NoError(t, err)
					return 200, text
				},
			})
			require.NoError(t, page.Fault, path)
			require.Equal(t, 200, page.Status, "%s: %s", path, page.Body)
			text := string(page.Body)
			assert.NotRegexp(t, `<script>|<img|onerror="`, text, path)
			for _, what := range append(strings.Split(shows, "|"), "visitor", "own") {
				assert.Contains(t, text, fmt.Sprintf("&lt;script&gt;%s&lt;/script&gt;", what), "%s shows %s escaped", path, what)
			}
		}
		assert.Equal(t, 1, matched, "%s matches one page", path)
	}
}
