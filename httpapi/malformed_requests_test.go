package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

func TestMalformedBodiesGetClearErrors(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	big := `{"name":"` + strings.Repeat("x", 10<<20) + `"}`
	type refusal struct {
		Status int
		Code   any
	}
	for name, c := range map[string]struct {
		body    any
		headers []string
		want    refusal
	}{
		"no body":                 {nil, nil, refusal{400, "invalid_request"}},
		"malformed":               {`{"name": }`, nil, refusal{400, "invalid_request"}},
		"truncated JSON":          {`{"name":"a`, nil, refusal{400, "invalid_request"}},
		"two JSON values":         {`{"name":"a"}{"name":"b"}`, nil, refusal{400, "invalid_request"}},
		"array":                   {`[]`, nil, refusal{422, "validation_error"}},
		"null":                    {`null`, nil, refusal{422, "validation_error"}},
		"wrong types":             {`{"name":7,"contacts":"none","pacing":[]}`, nil, refusal{422, "validation_error"}},
		"unknown field":           {`{"name":"a","agent_id":"agent_` + ulidOf(1) + `","nam":1}`, nil, refusal{422, "validation_error"}},
		"control characters":      {`{"name":"a\u0000b","agent_id":"agent_` + ulidOf(1) + `"}`, nil, refusal{422, "validation_error"}},
		"too large":               {big, nil, refusal{413, "payload_too_large"}},
		"too large, in chunks":    {io.MultiReader(strings.NewReader(big)), []string{"Content-Type", "application/json"}, refusal{413, "payload_too_large"}},
		"200,000 nested arrays":   {strings.Repeat("[", 200_000), nil, refusal{400, "invalid_request"}},
		"deep nesting in context": {`{"name":"a","contacts":[{"phone":"1","context":` + strings.Repeat(`{"a":`, 20_000) + `1` + strings.Repeat("}", 20_000) + `}]}`, nil, refusal{400, "invalid_request"}},
		"form":                    {"a=b", []string{"Content-Type", "application/x-www-form-urlencoded"}, refusal{415, "unsupported_media_type"}},
		"no content type":         {strings.NewReader(`{"name":"a"}`), nil, refusal{415, "unsupported_media_type"}},
		"compressed body":         {`{"name":"a"}`, []string{"Content-Encoding", "gzip"}, refusal{415, "unsupported_media_type"}},
		"10,001 contacts":         {m{"name": "a", "agent_id": "agent_" + ulidOf(1), "contacts": make([]m, 10_001)}, nil, refusal{422, "validation_error"}},
		"number out of range":     {`{"name":"a","agent_id":"agent_` + ulidOf(1) + `","pacing":{"max_concurrent":1e400}}`, nil, refusal{422, "validation_error"}},
		"fraction for an integer": {`{"name":"a","agent_id":"agent_` + ulidOf(1) + `","pacing":{"max_concurrent":1.5}}`, nil, refusal{422, "validation_error"}},
	} {
		r := d.do("POST", "/v1/campaigns", "operator", c.body, c.headers...)
		assert.Equal(t, c.want, refusal{r.Status, r.failure(t)["code"]}, "%s: %.300s", name, r.Body)
		assert.Less(t, len(r.Body), 30_000, "%s: the response does not echo the request", name)
	}
	for _, path := range []string{
		"/v1/campaigns?limit=0", "/v1/campaigns?limit=101", "/v1/campaigns?limit=x", "/v1/campaigns?created_after=yesterday",
		"/v1/campaigns?status=sad", "/v1/calls?campaign_id=1", "/v1/events?after=x", "/v1/events?type=nothing", "/v1/audit-logs?type=x",
	} {
		assert.Equal(t, "validation_error", d.must(422, "GET", path, "operator", nil).failure(t)["code"], path)
	}
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	assert.Equal(t, "not_found", d.must(404, "GET", "/v1/nothing", "operator", nil).failure(t)["code"])
	assert.Equal(t, "not_found", d.must(404, "GET", "/nothing", "", nil).failure(t)["code"])
	r := d.must(405, "DELETE", "/v1/campaigns", "operator", nil)
	assert.Equal(t, "method_not_allowed", r.failure(t)["code"])
	assert.Equal(t, "GET, HEAD, POST", strings.Join(r.Header.Values("Allow"), ", "))
	assert.Equal(t, "method_not_allowed", d.must(405, "BREW", "/v1/campaigns", "operator", nil).failure(t)["code"])
	assert.Equal(t, "1000000", d.must(404, "GET", "/v1/nothing", "operator", nil).Header.Get("X-RateLimit-Limit"))
}

