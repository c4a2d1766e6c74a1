package httpapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/httpapi"
)

func TestTrunkCostIsLimited(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	body := func(cost string) m {
		return m{"name": "carrier", "proxies": []m{{"host": "sip.example.com"}}, "costs": []m{{"prefix": "+", "cost": cost}}}
	}
	for _, cost := range []string{"-1", "NaN", "Infinity", "1e3", "1000.01", "999999999999", "0.0000001"} {
		f := d.must(422, "POST", "/v1/trunks", "operator", body(cost)).failure(t)
		assert.Equal(t, "costs[0].cost", f["param"], cost)
		assert.Contains(t, f["message"], "1000.00", cost)
	}
	d.create("/v1/trunks", body("1000"))
}

func TestSpendCapWithoutCostsWarns(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	assert.NotContains(t, d.must(200, "GET", "/v1/workspace", "operator", nil).json(t), "warnings")
	w := d.must(200, "PATCH", "/v1/workspace", "operator", m{"calling": m{"daily_spend_cap": m{"amount": "1.00"}}}).json(t)
	want := []any{m{"code": "spend_cap_without_costs", "param": "calling.daily_spend_cap", "message": "The cap does not hold."}}
	assert.Equal(t, want, w["warnings"])
	assert.Equal(t, want, d.must(200, "GET", "/v1/workspace", "operator", nil).json(t)["warnings"])
}

func TestOperatorPatchOfNumberRewriteApprovesIt(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.create("/v1/trunks", m{"name": "carrier", "proxies": []m{{"host": "sip.example.com"}}, "number_add": "9"})
	patch := func(path, body string) any {
		t.Helper()
		return d.must(200, "PATCH", path+id, "operator", body).json(t)["number_rewrite_approved"]
	}
	tenant := "/v1/workspaces/" + d.create("/v1/workspaces", m{"name": "clinic"}) + "/trunks/"
	assert.Nil(t, patch("/v1/trunks/", `{"name": "other"}`))
	assert.Nil(t, patch(tenant, `{"name": "third"}`))
	assert.Equal(t, true, patch(tenant, `{"number_add": "9"}`), "the rule also covers the stored value")
	id = d.create("/v1/trunks", m{"name": "carrier", "proxies": []m{{"host": "sip.example.com"}}, "number_add": "9"})
	assert.Equal(t, true, patch("/v1/trunks/", `{"number_strip": ""}`))
}
