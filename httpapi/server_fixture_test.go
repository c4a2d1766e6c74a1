package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/apitest"
)

// testServer is an API server with fake services.
type testServer struct {
	*fakeServices
	t      *testing.T
	addr   string
	server *httpapi.Server
	client *http.Client
	many   *fasthttp.HostClient // a fast client for thousands of requests
}

// served caches the parsed OpenAPI document, because it is the same for every test server.
var served struct {
	sync.Mutex
	contract *apitest.Contract
}

// contract returns the OpenAPI document that the server serves, parsed for the validation of responses.
func (d *testServer) contract() *apitest.Contract {
	served.Lock()
	defer served.Unlock()
	if served.contract == nil {
		req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "http://"+d.addr+"/openapi.json", http.NoBody)
		require.NoError(d.t, err)
		res, err := d.client.Do(req)
		require.NoError(d.t, err)
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		require.NoError(d.t, err)
		served.contract, err = apitest.Read(text)
		require.NoError(d.t, err)
	}
	return served.contract
}

func loopback() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }

func addressNo(n int) string { return fmt.Sprintf("198.18.%d.%d", n>>8, n&255) }

func startServer(t *testing.T, cfg httpapi.Config) *testServer {
	t.Helper()
	return startServerWith(t, newFakeServices(), cfg)
}

// startServerWith starts a server that uses the given fake services.
func startServerWith(t *testing.T, f *fakeServices, cfg httpapi.Config) *testServer {
	t.Helper()
	s := httpapi.New(cfg, f.services())
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- s.Serve(ln) }()
	client := &http.Client{Timeout: 60 * time.Second, Transport: &http.Transport{}}
	many := &fasthttp.HostClient{Addr: ln.Addr().String(), ReadTimeout: 60 * time.Second}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		many.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.Shutdown(ctx)
		assert.NoError(t, <-done)
	})
	return &testServer{fakeServices: f, t: t, addr: ln.Addr().String(), server: s, client: client, many: many}
}

// reply is a response that was read completely.
type reply struct {
	Status int
	Header http.Header
	Body   []byte
}

func (r reply) json(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal(r.Body, &m), "%s", r.Body)
	return m
}

// failure returns the member error of an error response.
func (r reply) failure(t *testing.T) map[string]any {
	t.Helper()
	m := r.json(t)
	require.Equal(t, false, m["success"])
	e, ok := m["error"].(map[string]any)
	require.True(t, ok)
	require.NotEmpty(t, e["message"])
	require.Equal(t, r.Header.Get("X-Request-Id"), e["request_id"])
	return e
}

func (d *testServer) do(method, path, key string, body any, headers ...string) reply {
	d.t.Helper()
	var r io.Reader
	kind := ""
	var sent []byte
	switch b := body.(type) {
	case nil:
	case string:
		r, kind, sent = strings.NewReader(b), "application/json", []byte(b)
	case io.Reader:
		r = b
	default:
		text, err := json.Marshal(b)
		require.NoError(d.t, err)
		r, kind, sent = bytes.NewReader(text), "application/json", text
	}
	req, err := http.NewRequestWithContext(d.t.Context(), method, "http://"+d.addr+path, r)
	require.NoError(d.t, err)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := d.client.Do(req)
	require.NoError(d.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(d.t, err)
	require.NotEmpty(d.t, res.Header.Get("X-Request-Id"))
	got := reply{res.StatusCode, res.Header, text}
	require.NoError(d.t, d.contract().Check(method, path, got.Status, got.Header, got.Body))
	d.record(method, path, sent, got)
	return got
}

// request returns a GET request by an operator, for responses that the method do cannot read, such as streams.
func (d *testServer) request(path string) *http.Request {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "http://"+d.addr+path, http.NoBody)
	require.NoError(d.t, err)
	req.Header.Set("Authorization", "Bearer operator")
	return req
}

// send sends a request of a contract walk. from is the client's address in X-Forwarded-For.
func (d *testServer) send(w apitest.Request, from string) (apitest.Reply, error) {
	req, err := http.NewRequestWithContext(d.t.Context(), w.Method, "http://"+d.addr+w.Path, bytes.NewReader(w.Body))
	if err != nil {
		return apitest.Reply{}, err
	}
	req.Header.Set("Authorization", "Bearer operator")
	req.Header.Set("X-Forwarded-For", from)
	if w.Kind != "" {
		req.Header.Set("Content-Type", w.Kind)
	}
	for name, v := range w.Header {
		req.Header.Set(name, v)
	}
	client := *d.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		return apitest.Reply{}, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return apitest.Reply{Status: res.StatusCode, Header: res.Header, Body: text}, err
}

// must sends a request and fails the test if the response has another status.
func (d *testServer) must(status int, method, path, key string, body any, headers ...string) reply {
	d.t.Helper()
	r := d.do(method, path, key, body, headers...)
	require.Equal(d.t, status, r.Status, "%s %s: %s", method, path, r.Body)
	return r
}

// create creates a resource by a POST to path and returns its id.
func (d *testServer) create(path string, body any) string {
	d.t.Helper()
	id, _ := d.must(http.StatusCreated, http.MethodPost, path, "operator", body).json(d.t)["id"].(string)
	require.NotEmpty(d.t, id)
	return id
}

func goodPathway() map[string]any {
	return map[string]any{
		"name": "bar", "start": "hello",
		"nodes": []any{map[string]any{"id": "hello", "type": "say", "prompt": "Hello {{name | there}}, this is a test."}, map[string]any{"id": "bye", "type": "end"}},
		"edges": []any{map[string]any{"from": "hello", "to": "bye", "when": map[string]any{"type": "always"}}},
	}
}

type m = map[string]any