func TestInternalErrorsHideTheirCause(t *testing.T) {
	d := startServer(t, httpapi.Config{RequestTimeout: 50 * time.Millisecond})
	path := "/v1/campaigns/campaign_" + ulidOf(1)
	for _, c := range []struct {
		fault  error
		status int
		code   string
	}{
		{errors.New("disk on fire at /secret"), 500, "internal_error"},
		{fmt.Errorf("store: %w", context.DeadlineExceeded), 503, "unavailable"},
		{domain.Errorf(domain.CodeUnavailable, "The service is ending."), 503, "unavailable"},
		{fmt.Errorf("store: %w", domain.ErrNotFound), 404, "not_found"},
	} {
		d.campaignErr = c.fault
		r := d.must(c.status, "GET", path, "operator", nil)
		assert.Equal(t, c.code, r.failure(t)["code"])
		assert.NotContains(t, string(r.Body), "secret")
		if c.status == 503 {
			assert.Equal(t, "1", r.Header.Get("Retry-After"))
		}
	}
	d.workspace = nil // every use of the workspace panics
	r := d.do("GET", path, "operator", nil)
	assert.Equal(t, 500, r.Status)
	assert.Equal(t, "internal_error", r.failure(t)["code"])
	d.ready = errors.New("the store is not open")
	e := d.must(503, "GET", "/readyz", "", nil).failure(t)
	assert.Equal(t, "the store is not open", e["reason"])
}

func TestResponsesHaveSecurityHeaders(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	h := d.must(200, "GET", "/v1/workspace", "operator", nil).Header
	got := map[string]string{}
	for _, name := range []string{"X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "Cache-Control", "Content-Security-Policy", "X-RateLimit-Limit", "X-RateLimit-Window", "Server"} {
		got[name] = h.Get(name)
	}
	assert.Equal(t, map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "X-RateLimit-Limit": "1000000", "X-RateLimit-Window": "60", "Server": "",
	}, got)
}

