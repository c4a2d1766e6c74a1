package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

func (d *door) limited(requests, calls int) {
	w := *d.workspace
	w.Limits = domain.Limits{RequestsPerMinute: requests, CallsPerMinute: calls, ConcurrentOutbound: 5}
	d.workspace = &w
}

func TestTheWorkspaceHasItsRequestsABurstAndThen429(t *testing.T) {
	d := open(t, httpapi.Config{})
	d.limited(6, 10)
	var statuses []int
	var last reply
	for range 8 {
		last = d.do("GET", "/v1/agents", "operator", nil)
		statuses = append(statuses, last.Status)
	}
	assert.Equal(t, []int{200, 200, 200, 200, 200, 200, 200, 429}, statuses, "six and ⌈0.15·6⌉ = 1 more")
	e := last.failure(t)
	after, err := strconv.Atoi(last.Header.Get("Retry-After"))
	require.NoError(t, err)
	assert.Equal(t, "rate_limit_exceeded", e["code"])
	assert.InDelta(t, float64(after), e["retry_after"], 0)
	reset, err := strconv.ParseInt(last.Header.Get("X-RateLimit-Reset"), 10, 64)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Minute), time.Unix(reset, 0), 10*time.Second)
	assert.Equal(t, []string{"6", "0", "60"}, []string{last.Header.Get("X-RateLimit-Limit"), last.Header.Get("X-RateLimit-Remaining"), last.Header.Get("X-RateLimit-Window")})
	d.must(200, "GET", "/healthz", "", nil)
}

func TestPlacingCallsHasItsOwnLimit(t *testing.T) {
	d := open(t, httpapi.Config{})
	d.limited(100, 2)
	call := m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}
	var got []string
	for range 4 {
		r := d.do("POST", "/v1/calls/outbound", "operator", call)
		got = append(got, strconv.Itoa(r.Status)+" "+r.Header.Get("X-RateLimit-Limit")+" "+r.Header.Get("X-RateLimit-Remaining"))
	}
	assert.Equal(t, []string{"201 2 1", "201 2 0", "201 2 0", "429 2 0"}, got)
	assert.Equal(t, "100", d.must(200, "GET", "/v1/calls", "operator", nil).Header.Get("X-RateLimit-Limit"))
}

func TestOneUserHasHalfOfTheRateAndNoBurst(t *testing.T) {
	d := open(t, httpapi.Config{PublicURL: base})
	ada, bea := d.issued("ada", "calls:read", "calls:write"), d.issued("bea", "calls:read") // two requests of the key
	d.limited(22, 3)
	shown := func(r reply) string {
		return strconv.Itoa(r.Status) + " " + r.Header.Get("X-RateLimit-Limit") + " " + r.Header.Get("X-RateLimit-Remaining")
	}
	ask := func(token string) string { return shown(d.do("GET", "/v1/calls", token, nil)) }
	call := m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}
	assert.Equal(t, "201 3 2", shown(d.do("POST", "/v1/calls/outbound", ada, call)), "the path's is the tightest")
	got := make([]string, 0, 13)
	for range 11 {
		got = append(got, ask(ada))
	}
	assert.Equal(t, []string{
		"200 11 9", "200 11 8", "200 11 7", "200 11 6", "200 11 5", "200 11 4", "200 11 3", "200 11 2", "200 11 1", "200 11 0", "429 11 0",
	}, got, "half of 22, and no burst")
	got = got[:0]
	for range 13 {
		got = append(got, ask(bea))
	}
	assert.Equal(t, []string{
		"200 22 8", "200 22 7", "200 22 6", "200 22 5", "200 22 4", "200 22 3", "200 22 2", "200 22 1", "200 22 0", "200 22 0", "200 22 0", "429 11 0", "429 11 0",
	}, got, "the workspace's is the tighter now, and its burst is for whoever is within his own half")
}

func TestWhatIsUsedOfTheLimitsIsTold(t *testing.T) {
	d := open(t, httpapi.Config{})
	d.limited(100, 7)
	call := m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}
	for range 3 {
		d.must(201, "POST", "/v1/calls/outbound", "operator", call)
	}
	before := time.Now()
	use := d.must(200, "GET", "/v1/usage/rate-limits", "operator", nil).json(t)
	window, _ := use["current_window"].(m)
	reset, err := time.Parse(time.RFC3339, fmt.Sprint(window["window_reset"]))
	require.NoError(t, err)
	assert.WithinRange(t, reset, before, before.Add(61*time.Second))
	delete(window, "window_reset")
	of := func(made, limit, window float64) m {
		return m{"requests_made": made, "requests_limit": limit, "window_seconds": window}
	}
	assert.Equal(t, of(4, 100, 60), window, "this request included")
	assert.Equal(t, m{
		"/v1/calls/outbound": of(3, 7, 60), "/v1/sms": of(0, 100, 60), "/v1/knowledge-base": of(0, 60, 60), "/v1/exports": of(0, 10, 3600), "/v1/bulk/*": of(0, 5, 60),
	}, use["endpoints"])
}

