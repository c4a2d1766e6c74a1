package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/tools"
	"github.com/callboard/callboard/domain"
)

// far is a server of a tool.
type far struct {
	*httptest.Server
	mu    sync.Mutex
	heard []string
}

func newFar(t *testing.T, answer http.HandlerFunc) (*far, *tools.Client) {
	t.Helper()
	f := &far{}
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

func TestAToolIsCalledAsItIsWritten(t *testing.T) {
	t.Parallel()
	f, c := newFar(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, ` {"at":"Berlin"} `) })
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

func TestArgumentsThatDoNotFitGoNowhere(t *testing.T) {
	t.Parallel()
	f, c := newFar(t, func(http.ResponseWriter, *http.Request) {})
	for _, given := range []map[string]any{nil, {"order": "seven"}, {"order": 1.5}, {"order": 7.0, "more": true}, {"city": "Bonn"}} {
		_, err := c.Call(t.Context(), order(domain.ToolHTTP{Method: "POST", URL: f.URL}), given)
		require.Error(t, err, "%v", given)
	}
	assert.Empty(t, f.heard)
	_, err := c.Call(t.Context(), order(domain.ToolHTTP{Method: "POST", URL: f.URL}), map[string]any{"order": "seven"})
	require.ErrorContains(t, err, "order")
}

func TestAToolThatFailsSaysSoWithoutSecrets(t *testing.T) {
	t.Parallel()
	f, c := newFar(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/500":
			http.Error(w, "out of order", http.StatusInternalServerError)
		case "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/long":
			_, _ = io.WriteString(w, strings.Repeat("x", 70<<10))
		case "/slow":
			<-r.Context().Done()
		}
	})
	for path, want := range map[string]string{"/500": "it answered 500: out of order", "/moved": "it answered 302", "/long": "more than 65536 bytes", "/slow": "did not answer in time"} {
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

// mcp speaks as the protocol's documentation shows it (revision 2025-06-18,
// transports and tools): JSON for the handshake, a stream for the call.
func mcp(t *testing.T, call string) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		assert.Contains(t, r.Header.Get("Accept"), "text/event-stream")
		if r.Method == http.MethodDelete {
			assert.Equal(t, "1868a90c", r.Header.Get("Mcp-Session-Id"))
			return
		}
		var m struct {
			ID     int    `json:"id"`
			Method string `json:"method"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&m))
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "1868a90c")
			w.Header().Set("Content-Type", "application/json")
			text, _ := os.ReadFile("testdata/initialize.json")
			_, _ = w.Write(text)
		case "notifications/initialized":
			assert.Equal(t, "1868a90c", r.Header.Get("Mcp-Session-Id"))
			w.WriteHeader(http.StatusAccepted)
		case "tools/call":
			assert.Equal(t, "2025-06-18", r.Header.Get("MCP-Protocol-Version"))
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, call)
		}
	}
}

func TestAToolOfAnMCPServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ call, want, fails string }{
		"as it is documented":   {"testdata/call.sse", "Current weather in New York:\nTemperature: 72°F\nConditions: Partly cloudy", ""},
		"an error of the tool":  {"testdata/failed.sse", "", "Failed to fetch weather data: API rate limit exceeded"},
		"an error of the rules": {"testdata/unknown.sse", "", "Unknown tool: invalid_tool_name"},
		"a stream that breaks":  {"", "", "broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := "event: ping\n\n"
			if c.call != "" {
				text, err := os.ReadFile(c.call)
				require.NoError(t, err)
				call = string(text)
			}
			f, client := newFar(t, mcp(t, call))
			tool := order(domain.ToolHTTP{})
			tool.HTTP, tool.MCP = nil, &domain.ToolMCP{URL: f.URL, Headers: map[string]string{"X-Key": "k"}}
			text, err := client.Call(t.Context(), tool, map[string]any{"order": 7.0})
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
			} else {
				require.NoError(t, err)
				assert.Equal(t, c.want, text)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			assert.Contains(t, f.heard[2], `"params":{"arguments":{"order":7},"name":"look_up"}`)
			assert.Contains(t, f.heard[len(f.heard)-1], "DELETE", "the session is left")
			assert.Contains(t, f.heard[2], " k {")
		})
	}
}

func TestAnMCPServerThatHangsIsLeft(t *testing.T) {
	t.Parallel()
	f, client := newFar(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	tool := order(domain.ToolHTTP{})
	tool.HTTP, tool.MCP = nil, &domain.ToolMCP{URL: f.URL}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := client.Call(ctx, tool, map[string]any{"order": 7.0})
	require.ErrorContains(t, err, "in time")
}
