package httpapi_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

// TestMergePatchFollowsRFC7396 requires the results in the examples of RFC 7396, appendix A.
func TestMergePatchFollowsRFC7396(t *testing.T) {
	decode := func(text string) (v any) {
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		return v
	}
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		target := decode(c[0])
		assert.Equal(t, decode(c[2]), httpapi.MergePatch(target, decode(c[1])), "%s patched with %s", c[0], c[1])
		assert.Equal(t, decode(c[0]), target, "the target is not changed")
	}
}

// member returns the member of a decoded JSON object at a path such as a.b.
func member(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		o, _ := v.(m)
		v = o[name]
	}
	return v
}

func TestPatchMergesMembersAndNullResetsThem(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	agent := m{
		"name": "x", "first_message": "Hello.", "system_prompt": "sp", "limits": m{"max_minutes": 5, "silence_seconds": 9}, "voice": m{"name": "en-gb", "rate": 1.1},
		"language": "de-DE", "metadata": m{"a": "1", "b": "2"}, "transfer": m{"destinations": []m{{"name": "desk", "to": "+12025550130"}}, "accept_refer": true},
		"llm": m{"engine": "e", "model": "m"}, "on_inbound": m{"url": "https://example.com/calls", "timeout_ms": 900}, "sms": m{"enabled": true, "max_replies": 3},
	}
	trunk := m{
		"name": "t", "proxies": []m{{"host": "192.0.2.1", "port": 9}}, "auth": m{"username": "u", "password": "secret-secret", "realm": "r"}, "max_channels": 4,
		"outbound_proxy": m{"host": "192.0.2.2"}, "inbound": m{"allowed_ips": []string{"192.0.2.0/24"}, "auth": m{"username": "in", "password": "secret-inbound"}},
		"alarms": m{"min_asr": 0.5, "min_calls": 7}, "codecs": []string{"PCMA"},
	}
	campaign := m{"name": "c", "agent_id": "agent_" + ulidOf(1), "webhooks": m{"campaign.started": "https://example.com/a"}, "auto_complete": false}
	provider := m{"name": "Dr. Rivera", "hours": m{"monday": []m{{"start": "09:00", "end": "12:00"}}, "tuesday": []m{{"start": "09:00", "end": "12:00"}}}, "reminder_hours": m{"start": "10:00"}}
	for _, c := range []struct {
		path        string
		body, patch m
		want        m // by path; nil: the member is missing
	}{
		{"/v1/agents", agent, m{"limits": m{"max_minutes": 6}}, m{"limits.max_minutes": 6.0, "limits.silence_seconds": 9.0, "voice.name": "en-gb"}},
		{"/v1/agents", agent, m{"limits": m{"max_minutes": nil}}, m{"limits.max_minutes": nil, "limits.silence_seconds": 9.0}},
		{"/v1/agents", agent, m{"voice": m{"rate": 1.2}}, m{"voice.rate": 1.2, "voice.name": "en-gb"}},
		{"/v1/agents", agent, m{"metadata": m{"a": nil, "c": "3"}}, m{"metadata": m{"b": "2", "c": "3"}}},
		{"/v1/agents", agent, m{"metadata": nil}, m{"metadata": nil}},
		{"/v1/agents", agent, m{"system_prompt": nil, "language": nil}, m{"system_prompt": nil, "language": "en-US", "first_message": "Hello."}},
		{"/v1/agents", agent, m{"transfer": m{"accept_refer": false}}, m{"transfer.destinations": []any{m{"name": "desk", "to": "+12025550130"}}}},
		{"/v1/agents", agent, m{"llm": m{}, "on_inbound": m{"timeout_ms": nil}, "sms": m{"max_replies": nil}}, m{"llm.engine": "e", "llm.model": "m", "on_inbound.timeout_ms": 1500.0, "sms.max_replies": 20.0}},
		{"/v1/agents", agent, m{"llm": nil, "on_inbound": nil}, m{"llm": nil, "on_inbound": nil}},
		{"/v1/trunks", trunk, m{"auth": m{"username": "u2"}}, m{"auth.username": "u2", "auth.realm": "r"}},
		{"/v1/trunks", trunk, m{"auth": nil, "outbound_proxy": nil, "codecs": nil}, m{"auth": nil, "outbound_proxy": nil, "codecs": []any{"PCMU", "PCMA"}}},
		{"/v1/trunks", trunk, m{"inbound": m{"calls_per_second": 3}, "alarms": m{"min_calls": nil}, "max_channels": nil}, m{"inbound.allowed_ips": []any{"192.0.2.0/24"}, "inbound.auth.username": "in", "alarms.min_asr": 0.5, "alarms.min_calls": 20.0, "max_channels": 0.0}},
		{"/v1/tools", goodTool(), m{"http": m{"timeout_ms": 3000}}, m{"http.timeout_ms": 3000.0, "http.url": "https://example.com/orders/{{order}}", "http.method": "GET"}},
		{"/v1/tools", goodTool(), m{"http": m{"method": nil}, "parameters": nil}, m{"http.method": "POST", "parameters": m{"type": "object", "properties": m{}}}},
		{"/v1/campaigns", campaign, m{"webhooks": m{"campaign.started": nil, "campaign.paused": "https://example.com/b"}}, m{"webhooks": m{"campaign.paused": "https://example.com/b"}, "auto_complete": false}},
		{"/v1/campaigns", campaign, m{"auto_complete": nil}, m{"auto_complete": true}},
		{"/v1/providers", provider, m{"hours": m{"monday": nil}, "reminder_hours": nil}, m{"hours": m{"tuesday": []any{m{"start": "09:00", "end": "12:00"}}}, "reminder_hours": nil}},
		{"/v1/phones", m{"extension": "1001", "name": "p"}, m{"extension": "1002"}, m{"extension": "1002", "username": "1002"}},
		{"/v1/phones", m{"extension": "1003", "name": "p", "username": "carol"}, m{"extension": "1004"}, m{"username": "carol"}},
		{"/v1/alert-rules", m{"name": "r", "kind": "answer_rate", "below": 0.3, "minutes": 7}, m{"minutes": nil}, m{"minutes": 15.0, "below": 0.3}},
	} {
		got := d.must(200, "PATCH", c.path+"/"+d.create(c.path, c.body), "operator", c.patch).json(t)
		for path, want := range c.want {
			assert.Equal(t, want, member(got, path), "%s of %s after %v", path, c.path, c.patch)
		}
	}
}

