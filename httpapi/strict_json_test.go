package httpapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

func TestBodyWithMisspelledOrRepeatedMemberIsRefused(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	agent := "agent_" + ulidOf(1)
	hook := "/v1/webhooks/" + d.create("/v1/webhooks", m{"url": "https://example.com/hook", "events": []string{"*"}})
	base := "/v1/knowledge-base/" + d.create("/v1/knowledge-base", m{"name": "k"}) + "/search"
	for _, c := range []struct {
		method, path, body, param string
		status                    int
	}{
		{"POST", "/v1/users", `{"name":"Z","role":"viewer","ROLE":"root"}`, "ROLE", 422},
		{"POST", "/v1/users", `{"name":"Z","role":"viewer","role":"manager"}`, "role", 400},
		{"POST", "/v1/api-keys", `{"name":"k","permissions":["calls:read"],"PERMISSIONS":["*:read"]}`, "PERMISSIONS", 422},
		{"POST", "/v1/agents", `{"name":"x","\u006eame":"z","first_message":"h"}`, "name", 400},
		{"POST", "/v1/agents", `{"name":"x","first_message":"h","first_me\u017fsage":"k"}`, "first_me\u017fsage", 422},
		{"POST", "/v1/agents", "{\"name\":\"x\xff\",\"first_message\":\"h\"}", "name", 400},
		{"POST", "/v1/campaigns", `{"name":"x","agent_id":"` + agent + `","retry":{"enabled":true,"Max_Attempts":9}}`, "retry.Max_Attempts", 422},
		{"POST", "/v1/campaigns", `{"name":"x","agent_id":"` + agent + `","retry":{"enabled":true,"max_attempts":2,"max_attempts":9}}`, "retry.max_attempts", 400},
		{"PATCH", hook, `{"secret":"","SECRET_OVERLAP_HOURS":-99}`, "SECRET_OVERLAP_HOURS", 422},
		{"POST", "/v1/calls/outbound", `{"to":"+12025550123","agent_id":"` + agent + `","context":{"a":[{"b":1,"b":2}]}}`, "context.a[0].b", 400},
		{"POST", "/v1/calls/outbound", `{"to":"+12025550123","agent_id":"` + agent + `","context":{"a":1e400}}`, "context.a", 422},
		{"POST", base, `{"query":"x","top_k":5,"TOP_K":1600000000}`, "TOP_K", 422},
		{"POST", base, `{"query":"x","top_k":1600000000}`, "top_k", 422},
		{"POST", "/v1/bulk/calls", `{"items":[{"to":"+12025550123"}],"ITEMS":[]}`, "ITEMS", 422},
		{"POST", "/v1/bulk/calls", `{"items":[{"to":"+12025550123","to":"+12025550124"}]}`, "items[0].to", 400},
		{"POST", "/v1/bulk/calls", `{"defaults":{"AGENT_ID":"a"},"items":[{"to":"+12025550123"}]}`, "defaults.AGENT_ID", 422},
	} {
		r := d.do(c.method, c.path, "operator", c.body)
		f := r.failure(t)
		assert.Equal(t, []any{c.status, c.param}, []any{r.Status, f["param"]}, "%s %s %s", c.path, c.body, r.Body)
		assert.Contains(t, f["message"], c.param, c.body)
		for _, word := range []string{"Go value", "unmarshal", "float64", "struct field", "json:"} {
			assert.NotContains(t, string(r.Body), word, c.body)
		}
	}
}

func TestIntegersAreAcceptedInAnyNotation(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	for text, status := range map[string]int{"3600": 200, "3600.0": 200, "3.6e3": 200, "36000E-1": 200, "3600.5": 422, `"3600"`: 422, "1e400": 422} {
		r := d.do("POST", "/v1/auth/token", "operator", `{"user_id":"u","permissions":["calls:read"],"expires_in":`+text+`}`)
		assert.Equal(t, status, r.Status, "%s %s", text, r.Body)
	}
}

func TestFreeFormNumbersKeepTheirNotation(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	const free = `{"A":2,"a":1,"acct":9007199254740993,"deep":{"n":[-9007199254740993,1.0,1e2]}}`
	d.must(201, "POST", "/v1/calls/outbound", "operator", `{"to":"+12025550123","agent_id":"agent_`+ulidOf(1)+`","context":`+free+`}`)
	stored, err := domain.EncodeJSON(d.orders[len(d.orders)-1].Context)
	require.NoError(t, err)
	assert.Equal(t, free, string(stored)) //nolint:testifylint // the comparison is byte by byte
}
