package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

func (d *testServer) setLimits(requests, calls int) {
	w := *d.workspace
	w.Limits = domain.Limits{RequestsPerMinute: requests, CallsPerMinute: calls, ConcurrentOutbound: 5}
	d.workspace = &w
}

func TestRateLimitAllowsBurstThen429(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.setLimits(6, 10)
	var statuses []int
	var last reply
	for range 8 {
		last = d.do("GET", "/v1/agents", "operator", nil)
		statuses = append(statuses, last.Status)
	}
	assert.Equal(t, []int{200, 200, 200, 200, 200, 200, 200, 429}, statuses, "6 and ⌈0.15·6⌉ = 1 more as a burst")
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

func TestOutboundCallsHaveSeparateRateLimit(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.setLimits(100, 2)
	call := m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}
	var got []string
	for range 4 {
		r := d.do("POST", "/v1/calls/outbound", "operator", call)
		got = append(got, strconv.Itoa(r.Status)+" "+r.Header.Get("X-RateLimit-Limit")+" "+r.Header.Get("X-RateLimit-Remaining"))
	}
	assert.Equal(t, []string{"201 2 1", "201 2 0", "201 2 0", "429 2 0"}, got)
	assert.Equal(t, "100", d.must(200, "GET", "/v1/calls", "operator", nil).Header.Get("X-RateLimit-Limit"))
}

func TestUserRateLimitIsHalfWithoutBurst(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	ada, bea := d.userToken("ada", "calls:read", "calls:write"), d.userToken("bea", "calls:read") // two requests with the API key
	d.setLimits(22, 3)
	shown := func(r reply) string {
		return strconv.Itoa(r.Status) + " " + r.Header.Get("X-RateLimit-Limit") + " " + r.Header.Get("X-RateLimit-Remaining")
	}
	ask := func(token string) string { return shown(d.do("GET", "/v1/calls", token, nil)) }
	call := m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}
	assert.Equal(t, "201 3 2", shown(d.do("POST", "/v1/calls/outbound", ada, call)), "the limit of the route is the strictest")
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

func TestRateLimitUsageIsReturned(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.setLimits(100, 7)
	call := m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}
	for range 3 {
		d.must(201, "POST", "/v1/calls/outbound", "operator", call)
	}
	before := time.Now()
	usage := d.must(200, "GET", "/v1/usage/rate-limits", "operator", nil).json(t)
	window, _ := usage["current_window"].(m)
	reset, err := time.Parse(time.RFC3339, fmt.Sprint(window["window_reset"]))
	require.NoError(t, err)
	assert.WithinRange(t, reset, before, before.Add(61*time.Second))
	delete(window, "window_reset")
	of := func(made, limit, window float64) m {
		return m{"requests_made": made, "requests_limit": limit, "window_seconds": window}
	}
	assert.Equal(t, of(4, 100, 60), window, "including this request")
	assert.Equal(t, m{
		"/v1/calls/outbound": of(3, 7, 60), "/v1/sms": of(0, 100, 60), "/v1/knowledge-base": of(0, 60, 60), "/v1/exports": of(0, 10, 3600), "/v1/bulk/*": of(0, 5, 60),
	}, usage["endpoints"])
}

func TestInvalidCredentialsAreRateLimitedByAddress(t *testing.T) {
	d := startServer(t, httpapi.Config{TrustedProxies: loopback()})
	from := func(forwarded string) reply {
		return d.do("GET", "/v1/agents", "nobody's", nil, "X-Forwarded-For", forwarded)
	}
	for range 30 {
		require.Equal(t, 401, from("198.51.100.7").Status)
	}
	assert.Equal(t, 429, from("198.51.100.7").Status)
	assert.Equal(t, 429, from("203.0.113.9, 198.51.100.7").Status, "addresses further left are not trusted")
	assert.Equal(t, 429, from("203.0.113.9, 198.51.100.7, 127.0.0.1").Status, "the address of a trusted proxy is skipped")
	assert.Equal(t, 401, from("198.51.100.8").Status)
	assert.Equal(t, 200, d.do("GET", "/v1/agents", "operator", nil, "X-Forwarded-For", "198.51.100.7").Status, "failures do not limit a valid key")
	plain := startServer(t, httpapi.Config{})
	for range 30 {
		plain.do("GET", "/v1/agents", "nobody's", nil, "X-Forwarded-For", addressNo(1))
	}
	assert.Equal(t, http.StatusTooManyRequests, plain.do("GET", "/v1/agents", "nobody's", nil, "X-Forwarded-For", addressNo(2)).Status,
		"without a trusted proxy the header counts for nothing")
}