// dial opens a TCP connection to the server, for requests that an HTTP client library refuses to send.
func (d *testServer) dial() net.Conn {
	d.t.Helper()
	conn, err := new(net.Dialer).DialContext(d.t.Context(), "tcp", d.addr)
	require.NoError(d.t, err)
	d.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(d.t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return conn
}

func (d *testServer) readReply(r *bufio.Reader) reply {
	d.t.Helper()
	res, err := http.ReadResponse(r, nil)
	require.NoError(d.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(d.t, err)
	return reply{res.StatusCode, res.Header, text}
}

func TestSlowClientsAreDisconnected(t *testing.T) {
	d := startServer(t, httpapi.Config{ReadTimeout: 150 * time.Millisecond, BodyGrace: 150 * time.Millisecond, BodyRate: 1 << 20})
	const head = "POST /v1/campaigns HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\nContent-Type: application/json\r\n"
	for name, sent := range map[string]string{
		"incomplete header section": "GET /v1/workspace HTTP/1.1\r\nHost: x\r\nX-",
		"small body":                head + "Content-Length: 100\r\n\r\n{",
		"large body":                head + "Content-Length: 100000\r\n\r\n" + strings.Repeat(" ", 9000),
		"chunks":                    head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		"long stream":               strings.Replace(head, "/v1/campaigns", "/v1/campaigns/"+d.createCampaign()+"/contacts", 1) + "Content-Length: 100000\r\n\r\n" + strings.Repeat(" ", 9000),
	} {
		conn := d.dial()
		_, err := io.WriteString(conn, sent)
		require.NoError(t, err)
		r := d.readReply(bufio.NewReader(conn))
		assert.Equal(t, 408, r.Status, name)
		assert.Equal(t, "request_timeout", r.failure(t)["code"], name)
		_, err = conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, name)
	}
}

func TestUnreadBodyIsNotParsedAsNextRequest(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	inner := "GET /v1/workspace HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\n\r\n"
	body := strings.Repeat(" ", 100_000) + inner
	conn := d.dial()
	_, err := fmt.Fprintf(conn, "POST /v1/campaigns HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(t, err)
	r := bufio.NewReader(conn)
	first := d.readReply(r)
	assert.Equal(t, 401, first.Status)
	_, err = r.ReadByte()
	require.Error(t, err, "the connection is closed: the rest of the body is not read as a request")
}

func TestLargeHeadersAndInvalidHTTPAreRefused(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	conn := d.dial()
	_, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: "+strings.Repeat("a", 20_000)+"\r\n\r\n")
	require.NoError(t, err)
	r := d.readReply(bufio.NewReader(conn))
	assert.Equal(t, 431, r.Status)
	assert.Equal(t, "headers_too_large", r.failure(t)["code"])
	conn = d.dial()
	_, err = io.WriteString(conn, "\x16\x03\x01 this is no HTTP\r\n\r\n")
	require.NoError(t, err)
	assert.Equal(t, "invalid_request", d.readReply(bufio.NewReader(conn)).failure(t)["code"])
}

func TestStringsPassedToServicesOutliveRequest(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	var wait sync.WaitGroup
	for i := range 40 {
		wait.Go(func() {
			to := fmt.Sprintf("+1202555%04d", 1000+i)
			d.do("POST", "/v1/calls/outbound", "operator", m{
				"to": to, "agent_id": "agent_" + ulidOf(i+1), "context": m{"name": to, "i": i}, "metadata": m{"to": to},
			}, "User-Agent", "client "+to)
		})
	}
	wait.Wait()
	require.Len(t, d.orders, 40)
	d.must(200, "GET", "/v1/agents", "operator", nil, "User-Agent", "another one")
	for _, o := range d.orders {
		assert.Contains(t, d.receivedStrings, "client "+o.To)
	}
	for _, o := range d.orders {
		assert.Equal(t, []any{o.To, o.To, fmt.Sprintf("%q", o.To)}, []any{o.Context["name"], o.Metadata["to"], marshalText(t, o.Context["name"])})
	}
}

func marshalText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.create("/v1/campaigns", m{"name": "c", "agent_id": "agent_" + ulidOf(1)})
	begun := make(chan struct{}, 2)
	d.onRow = func(domain.RawContact) { begun <- struct{}{} }
	r, w := io.Pipe()
	answered := make(chan reply, 1)
	go func() {
		answered <- d.do("POST", "/v1/campaigns/"+id+"/contacts", "operator", io.Reader(r), "Content-Type", "text/csv")
	}()
	_, err := io.WriteString(w, "phone\n+12025550123\n")
	require.NoError(t, err)
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- d.server.Shutdown(context.Background()) }()
	require.Eventually(t, func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.addr)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, time.Minute, 5*time.Millisecond, "no new connections")
	_, err = io.WriteString(w, "+12025550124\n")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.Equal(t, 200, (<-answered).Status)
	require.NoError(t, <-stopped)
}

func TestOutOfRangeNumberErrorHasNoGoTypes(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	pathway := goodPathway()
	pathway["nodes"].([]any)[0].(m)["retries"] = 9.9e300
	e := d.must(422, "POST", "/v1/pathways", "operator", pathway).failure(t)
	assert.Equal(t, []any{"nodes[0].retries", "validation_error"}, []any{e["param"], e["code"]})
	assert.NotContains(t, e["message"], "Go")
}
