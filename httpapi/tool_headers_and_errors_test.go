package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

func goodTool() m {
	return m{
		"name": "look_up_order", "description": "Tells where an order is.",
		"parameters": m{"type": "object", "properties": m{"order": m{"type": "string"}}, "required": []string{"order"}},
		"http":       m{"method": "GET", "url": "https://example.com/orders/{{order}}", "headers": m{"Authorization": "Bearer 0123456789abcdef"}},
	}
}

// nested returns a JSON Schema of objects that are nested to the given number of levels.
func nested(levels int) m {
	inner := m{"type": "object"}
	for range levels {
		inner = m{"type": "object", "properties": m{"a": inner}}
	}
	return inner
}

func TestToolHeadersAreNeverReturned(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	r := d.must(201, "POST", "/v1/tools", "operator", goodTool())
	id := r.json(t)["id"].(string)
	for _, r := range []reply{
		r, d.must(200, "GET", "/v1/tools/"+id, "operator", nil), d.must(200, "GET", "/v1/tools", "operator", nil),
		d.must(200, "PATCH", "/v1/tools/"+id, "operator", m{"name": "look"}),
	} {
		assert.NotContains(t, string(r.Body), "0123456789")
		assert.NotContains(t, string(r.Body), `"headers"`)
	}
	stored, err := d.tools.get(id)
	require.NoError(t, err)
	assert.Equal(t, "Bearer 0123456789abcdef", stored.HTTP.Headers["Authorization"])
	assert.Equal(t, 10_000, stored.HTTP.TimeoutMs)
}

func TestToolURLChangeToOtherHostNeedsHeadersAgain(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.create("/v1/tools", goodTool())
	path := "/v1/tools/" + id
	headers := func() map[string]string {
		stored, err := d.tools.get(id)
		require.NoError(t, err)
		return stored.Headers()
	}
	d.must(200, "PATCH", path, "operator", m{"http": m{"url": "https://example.com/other"}})
	assert.Len(t, headers(), 1, "the host is unchanged, so the headers stay")
	r := d.must(422, "PATCH", path, "operator", m{"http": m{"url": "https://example.org/orders"}})
	assert.Equal(t, "http.headers", r.failure(t)["param"])
	assert.Equal(t, "http", d.must(422, "PATCH", path, "operator", m{"mcp": m{"url": "https://example.org/mcp"}}).failure(t)["param"], "a tool has either http or mcp")
	assert.Len(t, headers(), 1)
	d.must(200, "PATCH", path, "operator", m{"http": m{"url": "https://example.org/orders", "headers": m{"Authorization": nil, "X-Key": "b"}}})
	assert.Equal(t, map[string]string{"X-Key": "b"}, headers())
	got := d.must(200, "PATCH", path, "operator", m{"http": nil, "mcp": m{"url": "https://example.net/mcp"}}).json(t)
	assert.Nil(t, got["http"])
	assert.Empty(t, headers())
}

func TestToolErrorsNameTheirField(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	with := func(name string, v any) m {
		tool := goodTool()
		tool[name] = v
		return tool
	}
	http := func(name string, v any) m { return with("http", m{"url": "https://example.com", name: v}) }
	for param, body := range map[string]m{
		"name":                         with("name", "2 words"),
		"description":                  with("description", strings.Repeat("x", 2001)),
		"parameters":                   with("parameters", nested(20)),
		"parameters.type":              with("parameters", m{"type": "string"}),
		"parameters.properties.a.type": with("parameters", m{"type": "object", "properties": m{"a": m{"type": "word"}}}),
		"http.method":                  http("method", "TRACE"),
		"http.url":                     http("url", "http://example.com"),
		"http.timeout_ms":              http("timeout_ms", 99),
		"http.headers":                 http("headers", m{"Host": "example.org"}),
		"http.headers.X-A":             http("headers", m{"X-A": "a\r\nX-B: c"}),
		"http.body":                    with("http", m{"url": "https://example.com", "method": "GET", "body": m{"a": 1}}),
		"http":                         with("mcp", m{"url": "https://example.com/mcp"}),
	} {
		r := d.must(422, "POST", "/v1/tools", "operator", body)
		assert.Equal(t, param, r.failure(t)["param"], "%s", r.Body)
	}
	for _, ref := range []string{"file:///etc/passwd", "https://example.com/schema.json", "urn:other"} {
		r := d.must(422, "POST", "/v1/tools", "operator", with("parameters", m{"type": "object", "properties": m{"a": m{"$ref": ref}}}))
		assert.Equal(t, "parameters", r.failure(t)["param"])
		assert.Contains(t, r.failure(t)["message"], "$ref")
	}
	within := m{"type": "object", "properties": m{"a": m{"$ref": "#/$defs/a"}}, "$defs": m{"a": m{"type": "string", "pattern": "^[a-z]+$"}}}
	d.must(201, "POST", "/v1/tools", "operator", with("parameters", within))
	large := m{"type": "object", "description": strings.Repeat("x", 33<<10)}
	assert.Equal(t, "parameters", d.must(422, "POST", "/v1/tools", "operator", with("parameters", large)).failure(t)["param"])
}

func TestToolSealsEachHeader(t *testing.T) {
	t.Parallel()
	tool := &domain.Tool{Name: "t", HTTP: &domain.ToolHTTP{URL: "https://example.com", Headers: map[string]string{"A": "one", "B": "two"}}}
	sealed, err := tool.Sealed(func(field, text string) (string, error) { return field + "=" + text, nil })
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"A": "header A=one", "B": "header B=two"}, sealed.(*domain.Tool).HTTP.Headers)
	assert.Equal(t, "one", tool.HTTP.Headers["A"], "the stored tool is unchanged")
	text, err := json.Marshal(tool.Public())
	require.NoError(t, err)
	assert.NotContains(t, string(text), "one")
}