func TestIdempotencyKeyRunsRequestOnce(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	key := []string{"Idempotency-Key", "order-1"}
	hook := m{"url": "https://example.com/hook", "events": []string{"*"}}
	first := d.must(201, "POST", "/v1/webhooks", "operator", hook, key...)
	again := d.must(201, "POST", "/v1/webhooks", "operator", hook, key...)
	assert.Equal(t, []any{string(first.Body), "true", ""}, []any{string(again.Body), again.Header.Get("Idempotent-Replayed"), first.Header.Get("Idempotent-Replayed")})
	assert.Len(t, d.webhooks.rows, 1)
	for _, r := range d.replies {
		assert.NotContains(t, string(r.Sealed), "whsec_made", "the stored response is encrypted")
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

	id := d.create("/v1/campaigns", m{"name": "c", "agent_id": "agent_" + ulidOf(1)})
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
	assert.Equal(t, "idempotency_mismatch", other.failure(t)["code"], "the query is part of the comparison")
}

func TestIdempotencyKeyIsReleasedWhenRequestHadNoEffect(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.create("/v1/campaigns", m{"name": "c", "agent_id": "agent_" + ulidOf(1)})
	send := func(n int) int {
		return d.do("POST", "/v1/campaigns/"+id+"/cancel", "operator", nil, "Idempotency-Key", strconv.Itoa(n)).Status
	}
	for i, fault := range []error{
		domain.Errorf(domain.CodeConcurrentLimit, "No line is free."), domain.Errorf(domain.CodeUnavailable, "The store does not answer."),
		errors.New("disk on fire"), context.DeadlineExceeded,
	} {
		d.campaignErr = fault
		assert.Equal(t, []int{429, 503, 500, 503}[i], send(i))
	}
	d.campaignErr, d.panicOnCancel = nil, true
	assert.Equal(t, 500, send(9))
	assert.Equal(t, []bool{false, true, true, true, true}, d.releases)
	assert.Empty(t, d.running)
}

// testKeyFor adds an API key of the test environment that has the permissions of the key with this name.
func (d *testServer) testKeyFor(name string) string {
	p := d.keys[name]
	p.KeyID, p.Environment = p.KeyID+"_test", domain.Test
	d.keys["test "+name] = p
	return "test " + name
}

func TestPathLimitIsChargedAfterPermissionAndValidation(t *testing.T) {
	for name, c := range map[string]struct {
		path     string
		good     m
		status   int
		limit    int          // 0: the limit is not reached
		refusals map[string]m // refused bodies by credential and status; nil: no body
	}{
		"exports": {"/v1/exports", m{"type": "calls"}, 202, 10, map[string]m{
			"operator 422": {"type": "nothing"}, "operator 422 of the handler": {"type": "contacts"}, "agents:read 403": {"type": "calls"},
			"calls:read 403 of the handler": {"type": "usage"},
		}},
		"bulk": {"/v1/bulk/dnc", m{"items": []m{{"phone": "+12025550191"}}}, 202, 5, map[string]m{
			"operator 422": {"items": "x"}, "calls:read 403": {"items": []m{{"phone": "+12025550191"}}}, "operator 400": nil,
		}},
		"calls": {"/v1/calls/outbound", m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}, 201, 4, map[string]m{
			"operator 422": {"to": "+12025550123"}, "operator 429": {"to": "+12025550199", "agent_id": "agent_" + ulidOf(1)}, "calls:read 403": {"to": "+12025550123"},
		}},
		"knowledge base": {"/v1/knowledge-base", m{"name": "k"}, 201, 0, map[string]m{"operator 422": {"nam": "k"}, "agents:read 403": {"name": "k"}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := startServer(t, httpapi.Config{})
			d.setLimits(1000, 4)
			for what, body := range c.refusals {
				credential, rest, _ := strings.Cut(what, " ")
				var sent any = body
				if body == nil {
					sent = "{"
				}
				r := d.do("POST", c.path, credential, sent)
				require.Equal(t, rest[:3], strconv.Itoa(r.Status), "%s: %s", what, r.Body)
				assert.Equal(t, "1000", r.Header.Get("X-RateLimit-Limit"), "%s: the general limit was counted", what)
			}
			if c.limit == 0 {
				use, _ := d.must(200, "GET", "/v1/usage/rate-limits", "operator", nil).json(t)["endpoints"].(m)[c.path].(m)
				assert.InDelta(t, 0, use["requests_made"], 0)
			}
			for n := range c.limit {
				r := d.must(c.status, "POST", c.path, "operator", c.good)
				require.Equal(t, []string{strconv.Itoa(c.limit), strconv.Itoa(c.limit - n - 1)}, []string{r.Header.Get("X-RateLimit-Limit"), r.Header.Get("X-RateLimit-Remaining")})
			}
			d.must(c.status, "POST", c.path, d.testKeyFor("operator"), c.good)
			for range c.limit { // the burst is smaller than the limit
				if r := d.do("POST", c.path, "operator", c.good); r.Status == http.StatusTooManyRequests {
					assert.Equal(t, strconv.Itoa(c.limit), r.Header.Get("X-RateLimit-Limit"))
					return
				}
			}
			assert.Zero(t, c.limit, "no request was limited")
		})
	}
}

