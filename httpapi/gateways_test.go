package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/service/sms"
)

func goodGateway() m {
	return m{"name": "House", "url": "https://example.com/sms"}
}

// errorParams returns the sorted request fields that an error response names.
func errorParams(t *testing.T, r reply) (out []string) {
	t.Helper()
	details, _ := r.failure(t)["details"].([]any)
	for _, d := range details {
		one, _ := d.(m)
		name, _ := one["param"].(string)
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func TestSMSGatewaySecretIsShownOnce(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	r := d.must(201, "POST", "/v1/sms-gateways", "operator", goodGateway())
	assert.Contains(t, string(r.Body), "whsec_made")
	id, _ := r.json(t)["id"].(string)
	for _, r := range []reply{
		d.must(200, "GET", "/v1/sms-gateways", "operator", nil), d.must(200, "GET", "/v1/sms-gateways/"+id, "operator", nil),
		d.must(200, "PATCH", "/v1/sms-gateways/"+id, "operator", m{"priority": 1}),
	} {
		assert.NotContains(t, string(r.Body), "whsec_made")
		assert.Contains(t, string(r.Body), "…made")
	}
	r = d.must(200, "PATCH", "/v1/sms-gateways/"+id, "operator", m{"secret": "whsec_another"})
	assert.Contains(t, string(r.Body), "whsec_another")
}

func TestSMSGatewayErrorsNameTheirFields(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	r := d.must(422, "POST", "/v1/sms-gateways", "operator", m{"name": "", "url": "http://example.com", "secret": "x", "prefixes": []string{"abc"}, "priority": 1})
	assert.Equal(t, []string{"name", "prefixes[0]", "secret", "url"}, errorParams(t, r))
	id := d.create("/v1/sms-gateways", goodGateway())
	at := "/v1/sms-gateways/" + id + "/events"
	r = d.must(422, "POST", at, "operator", m{"events": []m{{"type": "received", "from": "1", "to": "2", "id": "1", "body": strings.Repeat("x", 1601)}}})
	assert.Equal(t, []string{"events[0].body"}, errorParams(t, r))
	r = d.must(422, "POST", at, "operator", m{"events": []m{
		{"type": "received", "from": "", "to": "nobody", "body": "x"}, {"type": "delivered", "message_id": "x"},
	}})
	assert.Equal(t, []string{"events[0].from", "events[0].id", "events[0].to", "events[1].message_id"}, errorParams(t, r))
	d.must(422, "POST", at, "operator", m{"events": []m{{"type": "read", "message_id": "x"}}})
	r = d.must(200, "POST", at, "operator", m{"events": []m{
		{"type": "received", "id": "1", "from": "12345", "to": "(202) 555-0190", "body": "hello"},
		{"type": "undelivered", "message_id": "msg_" + ulidOf(3), "error_code": "off"},
	}})
	results, _ := r.json(t)["results"].([]any)
	assert.Len(t, results, 2)
	first, _ := results[0].(m)
	assert.Equal(t, "to", first["error"].(m)["param"])
	received, _ := d.arguments[len(d.arguments)-1].([]sms.GatewayEvent)
	assert.Equal(t, "12345", received[0].From)
	assert.Equal(t, "+12025550190", received[0].To)
}
