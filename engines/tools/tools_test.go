package tools_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/engines/tools"
)

// toolServer is the HTTP server that a tool calls. It records the requests.
type toolServer struct {
	*httptest.Server
	mu    sync.Mutex
	heard []string
}

func newToolServer(t *testing.T, answer http.HandlerFunc) (*toolServer, *tools.Client) {
	t.Helper()
	f := &toolServer{}
	f.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		f.heard = append(f.heard, r.Method+" "+r.URL.String()+" "+r.Header.Get("X-Key")+" "+string(body))
		f.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		answer(w, r)
	}))
	t.Cleanup(f.Close)
	web := f.Client()
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return f, &tools.Client{HTTP: web}
}

func order(h domain.ToolHTTP) *domain.Tool {
	h.TimeoutMs = 5000
	return &domain.Tool{Name: "look_up", HTTP: &h, Parameters: map[string]any{
		"type": "object", "required": []any{"order"}, "additionalProperties": false,
		"properties": map[string]any{"order": map[string]any{"type": "integer"}, "city": map[string]any{"type": "string"}},
	}}
}

func TestHTTPToolRequestFollowsItsDefinition(t *testing.T) {
	t.Parallel()
	f, c := newToolServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, ` {"at":"Berlin"} `) })
	given := map[string]any{"order": 7.0, "city": "a/b ../c&d=\"{{order}}\""}
	for _, h := range []domain.ToolHTTP{
		{Method: "GET", URL: f.URL + "/orders/{{order}}/{{city}}"},
		{Method: "GET", URL: f.URL + "/orders?in={{city}}"},
		{Method: "POST", URL: f.URL + "/orders", Headers: map[string]string{"X-Key": "k-{{order}}"}},
		{Method: "POST", URL: f.URL + "/orders", Body: map[string]any{"id": "{{order}}", "text": "in {{city}}!", "list": []any{"{{order}}", 1.0}}},
	} {
		text, err := c.Call(t.Context(), order(h), given)
		require.NoError(t, err)
		assert.JSONEq(t, `{"at":"Berlin"}`, text)
	}
	assert.Equal(t, []string{
		"GET /orders/7/a%2Fb%20..%2Fc&d=%22%7B%7Border%7D%7D%22  ",
		"GET /orders?in=a%2Fb+..%2Fc%26d%3D%22%7B%7Border%7D%7D%22&order=7  ",
		`POST /orders k-7 {"city":"a/b ../c\u0026d=\"{{order}}\"","order":7}`,
		`POST /orders  {"id":7,"list":[7,1],"text":"in a/b ../c\u0026d=\"{{order}}\"!"}`,
	}, f.heard, "a value is a value wherever it stands")
}

func TestInvalidToolArgumentsAreNotSent(t *testing.T) {
	t.Parallel()
	f, c := newToolServer(t, func(http.ResponseWriter, *http.Request) {})
	for _, given := range []map[string]any{nil, {"order": "seven"}, {"order": 1.5}, {"order": 7.0, "more": true}, {"city": "Bonn"}} {
		_, err := c.Call(t.Context(), order(domain.ToolHTTP{Method: "POST", URL: f.URL}), given)
		require.Error(t, err, "%v", given)
	}
	assert.Empty(t, f.heard)
	_, err := c.Call(t.Context(), order(domain.ToolHTTP{Method: "POST", URL: f.URL}), map[string]any{"order": "seven"})
	require.ErrorContains(t, err, "order")
}

func TestToolErrorContainsNoSecrets(t *testing.T) {
	t.Parallel()
	f, c := newToolServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/500":
			http.Error(w, "out of order", http.StatusInternalServerError)
		case "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/long":
			_, _ = io.WriteString(w, strings.Repeat("x", 70<<10))
		case "/slow":
			<-r.Context().Done()
			panic(http.ErrAbortHandler) // without the abort, the client could still get a response
		}
	})
	for path, want := range map[string]string{"/500": "status 500: out of order", "/moved": "status 302", "/long": "more than 65536 bytes", "/slow": "did not respond in time"} {
		tool := order(domain.ToolHTTP{Method: "POST", URL: f.URL + path, Headers: map[string]string{"X-Key": "s3cret"}})
		if path == "/slow" {
			tool.HTTP.TimeoutMs = 200
		}
		_, err := c.Call(t.Context(), tool, map[string]any{"order": 7.0})
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "s3cret")
	}
	text, err := c.Call(t.Context(), order(domain.ToolHTTP{Method: "POST", URL: f.URL + "/empty"}), map[string]any{"order": 7.0})
	require.NoError(t, err)
	assert.Equal(t, `{"status":200}`, text)
	tool := order(domain.ToolHTTP{Method: "POST", URL: "http://127.0.0.1:1/"})
	_, err = c.Call(t.Context(), tool, map[string]any{"order": 7.0})
	require.ErrorContains(t, err, "not valid", "https only")
}
