package httpapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/httpapi"
)

func TestFiltersOfAnEndpointAreCheckedReplacedAndEnded(t *testing.T) {
	d := open(t, httpapi.Config{})
	body := func(f m) m { return m{"url": "https://example.com", "events": []string{"*"}, "filters": f} }
	e := d.must(422, "POST", "/v1/webhooks", "operator", body(m{
		"agent_ids": []string{"agent_1"}, "campaign_ids": []string{"agent_" + ulidOf(1)}, "directions": []string{"up"}, "numbers": []string{"12"},
	})).failure(t)
	var params []any
	for _, detail := range e["details"].([]any) {
		params = append(params, detail.(m)["param"])
	}
	assert.Equal(t, []any{"filters.agent_ids[0]", "filters.campaign_ids[0]", "filters.directions[0]", "filters.numbers[0]"}, params)
	d.must(422, "POST", "/v1/webhooks", "operator", body(m{"agents": []string{"agent_" + ulidOf(1)}}))
	id := d.make("/v1/webhooks", body(m{"campaign_ids": []string{"camp_" + ulidOf(1)}, "numbers": []string{"+1 202 555 0100"}}))
	get := func() any { return d.must(200, "GET", "/v1/webhooks/"+id, "operator", nil).json(t)["filters"] }
	assert.Equal(t, m{"campaign_ids": []any{"campaign_" + ulidOf(1)}, "numbers": []any{"+12025550100"}}, get())
	d.must(200, "PATCH", "/v1/webhooks/"+id, "operator", m{"events": []string{"call.*"}})
	assert.NotNil(t, get(), "what is left out stays")
	d.must(200, "PATCH", "/v1/webhooks/"+id, "operator", m{"filters": m{"directions": []string{"inbound"}}})
	assert.Equal(t, m{"directions": []any{"inbound"}}, get())
	d.must(422, "PATCH", "/v1/webhooks/"+id, "operator", m{"filters": m{"directions": []string{"down"}}})
	d.must(200, "PATCH", "/v1/webhooks/"+id, "operator", m{"filters": m{}})
	assert.Nil(t, get())
	assert.Equal(t, "event", d.must(422, "GET", "/v1/webhooks?event=call.eaten", "operator", nil).failure(t)["param"])
	d.must(422, "GET", "/v1/webhooks?status=asleep", "operator", nil)
	d.must(200, "GET", "/v1/webhooks?status=paused&event=call.initiated", "operator", nil)
}
