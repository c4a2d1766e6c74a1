// Package tools calls the tools that language models and pathways use: HTTP requests and tools of MCP servers. It
// checks the arguments against the tool's schema and returns the result as text. It knows nothing of telephone calls.
package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/engines/content"
)

// Settings of all tool calls: the maximum response size in bytes, the timeout of MCP tools and the client's name.
const (
	maxResponseBytes = 64 << 10
	mcpTimeout       = 15 * time.Second
	agentName        = "callboard"
)

// Client calls tools. Its HTTP client must refuse addresses that tenants may not reach, and must not follow redirects.
type Client struct{ HTTP *http.Client }

// Call runs a tool and returns its result as text or JSON. The error contains no secrets, so it may be shown to a
// language model.
func (c *Client) Call(ctx context.Context, t *domain.Tool, arguments map[string]any) (string, error) {
	if err := validation.CheckArguments(t.Parameters, arguments); err != nil {
		return "", err
	}
	if t.MCP != nil {
		bound, cancel := context.WithTimeout(ctx, mcpTimeout)
		defer cancel()
		return c.callMCP(bound, t, arguments)
	}
	bound, cancel := context.WithTimeout(ctx, time.Duration(t.HTTP.TimeoutMs)*time.Millisecond)
	defer cancel()
	return c.callHTTP(bound, t.HTTP, arguments)
}

func (c *Client) callHTTP(ctx context.Context, h *domain.ToolHTTP, arguments map[string]any) (string, error) {
	address, used := fillURL(h.URL, arguments)
	var body io.Reader = http.NoBody
	if h.Method == http.MethodGet || h.Method == http.MethodDelete {
		address = appendUnusedArguments(address, arguments, used)
	} else {
		var sent any = arguments
		if len(h.Body) > 0 {
			sent = fillValue(h.Body, arguments)
		}
		text, err := json.Marshal(sent)
		if err != nil {
			return "", errors.New("the arguments cannot be encoded")
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, h.Method, address, body)
	if err != nil || req.URL.Scheme != "https" {
		return "", errors.New("the URL is not valid")
	}
	if body != http.NoBody {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/plain")
	setHeaders(req, h.Headers, arguments)
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return "", failure(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := readResponse(resp)
	if err != nil {
		return "", err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return "", fmt.Errorf("the server responded with status %d: %s", resp.StatusCode, clip(text, 500))
	}
	if text == "" {
		text = fmt.Sprintf(`{"status":%d}`, resp.StatusCode)
	}
	return text, nil
}

func setHeaders(req *http.Request, headers map[string]string, arguments map[string]any) {
	req.Header.Set("User-Agent", agentName)
	for name, value := range headers {
		filled, _ := fillText(value, arguments, func(s string) string {
			return strings.Map(func(r rune) rune {
				if r < ' ' || r == 0x7f {
					return -1
				}
				return r
			}, s)
		})
		req.Header.Set(name, filled)
	}
}

// readResponse returns the body of an HTTP response as trimmed text.
func readResponse(resp *http.Response) (string, error) {
	body, err := content.ReadBody(resp.Header, resp.Body, maxResponseBytes)
	_, shown := errors.AsType[content.Error](err)
	switch {
	case errors.Is(err, content.ErrTooLarge):
		return "", fmt.Errorf("the response has more than %d bytes", maxResponseBytes)
	case shown:
		return "", fmt.Errorf("the response cannot be read: %w", err)
	case err != nil:
		return "", failure(err)
	}
	text, err := content.DecodeText(resp.Header.Get("Content-Type"), body)
	if err != nil {
		return "", fmt.Errorf("the response cannot be read: %w", err)
	}
	return strings.TrimSpace(text), nil
}

// failure returns an error that says why a request got no response. It contains no text of the server and no address.
func failure(err error) error {
	switch {
	case errors.Is(err, access.ErrEgress):
		return errors.New("connections to the address of the server are not allowed")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("the server did not respond in time")
	}
	return errors.New("the server cannot be reached")
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// fillText replaces each {{name}} in a text by the escaped argument of that name. used are the names that it found.
func fillText(text string, arguments map[string]any, escape func(string) string) (filled string, used []string) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		b.WriteString(before)
		if !found {
			return b.String(), used
		}
		name, after, closed := strings.Cut(rest, "}}")
		if !closed {
			b.WriteString("{{" + rest)
			return b.String(), used
		}
		name = strings.TrimSpace(name)
		used = append(used, name)
		b.WriteString(escape(argumentText(arguments[name])))
		text = after
	}
}

// fillURL replaces each {{name}} in the path and query of a URL and escapes the values accordingly. A value never
// becomes more than one segment of the path.
func fillURL(address string, arguments map[string]any) (filled string, used []string) {
	path, query, asks := strings.Cut(address, "?")
	path, used = fillText(path, arguments, func(s string) string {
		if s == "." || s == ".." {
			return "_" // the value must not select a parent directory
		}
		return url.PathEscape(s)
	})
	if !asks {
		return path, used
	}
	query, more := fillText(query, arguments, url.QueryEscape)
	return path + "?" + query, append(used, more...)
}

// appendUnusedArguments appends the arguments that are not in used to the query of the URL.
func appendUnusedArguments(address string, arguments map[string]any, used []string) string {
	rest := url.Values{}
	for name, value := range arguments {
		named := false
		for _, u := range used {
			named = named || u == name
		}
		if !named {
			rest.Set(name, argumentText(value))
		}
	}
	if len(rest) == 0 {
		return address
	}
	if strings.Contains(address, "?") {
		return address + "&" + rest.Encode()
	}
	return address + "?" + rest.Encode()
}

// argumentText returns an argument as text: strings unchanged, nil as "", other values as JSON.
func argumentText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// fillValue replaces each {{name}} in all strings of a JSON value. A string that consists only of {{name}} becomes the
// argument itself, with its JSON type.
func fillValue(v any, arguments map[string]any) any {
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "{{"); ok {
			if name, ok = strings.CutSuffix(name, "}}"); ok && !strings.Contains(name, "{{") {
				return arguments[strings.TrimSpace(name)]
			}
		}
		filled, _ := fillText(v, arguments, func(s string) string { return s })
		return filled
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			out[name] = fillValue(inner, arguments)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = fillValue(inner, arguments)
		}
		return out
	}
	return v
}
