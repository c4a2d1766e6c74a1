package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callboard/callboard/domain"
)

const (
	// mcpVersion is the last revision of the Model Context Protocol whose sessions begin with the initialize handshake.
	// For later revisions the library first sends server/discover, which costs a round trip if the server lacks it.
	mcpVersion = "2025-11-25"
	// maxMCPRequests bounds the HTTP requests of one session. A server could otherwise cause endless requests, by its
	// own requests to the client or by broken streams that the client resumes.
	maxMCPRequests = 32
)

var errMCPRequests = fmt.Errorf("the MCP server caused more than %d requests", maxMCPRequests)

// callMCP opens a session with the tool's MCP server, calls the tool and closes the session.
func (c *Client) callMCP(ctx context.Context, t *domain.Tool, arguments map[string]any) (string, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	transport := &mcpTransport{
		base: c.HTTP.Transport, headers: t.MCP.Headers, end: end, atEnd: func(f func()) { context.AfterFunc(ctx, f) },
	}
	web := *c.HTTP
	web.Transport = transport
	client := mcp.NewClient(&mcp.Implementation{Name: agentName, Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	client.AddReceivingMiddleware(refuseAllButPing)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: t.MCP.URL, HTTPClient: &web, DisableStandaloneSSE: true, MaxEventSize: maxResponseBytes,
	}, &mcp.ClientSessionOptions{ProtocolVersion: mcpVersion})
	if err != nil {
		return "", transport.failure(ctx, err)
	}
	// A goroutine closes the session, so that the caller does not wait for the response to its DELETE request.
	defer func() { go func() { _ = session.Close() }() }()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: t.Name, Arguments: arguments})
	if err != nil {
		return "", transport.failure(ctx, err)
	}
	return mcpText(result)
}

// refuseAllButPing refuses requests and notifications that a server sends, except ping. In v1.8.0 of the library,
// notifications/elicitation/complete without parameters causes a panic in a goroutine of the library.
func refuseAllButPing(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "ping" {
			return next(ctx, method, req)
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the client has no methods"}
	}
}

// mcpText returns the text of a tool result, or its structured content as JSON if it has no text. A result that is
// marked as an error becomes an error.
func mcpText(result *mcp.CallToolResult) (string, error) {
	var parts []string
	for _, part := range result.Content {
		if text, ok := part.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	text := strings.TrimSpace(strings.Join(parts, "\n"))
	if text == "" && result.StructuredContent != nil {
		b, err := json.Marshal(result.StructuredContent)
		if err != nil {
			return "", errors.New("the MCP server sent an unexpected result")
		}
		text = string(b)
	}
	if result.IsError {
		return "", errors.New(clip(text, 500))
	}
	if text == "" {
		text = `{"status":"done"}`
	}
	return text, nil
}

// mcpTransport sends the HTTP requests of one MCP session. It limits their number and the size of the responses. It
// stores the first failure, because the library does not return it.
type mcpTransport struct {
	base     http.RoundTripper
	headers  map[string]string
	end      context.CancelCauseFunc // ends the context of the tool call
	atEnd    func(func())            // calls a function when the tool call has ended
	requests atomic.Int32
	failed   atomic.Pointer[error]
}

// RoundTrip sends a request with the headers of the tool. Requests end with the tool call, except the DELETE of the
// session, which the library ends after five seconds.
func (t *mcpTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if req.Method != http.MethodDelete {
		if t.requests.Add(1) > maxMCPRequests {
			t.end(errMCPRequests)
			return nil, errMCPRequests
		}
		var cancel func()
		ctx, cancel = context.WithCancel(ctx)
		t.atEnd(cancel)
	}
	out := req.Clone(ctx)
	setHeaders(out, t.headers, nil)
	maps.Copy(out.Header, req.Header)
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		t.setFailed(failure(err))
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		t.setFailed(fmt.Errorf("the MCP server responded with status %d", resp.StatusCode))
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxResponseBytes), resp.Body}
	return resp, nil
}

func (t *mcpTransport) setFailed(err error) { t.failed.CompareAndSwap(nil, &err) }

// failure returns an error that says why a session failed. The error contains no addresses and headers.
func (t *mcpTransport) failure(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errMCPRequests):
		return cause
	case cause != nil:
		return failure(cause)
	}
	if first := t.failed.Load(); first != nil {
		return *first
	}
	if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return errors.New("the MCP server refused the call: " + clip(refusal.Message, 300))
	}
	return errors.New("the MCP server ended the response early or sent an unexpected one")
}
