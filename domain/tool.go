package domain

import (
	"maps"
	"slices"
)

// The built-in tools of a converse node. Lists of tools contain these names and the IDs of the workspace's tools.
const (
	ToolAppointment = "appointment"
	ToolSMS         = "sms"
	ToolTransfer    = "transfer"
	ToolDNC         = "dnc"
	ToolEnd         = "end"
)

// BuiltInTools returns the names of the built-in tools.
func BuiltInTools() []string {
	return []string{ToolAppointment, ToolSMS, ToolTransfer, ToolDNC, ToolEnd}
}

// toolIDs returns the entries of a tool list that are IDs of the workspace's tools, without the built-in tools.
func toolIDs(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(t string) bool { return slices.Contains(BuiltInTools(), t) })
}

// ToolHTTP defines the HTTP request of a tool. {{name}} in URL, Headers and Body is replaced with an argument.
type ToolHTTP struct {
	Method      string            `json:"method"`
	URL         string            `json:"url"`
	Headers     map[string]string `json:"headers,omitempty" hidden:"true"` // secret
	HeaderHints map[string]string `json:"header_hints"`
	Body        map[string]any    `json:"body,omitempty"` // empty: the arguments are the body
	TimeoutMs   int               `json:"timeout_ms"`
}

// ToolMCP refers to the tool with the same name on a Model Context Protocol server.
type ToolMCP struct {
	URL         string            `json:"url"`
	Headers     map[string]string `json:"headers,omitempty" hidden:"true"` // secret
	HeaderHints map[string]string `json:"header_hints"`
}

// Tool is an external function that an agent can call. Exactly one of HTTP and MCP is set.
type Tool struct {
	Meta
	Provenance
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"` // JSON Schema of the arguments; an object
	HTTP        *ToolHTTP      `json:"http,omitempty"`
	MCP         *ToolMCP       `json:"mcp,omitempty"`
}

// Key returns the key of the tool in the store.
func (t *Tool) Key() Key { return Key{"tool", t.WorkspaceID, t.ID} }

// Indexes returns the index of all tools in the environment.
func (t *Tool) Indexes() []string { return []string{envIndex(t.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (t *Tool) Sort() string { return t.ID }

// URL returns the address of the tool.
func (t *Tool) URL() string {
	switch {
	case t.HTTP != nil:
		return t.HTTP.URL
	case t.MCP != nil:
		return t.MCP.URL
	}
	return ""
}

// Headers returns the headers of requests to the tool.
func (t *Tool) Headers() map[string]string {
	switch {
	case t.HTTP != nil:
		return t.HTTP.Headers
	case t.MCP != nil:
		return t.MCP.Headers
	}
	return nil
}

// withHeaders returns a copy of the tool whose headers are replaced.
func (t *Tool) withHeaders(headers map[string]string) *Tool {
	c := *t
	if t.HTTP != nil {
		h := *t.HTTP
		h.Headers = headers
		c.HTTP = &h
	}
	if t.MCP != nil {
		m := *t.MCP
		m.Headers = headers
		c.MCP = &m
	}
	return &c
}

// Sealed returns a copy whose header values are encrypted by f.
func (t *Tool) Sealed(f func(field, text string) (string, error)) (Record, error) {
	headers, err := t.transformHeaders(f)
	return t.withHeaders(headers), err
}

// Unseal decrypts the header values with f.
func (t *Tool) Unseal(f func(field, text string) (string, error)) error {
	headers, err := t.transformHeaders(f)
	*t = *t.withHeaders(headers)
	return err
}

func (t *Tool) transformHeaders(f func(field, text string) (string, error)) (map[string]string, error) {
	headers := maps.Clone(t.Headers())
	for name, text := range headers {
		var err error
		if headers[name], err = f("header "+name, text); err != nil {
			return nil, err
		}
	}
	return headers, nil
}

// Public returns a copy with the fields that the API shows, without headers, because their values are secret.
func (t *Tool) Public() *Tool { return t.withHeaders(nil) }