func TestReadsOfBulkJobsAndExportsDoNotCountAgainstPathLimit(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	job, _ := d.must(202, "POST", "/v1/bulk/dnc", "operator", m{"items": []m{{"phone": "+12025550191"}}}).json(t)["id"].(string)
	file, _ := d.must(202, "POST", "/v1/exports", "operator", m{"type": "calls"}).json(t)["id"].(string)
	for _, path := range []string{"/v1/bulk/" + job, "/v1/bulk/" + job + "/items", "/v1/bulk", "/v1/exports", "/v1/exports/" + file} {
		for range 12 {
			d.must(200, "GET", path, "operator", nil)
		}
	}
	use, _ := d.must(200, "GET", "/v1/usage/rate-limits", "operator", nil).json(t)["endpoints"].(m)
	for path, count := range map[string]float64{"/v1/bulk/*": 1, "/v1/exports": 1} {
		of, _ := use[path].(m)
		assert.InDelta(t, count, of["requests_made"], 0, path)
	}
}

func TestLiveAndTestRequestsAreCountedSeparately(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.setLimits(4, 10)
	other := d.testKeyFor("operator")
	status := func(credential string) int { return d.do("GET", "/v1/agents", credential, nil).Status }
	var got []int
	for range 6 {
		got = append(got, status(other))
	}
	assert.Equal(t, []int{200, 200, 200, 200, 200, 429}, got, "4 and a burst of 1")
	window, _ := d.must(200, "GET", "/v1/usage/rate-limits", "operator", nil).json(t)["current_window"].(m)
	assert.InDelta(t, 1, window["requests_made"], 0)
}

func TestPathLimitHoldsForConcurrentRequests(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.setLimits(1000, 10)
	var passed, refused atomic.Int32
	var wait sync.WaitGroup
	for n := range 60 {
		wait.Go(func() {
			body := m{"items": []m{{"phone": "+12025550191"}}}
			if n%2 == 0 {
				body = m{"items": "x"}
			}
			switch d.do("POST", "/v1/bulk/dnc", "operator", body).Status {
			case http.StatusAccepted:
				passed.Add(1)
			case http.StatusTooManyRequests:
				refused.Add(1)
			}
		})
	}
	wait.Wait()
	assert.LessOrEqual(t, passed.Load(), int32(6), "five and a burst of one")
	assert.Positive(t, refused.Load())
}

func TestUnmatchedRoutesReturn404UnderRateLimit(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.setLimits(40, 10) // with a burst of ⌈0.15·40⌉ = 6
	for range 40 {
		d.must(200, "GET", "/v1/agents", "operator", nil)
	}
	got := map[string]int{}
	for _, request := range []string{"GET /v1/nothing", "DELETE /v1/calls", "OPTIONS /v1/calls", "BREW /v1/calls", "GET /v2/calls"} {
		method, path, _ := strings.Cut(request, " ")
		r := d.do(method, path, "operator", nil)
		got[request] = r.Status
		assert.Equal(t, "0", r.Header.Get("X-RateLimit-Remaining"), request)
	}
	assert.Equal(t, map[string]int{"GET /v1/nothing": 404, "DELETE /v1/calls": 405, "OPTIONS /v1/calls": 405, "BREW /v1/calls": 405, "GET /v2/calls": 404}, got)
	for range 20 {
		d.must(404, "GET", "/v1/nothing", "operator", nil)
	}
	d.must(429, "GET", "/v1/agents", "operator", nil)
}

func TestProtocolErrorsCarryTheRateLimitHeaders(t *testing.T) {
	d := startServer(t, httpapi.Config{ReadTimeout: 150 * time.Millisecond, BodyGrace: 150 * time.Millisecond, BodyRate: 1 << 20})
	d.setLimits(5000, 10)
	const start = "POST /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\n"
	for name, c := range map[string]struct {
		status int
		sent   string
	}{
		"unknown method":              {405, "FOO /v1/calls HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\n\r\n"},
		"malformed JSON":              {400, start + "Content-Type: application/json\r\nContent-Length: 1\r\n\r\n{"},
		"length and chunked encoding": {400, start + "Content-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"},
		"body too large":              {413, start + "Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n" + strings.Repeat(" ", 9000)},
		"wrong media type":            {415, start + "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}"},
		"header section too large":    {431, start + "X-Large: " + strings.Repeat("x", 17<<10) + "\r\nContent-Length: 0\r\n\r\n"},
		"body too slow":               {408, start + "Content-Type: application/json\r\nContent-Length: 90000\r\n\r\n" + strings.Repeat(" ", 9000)},
	} {
		conn := d.dial()
		_, err := io.WriteString(conn, c.sent)
		require.NoError(t, err, name)
		if socket, ok := conn.(*net.TCPConn); ok && c.status == http.StatusRequestEntityTooLarge {
			require.NoError(t, socket.CloseWrite()) // the client does not wait for the rest
		}
		r := d.readReply(bufio.NewReader(conn))
		assert.Equal(t, []any{c.status, "5000"}, []any{r.Status, r.Header.Get("X-RateLimit-Limit")}, "%s: %s", name, r.Body)
	}
}
