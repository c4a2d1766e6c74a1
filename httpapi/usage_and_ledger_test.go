package httpapi_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

func TestUsageRangeIsInDays(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	u := d.must(200, "GET", "/v1/usage?from=2026-03-01&to=2026-04-02", "operator", nil).json(t)
	assert.Equal(t, "2026-03-01", u["from"])
	assert.Equal(t, "2026-04-02", u["to"])
	total, _ := u["total"].(m)
	assert.Equal(t, m{"amount": "0.10", "currency": "USD"}, total["amount"])
	u = d.must(200, "GET", "/v1/usage?to=2026-02-10", "operator", nil).json(t)
	assert.Equal(t, "2026-02-01", u["from"], "the month that contains the last day")
	u = d.must(200, "GET", "/v1/usage?from=2026-02-01T23:30:00-01:00&to=2026-02-10", "operator", nil).json(t)
	assert.Equal(t, "2026-02-02", u["from"], "a day in UTC")
	for query, param := range map[string]string{
		"from=yesterday": "from", "to=2026-02-30": "to", "from=2026-03-02&to=2026-03-01": "to", "from=2025-01-01&to=2026-03-01": "from",
	} {
		for _, path := range []string{"/v1/usage?", "/v1/usage/ledger?"} {
			f := d.must(422, "GET", path+query, "operator", nil).failure(t)
			assert.Equal(t, param, f["param"], path+query)
		}
	}
	assert.Equal(t, "format", d.must(422, "GET", "/v1/usage/ledger?format=xml", "operator", nil).failure(t)["param"])
}

func TestLedgerDownload(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	r := d.must(200, "GET", "/v1/usage/ledger?from=2026-03-01&to=2026-03-31", "operator", nil)
	assert.Equal(t, "text/csv; charset=utf-8; header=present", r.Header.Get("Content-Type"))
	assert.Contains(t, r.Header.Get("Content-Disposition"), "ledger-2026-03-01-2026-03-31.csv")
	assert.Equal(t, "attempt_id,call_id,campaign_id,direction,opened_at,closed_at,seconds,plan,included,amount,currency\r\n"+
		"a/1,call_1,campaign_1,outbound,2026-03-31T23:59:59.000Z,2026-04-01T00:00:00.000Z,1,starter,true,0.00,USD\r\n"+
		"call_2,call_1,,outbound,2026-03-31T23:59:59.000Z,2026-04-01T00:00:00.000Z,1,starter,false,0.10,USD\r\n", string(r.Body))
	r = d.must(200, "GET", "/v1/usage/ledger?format=jsonl", "operator", nil)
	assert.Equal(t, "application/x-ndjson", r.Header.Get("Content-Type"))
	lines := strings.Split(strings.TrimSpace(string(r.Body)), "\n")
	assert.Len(t, lines, 2)
	assert.JSONEq(t, `{"attempt_id":"call_2","call_id":"call_1","campaign_id":"","direction":"outbound","opened_at":"2026-03-31T23:59:59.000Z",
		"closed_at":"2026-04-01T00:00:00.000Z","seconds":1,"plan":"starter","included":false,"amount":{"amount":"0.10","currency":"USD"}}`, lines[1])
}

func TestOnlyOperatorsChangePricing(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	price := m{"pricing": m{"included_attempts": 100, "price_per_attempt": m{"amount": "0.05"}}}
	assert.Equal(t, "operator_required", d.must(403, "PATCH", "/v1/workspace", "all", price).failure(t)["code"])
	w := d.must(200, "PATCH", "/v1/workspace", "operator", price).json(t)
	assert.Equal(t, m{"included_attempts": 100.0, "price_per_attempt": m{"amount": "0.05", "currency": "USD"}}, w["pricing"])
	assert.Equal(t, "pricing.price_per_attempt", d.must(422, "PATCH", "/v1/workspace", "operator", m{"pricing": m{"price_per_attempt": m{"amount": "much"}}}).failure(t)["param"])
	w = d.must(200, "PATCH", "/v1/workspace", "operator", m{"plan": "starter"}).json(t)
	assert.NotContains(t, w, "pricing")
	assert.Equal(t, "pricing", d.must(422, "PATCH", "/v1/workspace", "operator", price).failure(t)["param"])
}

func TestAbortedLedgerStreamClosesConnection(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.campaignErr = errors.New("the store went away")
	res, err := d.client.Do(d.request("/v1/usage/ledger"))
	if err == nil { // the status line may have been sent before
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	require.Error(t, err)
}
