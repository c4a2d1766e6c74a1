package tools_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/engines/tools"
)

// TestMain runs this test program as the MCP client of the conformance suite if MCP_CONFORMANCE_SCENARIO is set.
func TestMain(m *testing.M) {
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	if scenario == "" {
		os.Exit(m.Run())
	}
	flag.Parse()
	name := map[string]string{"tools_call": "add_numbers", "sse-retry": "test_reconnection"}[scenario]
	text, err := (&tools.Client{HTTP: &http.Client{Transport: http.DefaultTransport}}).
		Call(context.Background(), mcpTool(name, flag.Arg(0)), map[string]any{"a": 5.0, "b": 3.0})
	fmt.Println(text, err)
	if err != nil {
		os.Exit(1)
	}
}

func mcpTool(name, url string) *domain.Tool {
	return &domain.Tool{Name: name, Parameters: map[string]any{"type": "object"}, MCP: &domain.ToolMCP{URL: url, Headers: map[string]string{"X-Key": "s3cret"}}}
}

// TestMCPConformance runs the client against the servers of @modelcontextprotocol/conformance. Every scenario must pass.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	for _, scenario := range []string{"initialize", "tools_call", "sse-retry"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			var out []byte
			var err error
			for range 3 { // on a busy machine, sse-retry may resume too late and fail
				out, err = exec.CommandContext(t.Context(), "node", "--import", "./testdata/globsync.mjs",
					"../../cmd/callboard/testdata/clients/node_modules/@modelcontextprotocol/conformance/dist/index.js",
					"client", "--scenario", scenario, "--command", self).CombinedOutput()
				if err == nil {
					break
				}
			}
			require.NoError(t, err, "%s", out)
			assert.Contains(t, string(out), "0 failed")
		})
	}
}

// mcpHandler returns a server that responds as the MCP specification shows it (revision 2025-06-18, transports and tools). It
// answers the handshake with JSON and the tool call with an event stream.
func mcpHandler(t *testing.T, call string) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			assert.Equal(t, "1868a90c", r.Header.Get("Mcp-Session-Id"))
			return
		}
		assert.Contains(t, r.Header.Get("Accept"), "text/event-stream")
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

func TestToolOfMCPServerIsCalled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ call, want, fails string }{
		"as it is documented":   {"testdata/call.sse", "Current weather in New York:\nTemperature: 72°F\nConditions: Partly cloudy", ""},
		"an error of the tool":  {"testdata/failed.sse", "", "Failed to fetch weather data: API rate limit exceeded"},
		"an error of the rules": {"testdata/unknown.sse", "", "Unknown tool: invalid_tool_name"},
		"a stream that breaks":  {"", "", "ended the response early"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := "event: ping\n\n"
			if c.call != "" {
				text, err := os.ReadFile(c.call)
				require.NoError(t, err)
				call = string(text)
			}
			f, client := newToolServer(t, mcpHandler(t, call))
			tool := order(domain.ToolHTTP{})
			tool.HTTP, tool.MCP = nil, &domain.ToolMCP{URL: f.URL, Headers: map[string]string{"X-Key": "k"}}
			text, err := client.Call(t.Context(), tool, map[string]any{"order": 7.0})
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
			} else {
				require.NoError(t, err)
				assert.Equal(t, c.want, text)
			}
			requests := func() []string {
				f.mu.Lock()
				defer f.mu.Unlock()
				return f.heard
			}
			require.Eventually(t, func() bool { return len(requests()) == 4 }, 10*time.Second, 5*time.Millisecond, "the session is closed")
			assert.Contains(t, requests()[0], `"method":"initialize"`)
			assert.Contains(t, requests()[1], `"method":"notifications/initialized"`)
			assert.Contains(t, requests()[2], ` k {`)
			assert.Contains(t, requests()[2], `"params":{"name":"look_up","arguments":{"order":7}}`)
			assert.Contains(t, requests()[3], "DELETE")
		})
	}
}

// mcpServer is an MCP server in the test process. If the function answer returns no body, the server sends the
// response of a correct server.
type mcpServer struct {
	requests atomic.Int32
	answer   func(r *http.Request, method string, n int) (kind string, body io.Reader, err error)
}

func (s *mcpServer) RoundTrip(r *http.Request) (*http.Response, error) {
	n := int(s.requests.Add(1))
	var m struct{ Method string }
	if r.Body != nil {
		_ = json.NewDecoder(r.Body).Decode(&m)
	}
	kind, body, err := s.answer(r, m.Method, n)
	if err != nil {
		return nil, err
	}
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(body)}
	switch {
	case strings.HasPrefix(kind, "https:"):
		resp.StatusCode, resp.Body = http.StatusFound, http.NoBody
		resp.Header.Set("Location", kind)
	case body == nil && m.Method == "initialize":
		text, err := os.ReadFile("testdata/initialize.json")
		resp.Body = io.NopCloser(strings.NewReader(string(text)))
		resp.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Session-Id": {"s"}}
		return resp, err
	case body == nil:
		resp.StatusCode, resp.Body = http.StatusAccepted, http.NoBody
	}
	return resp, nil
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

