package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/callboard/callboard/domain"
)

// mcpVersion is the revision of the Model Context Protocol that is offered.
const mcpVersion = "2025-06-18"

// The messages of JSON-RPC 2.0 as the protocol uses them.
type (
	rpcRequest struct {
		Version string `json:"jsonrpc"`
		ID      int    `json:"id,omitempty"` // 0: a notification
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}
	rpcAnswer struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
)

// session is one with an MCP server, over streamable HTTP.
type session struct {
	client  *Client
	tool    *domain.ToolMCP
	id      string // "": the server keeps none
	version string
}

// callMCP opens a session, calls the tool by its name and leaves.
func (c *Client) callMCP(ctx context.Context, t *domain.Tool, arguments map[string]any) (string, error) {
	s := &session{client: c, tool: t.MCP}
	defer s.leave(context.WithoutCancel(ctx))
	var welcome struct {
		Version string `json:"protocolVersion"` //nolint:tagliatelle // as the protocol has it
	}
	err := s.ask(ctx, 1, "initialize", map[string]any{
		"protocolVersion": mcpVersion, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": agentName, "version": "1"},
	}, &welcome)
	if err != nil {
		return "", err
	}
	s.version = welcome.Version
	if err = s.ask(ctx, 0, "notifications/initialized", nil, nil); err != nil {
		return "", err
	}
	var result struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"` //nolint:tagliatelle // as the protocol has it
		IsError    bool            `json:"isError"`           //nolint:tagliatelle // as the protocol has it
	}
	if err = s.ask(ctx, 2, "tools/call", map[string]any{"name": t.Name, "arguments": arguments}, &result); err != nil {
		return "", err
	}
	var parts []string
	for _, part := range result.Content {
		if part.Type == "text" {
			parts = append(parts, part.Text)
		}
	}
	text := strings.TrimSpace(strings.Join(parts, "\n"))
	if text == "" && len(result.Structured) > 0 {
		text = string(result.Structured)
	}
	if result.IsError {
		return "", errors.New(clip(text, 500))
	}
	if text == "" {
		text = `{"status":"done"}`
	}
	return text, nil
}

// ask posts one message and waits for its answer, which comes as JSON or as an
// event of a stream.
func (s *session) ask(ctx context.Context, id int, method string, params, into any) error {
	body, err := json.Marshal(rpcRequest{"2.0", id, method, params})
	if err != nil {
		return errors.New("the arguments cannot be sent")
	}
	resp, err := s.send(ctx, http.MethodPost, body)
	if err != nil {
		return failure(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if given := resp.Header.Get("Mcp-Session-Id"); given != "" && len(given) <= 256 {
		s.id = given
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("its server answered %d", resp.StatusCode)
	}
	if id == 0 {
		return nil
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	from := io.LimitReader(resp.Body, maxAnswer)
	if strings.TrimSpace(kind) == "text/event-stream" {
		return fromEvents(from, id, into)
	}
	text, err := io.ReadAll(from)
	if err != nil {
		return failure(err)
	}
	if answered, err := answerIn(text, id, into); answered || err != nil {
		return err
	}
	return errors.New("its server answered something else than was asked")
}

func (s *session) send(ctx context.Context, method string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.tool.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	setHeaders(req, s.tool.Headers, nil)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if s.id != "" {
		req.Header.Set("Mcp-Session-Id", s.id)
	}
	if s.version != "" {
		req.Header.Set("MCP-Protocol-Version", s.version)
	}
	return s.client.HTTP.Do(req)
}

// leave ends the session, where the server keeps one.
func (s *session) leave(ctx context.Context) {
	if s.id == "" {
		return
	}
	bound, cancel := context.WithTimeout(ctx, mcpTimeout/3)
	defer cancel()
	if resp, err := s.send(bound, http.MethodDelete, nil); err == nil {
		_ = resp.Body.Close()
	}
}

// fromEvents reads server-sent events until the one that answers.
func fromEvents(from io.Reader, id int, into any) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 4096), maxAnswer)
	var data strings.Builder
	for lines.Scan() {
		line := lines.Text()
		if part, ok := strings.CutPrefix(line, "data:"); ok {
			data.WriteString(strings.TrimPrefix(part, " "))
			continue
		}
		if line != "" || data.Len() == 0 {
			continue
		}
		if answered, err := answerIn([]byte(data.String()), id, into); answered || err != nil {
			return err
		}
		data.Reset()
	}
	if err := lines.Err(); err != nil {
		return failure(err)
	}
	if data.Len() > 0 {
		if answered, err := answerIn([]byte(data.String()), id, into); answered || err != nil {
			return err
		}
	}
	return errors.New("its server broke off before an answer")
}

// answerIn takes the answer with an id; other messages of a server are none.
func answerIn(text []byte, id int, into any) (answered bool, err error) {
	var a rpcAnswer
	if domain.DecodeLenient(text, &a) != nil {
		return false, errors.New("its server answered no JSON")
	}
	if string(a.ID) != strconv.Itoa(id) {
		return false, nil
	}
	if a.Error != nil {
		return true, errors.New("its server refused: " + clip(a.Error.Message, 300))
	}
	if domain.DecodeLenient(a.Result, into) != nil {
		return true, errors.New("its server answered something else than was asked")
	}
	return true, nil
}