func TestBadCredentialsAreBoundedByAddress(t *testing.T) {
	d := open(t, httpapi.Config{TrustedProxies: loopback()})
	from := func(forwarded string) reply {
		return d.do("GET", "/v1/agents", "nobody's", nil, "X-Forwarded-For", forwarded)
	}
	for range 30 {
		require.Equal(t, 401, from("198.51.100.7").Status)
	}
	assert.Equal(t, 429, from("198.51.100.7").Status)
	assert.Equal(t, 429, from("203.0.113.9, 198.51.100.7").Status, "what stands further left is hearsay")
	assert.Equal(t, 429, from("203.0.113.9, 198.51.100.7, 127.0.0.1").Status, "a trusted proxy is stepped over")
	assert.Equal(t, 401, from("198.51.100.8").Status)
	assert.Equal(t, 200, d.do("GET", "/v1/agents", "operator", nil, "X-Forwarded-For", "198.51.100.7").Status, "a good key is not punished")
	plain := open(t, httpapi.Config{})
	for range 30 {
		plain.do("GET", "/v1/agents", "nobody's", nil, "X-Forwarded-For", addressNo(1))
	}
	assert.Equal(t, http.StatusTooManyRequests, plain.do("GET", "/v1/agents", "nobody's", nil, "X-Forwarded-For", addressNo(2)).Status,
		"without a trusted proxy the header counts for nothing")
}

func TestAnIdempotencyKeyMakesARequestOnce(t *testing.T) {
	d := open(t, httpapi.Config{})
	key := []string{"Idempotency-Key", "order-1"}
	hook := m{"url": "https://example.com/hook", "events": []string{"*"}}
	first := d.must(201, "POST", "/v1/webhooks", "operator", hook, key...)
	again := d.must(201, "POST", "/v1/webhooks", "operator", hook, key...)
	assert.Equal(t, []any{string(first.Body), "true", ""}, []any{string(again.Body), again.Header.Get("Idempotent-Replayed"), first.Header.Get("Idempotent-Replayed")})
	assert.Len(t, d.webhooks.rows, 1)
	for _, r := range d.replies {
		assert.NotContains(t, string(r.Sealed), "whsec_made", "the stored answer is sealed")
	}
	hook["events"] = []string{"call.*"}
	assert.Equal(t, "idempotency_mismatch", d.must(422, "POST", "/v1/webhooks", "operator", hook, key...).failure(t)["code"])
	hook["events"] = []string{"nothing"}
	d.must(422, "POST", "/v1/webhooks", "operator", hook, "Idempotency-Key", "order-2")
	hook["events"] = []string{"*"}
	d.must(201, "POST", "/v1/webhooks", "operator", hook, "Idempotency-Key", "order-2")
	for k := range d.replies {
		d.running[k] = true
	}
	assert.Equal(t, "idempotency_conflict", d.must(409, "POST", "/v1/webhooks", "operator", hook, key...).failure(t)["code"])

	id := d.make("/v1/campaigns", m{"name": "c", "agent_id": "agent_" + ulidOf(1)})
	upload := func(csv string) reply {
		return d.do("POST", "/v1/campaigns/"+id+"/contacts", "operator", csv, "Content-Type", "text/csv", "Idempotency-Key", "list")
	}
	require.Equal(t, 200, upload("phone\n+12025550123\n").Status)
	require.Equal(t, "true", upload("phone\n+12025550123\n").Header.Get("Idempotent-Replayed"))
	assert.Equal(t, 422, upload("phone\n+12025550124\n").Status)
	assert.Len(t, d.contacts, 1)

	columns := func(query string) reply {
		return d.do("POST", "/v1/campaigns/"+id+"/contacts"+query, "operator", "home,office\n+12025550125,+12025550126\n", "Content-Type", "text/csv", "Idempotency-Key", "columns")
	}
	require.Equal(t, 200, columns("?phone_column=home").Status)
	require.Equal(t, "true", columns("?phone_column=home").Header.Get("Idempotent-Replayed"))
	other := columns("?phone_column=office")
	require.Equal(t, 422, other.Status)
	assert.Equal(t, "idempotency_mismatch", other.failure(t)["code"], "the query says what is to be done, too")
}

func TestAKeyIsGivenBackOnlyWhereNothingWasDone(t *testing.T) {
	d := open(t, httpapi.Config{})
	id := d.make("/v1/campaigns", m{"name": "c", "agent_id": "agent_" + ulidOf(1)})
	send := func(n int) int {
		return d.do("POST", "/v1/campaigns/"+id+"/cancel", "operator", nil, "Idempotency-Key", strconv.Itoa(n)).Status
	}
	for i, fault := range []error{
		domain.Errorf(domain.CodeConcurrentLimit, "No line is free."), domain.Errorf(domain.CodeUnavailable, "The store does not answer."),
		errors.New("disk on fire"), context.DeadlineExceeded,
	} {
		d.fault = fault
		assert.Equal(t, []int{429, 503, 500, 503}[i], send(i))
	}
	d.fault, d.stumble = nil, true
	assert.Equal(t, 500, send(9))
	assert.Equal(t, []bool{false, true, true, true, true}, d.unknown)
	assert.Empty(t, d.running)
}