func TestPatchAppliesDefaultsOfCreate(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.keys["tester"] = domain.Principal{KeyID: "k", WorkspaceID: d.workspace.ID, Environment: domain.Test, Permissions: []domain.Permission{domain.AllRead, domain.AllWrite}}
	plain := m{"name": "d", "agent_id": "agent_" + ulidOf(1)}
	for _, key := range []string{"operator", "tester"} {
		for part, v := range map[string]m{
			"retry": {"enabled": true, "max_attempts": 4, "retry_on": []string{"busy"}}, "pacing": {"calls_per_minute": 5}, "schedule": {"timezone": "America/New_York"},
			"compliance": {"calling_hours": m{"start": "10:00", "end": "12:00"}},
		} {
			body := m{part: v}
			maps.Copy(body, plain)
			made := d.must(201, "POST", "/v1/campaigns", key, body).json(t)
			id, _ := d.must(201, "POST", "/v1/campaigns", key, plain).json(t)["id"].(string)
			assert.Equal(t, made[part], d.must(200, "PATCH", "/v1/campaigns/"+id, key, m{part: v}).json(t)[part], "%s by %s", part, key)
		}
	}
	id := d.create("/v1/campaigns", m{"name": "d", "agent_id": "agent_" + ulidOf(1), "retry": m{"interval_hours": 3, "max_attempts": 7}, "compliance": m{"calling_hours": m{"start": "00:00", "end": "24:00", "timezone": "UTC"}}})
	got := d.must(200, "PATCH", "/v1/campaigns/"+id, "operator", m{"pacing": m{"max_concurrent": 1}}).json(t)
	assert.Equal(t, []any{7.0, 3.0, "UTC"}, []any{member(got, "retry.max_attempts"), member(got, "retry.interval_hours"), member(got, "compliance.calling_hours.timezone")}, "an omitted field keeps its value")
}

func TestPatchKeepsMissingSecrets(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/trunks/" + d.create("/v1/trunks", m{"name": "t", "proxies": []m{{"host": "192.0.2.1"}}, "auth": m{"username": "u", "password": "secret-secret"}})
	stored := func() *domain.TrunkAuth {
		trunk, err := d.trunks.get(strings.TrimPrefix(path, "/v1/trunks/"))
		require.NoError(t, err)
		return trunk.Auth
	}
	r := d.must(200, "PATCH", path, "operator", m{"auth": m{"username": "u2"}})
	assert.NotContains(t, string(r.Body), "secret-secret")
	assert.Equal(t, &domain.TrunkAuth{Username: "u2", Password: "secret-secret"}, stored())
	d.must(200, "PATCH", path, "operator", m{"auth": m{"password": "another-secret"}})
	assert.Equal(t, "another-secret", stored().Password)
	d.must(200, "PATCH", path, "operator", m{"auth": nil})
	assert.Nil(t, stored())
}

func TestPatchBodyMustBeAnObject(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/agents/" + d.create("/v1/agents", m{"name": "a", "first_message": "Hi"})
	for _, body := range []string{`[]`, `null`, `"x"`, `1`, ` true`, `[{"op": "add"}]`, `{`} {
		assert.Equal(t, "invalid_request", d.must(400, "PATCH", path, "operator", body).failure(t)["code"], body)
	}
	for _, body := range []m{{"name": nil}, {"voice": m{"rate": 9}}, {"colour": 1}, {"voice": m{"tone": 1}}, {"id": "x"}} {
		d.must(422, "PATCH", path, "operator", body)
	}
	assert.Equal(t, "name", d.must(422, "PATCH", path, "operator", m{"name": nil}).failure(t)["param"])
	assert.Equal(t, "b", d.must(200, "PATCH", path, "operator", `{"name": "b"}`, "Content-Type", "application/merge-patch+json").json(t)["name"])
	d.must(415, "POST", "/v1/agents", "operator", `{"name": "b"}`, "Content-Type", "application/merge-patch+json")
}

func TestEveryPatchHasUpdateSchema(t *testing.T) {
	type schema struct {
		Ref        string   `json:"$ref"`
		Required   []string `json:"required"`
		Properties map[string]struct {
			Default any `json:"default"`
		} `json:"properties"`
	}
	var document struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Schema schema } `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal(httpapi.New(httpapi.Config{}, newFakeServices().services()).Document(), &document))
	seen := 0
	for path, operations := range document.Paths {
		op, ok := operations["patch"]
		if !ok {
			continue
		}
		seen++
		ref := op.RequestBody.Content["application/json"].Schema.Ref
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		assert.Equal(t, ref, op.RequestBody.Content["application/merge-patch+json"].Schema.Ref, path)
		assert.True(t, strings.HasSuffix(name, "Update"), "%s: %s", path, name)
		update := document.Components.Schemas[name]
		assert.Empty(t, update.Required, name)
		assert.NotEmpty(t, update.Properties, name)
		for field, p := range update.Properties {
			assert.Nil(t, p.Default, "%s.%s", name, field)
		}
	}
	assert.Greater(t, seen, 15)
}
