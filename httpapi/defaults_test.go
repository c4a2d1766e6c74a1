package httpapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/httpapi"
)

// A member with the zero value in a request body gets the same default as a missing member.
func TestZeroMeansDefaultInRequestBody(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	trunk := func(outbound m) m {
		return m{"name": "t", "proxies": []m{{"host": "192.0.2.1", "weight": 1}}, "outbound_proxy": outbound}
	}
	for _, one := range []struct {
		path  string
		body  m
		taken string // member that is missing in the response
		param string // parameter of the error
	}{
		{path: "/v1/agents", body: m{"name": "a", "first_message": "Hi", "on_inbound": m{"timeout_ms": 0}}, taken: "on_inbound"},
		{path: "/v1/agents", body: m{"name": "a", "first_message": "Hi", "on_inbound": m{}}, taken: "on_inbound"},
		{path: "/v1/agents", body: m{"name": "a", "first_message": "Hi", "on_inbound": m{"timeout_ms": 200}}, param: "on_inbound.url"},
		{path: "/v1/trunks", body: trunk(m{"host": "", "weight": 0}), taken: "outbound_proxy"},
		{path: "/v1/trunks", body: trunk(m{"host": "", "weight": 1}), taken: "outbound_proxy"},
		{path: "/v1/trunks", body: trunk(m{"host": "", "port": 5080, "weight": 1}), param: "outbound_proxy.host"},
	} {
		r := d.do("POST", one.path, "operator", one.body)
		if one.param != "" {
			assert.Equal(t, []any{422, one.param}, []any{r.Status, r.failure(t)["param"]}, "%v", one.body)
			continue
		}
		assert.Equal(t, []any{201, nil}, []any{r.Status, r.json(t)[one.taken]}, "%v %s", one.body, r.Body)
	}
	agent := d.create("/v1/agents", m{"name": "a", "first_message": "Hi", "on_inbound": m{"url": "https://example.com/calls"}})
	assert.Nil(t, d.must(200, "PATCH", "/v1/agents/"+agent, "operator", m{"on_inbound": nil}).json(t)["on_inbound"])
	id := d.create("/v1/trunks", trunk(m{"host": "sip.example.com"}))
	assert.Nil(t, d.must(200, "PATCH", "/v1/trunks/"+id, "operator", m{"outbound_proxy": nil}).json(t)["outbound_proxy"])
}

func TestCallDefaults(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	for body, want := range map[string][]any{
		``:                              {201, 30 * time.Second, true},
		`,"record":true`:                {201, 30 * time.Second, true},
		`,"record":false`:               {201, 30 * time.Second, false},
		`,"record":null`:                {201, 30 * time.Second, true},
		`,"ring_timeout_seconds":12`:    {201, 12 * time.Second, true},
		`,"ring_timeout_seconds":null`:  {201, 30 * time.Second, true},
		`,"ring_timeout_seconds":0`:     {422},
		`,"ring_timeout_seconds":121`:   {422},
		`,"record":"false"`:             {422},
		`,"amd":{},"voicemail":{}`:      {422},
		`,"amd":{"mode":"no such one"}`: {422},
	} {
		text := `{"to":"+12025550123","agent_id":"agent_` + ulidOf(1) + `"` + body + `}`
		r := d.do("POST", "/v1/calls/outbound", "operator", text)
		got := []any{r.Status}
		if r.Status == 201 {
			o := d.orders[len(d.orders)-1]
			got = append(got, o.RingTimeout, o.Record)
		}
		assert.Equal(t, want, got, "%s %s", text, r.Body)
	}
}