const (
	mcpDone = "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n"
	mcpPing = "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n\n"
)

func TestMCPServerCannotBlockOrCrashClient(t *testing.T) {
	t.Parallel()
	type answer = func(r *http.Request, method string, n int) (string, io.Reader, error)
	hang := func(r *http.Request, _ string, _ int) (string, io.Reader, error) {
		<-r.Context().Done()
		return "", nil, r.Context().Err()
	}
	onCall := func(kind string, body ...io.Reader) answer {
		return func(r *http.Request, method string, n int) (string, io.Reader, error) {
			switch {
			case method == "tools/call":
				return kind, io.MultiReader(body...), nil
			case method == "" && r.Method == http.MethodPost: // an answer to a ping
				return hang(r, method, n)
			}
			return "", nil, nil
		}
	}
	var pings strings.Builder
	for i := range 20 {
		fmt.Fprintf(&pings, mcpPing, i)
	}
	for name, c := range map[string]struct {
		answer       answer
		text, failed string
		took         time.Duration
	}{
		"it hangs":              {hang, "", "the server did not respond in time", 15 * time.Second},
		"it sends endless JSON": {onCall("application/json", endless(' ')), "", "the MCP server ended the response early or sent an unexpected one", 0},
		"it sends an endless event": {
			onCall("text/event-stream", strings.NewReader("data: "), endless('x')), "", "the MCP server ended the response early or sent an unexpected one", 0,
		},
		"it wants its pings answered and takes no answer": {onCall("text/event-stream", strings.NewReader(pings.String()+mcpDone)), "done", "", 0},
		"it sends notifications without parameters": {
			onCall("text/event-stream", strings.NewReader("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/elicitation/complete\"}\n\n"+mcpDone)), "done", "", 0,
		},
		"it does not let the session go": {func(r *http.Request, method string, n int) (string, io.Reader, error) {
			if r.Method == http.MethodDelete {
				return hang(r, method, n)
			}
			return onCall("text/event-stream", strings.NewReader(mcpDone))(r, method, n)
		}, "done", "", 0},
		"it breaks off again and again": {func(r *http.Request, method string, n int) (string, io.Reader, error) {
			if method == "tools/call" || r.Method == http.MethodGet {
				return "text/event-stream", strings.NewReader(fmt.Sprintf("id: %d\nretry: 1\ndata: \n\n", n)), nil
			}
			return "", nil, nil
		}, "", "the MCP server caused more than 32 requests", 30 * time.Millisecond},
		"it is elsewhere":       {func(*http.Request, string, int) (string, io.Reader, error) { return "https://s3cret.example", nil, nil }, "", "the MCP server responded with status 302", 0},
		"it may not be reached": {func(*http.Request, string, int) (string, io.Reader, error) { return "", nil, access.ErrEgress }, "", "connections to the address of the server are not allowed", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // synctest fails if a goroutine still runs at the end
				server := &mcpServer{answer: c.answer}
				client := &tools.Client{HTTP: &http.Client{Transport: server, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
				begun := time.Now()
				text, err := client.Call(t.Context(), mcpTool("look_up", "https://s3cret.example"), nil)
				assert.LessOrEqual(t, time.Since(begun), c.took)
				assert.Equal(t, c.text, text)
				if c.failed != "" {
					require.EqualError(t, err, c.failed)
				} else {
					require.NoError(t, err)
				}
				time.Sleep(5 * time.Second) // fake time: the maximum duration of the DELETE of a session
				assert.LessOrEqual(t, server.requests.Load(), int32(33))
			})
		})
	}
}

func FuzzMCPServer(f *testing.F) {
	for _, answer := range []string{
		mcpDone, "id: 1\nretry: 1\ndata: \n\n", fmt.Sprintf(mcpPing, 7), "data: {\"jsonrpc\":\"2.0\",\"method\":\"ping\"}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\",\"params\":{}}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2,\"progress\":1}}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/elicitation/complete\"}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null}\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":null}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":null,\"structuredContent\":{\"a\":[1]}}}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"inputRequests\":{\"a\":{\"method\":\"elicitation/create\"}},\"resultType\":\"input_required\"}}\n\n",
		`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"resource","resource":null}]}}`, `[{}]`,
	} {
		f.Add(answer, true)
		f.Add(answer, false)
	}
	f.Fuzz(func(t *testing.T, answer string, handshake bool) {
		synctest.Test(t, func(t *testing.T) {
			server := &mcpServer{answer: func(_ *http.Request, method string, _ int) (string, io.Reader, error) {
				if handshake && method != "tools/call" {
					return "", nil, nil
				}
				kind := "text/event-stream"
				if strings.HasPrefix(answer, "{") || strings.HasPrefix(answer, "[") {
					kind = "application/json"
				}
				return kind, strings.NewReader(answer), nil
			}}
			_, _ = (&tools.Client{HTTP: &http.Client{Transport: server}}).Call(t.Context(), mcpTool("look_up", "https://example.com"), nil)
		})
	})
}
