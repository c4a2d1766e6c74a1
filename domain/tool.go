package domain

import (
	"maps"
	"slices"
)

// What a node may let its model do besides the workspace's own tools: they stand
// among the ids of those.
const (
	ToolAppointment = "appointment"
	ToolSMS         = "sms"
	ToolTransfer    = "transfer"
	ToolDNC         = "dnc"
	ToolEnd         = "end"
)

// BuiltInTools are all of them.
func BuiltInTools() []string {
	return []string{ToolAppointment, ToolSMS, ToolTransfer, ToolDNC, ToolEnd}
}

// toolIDs are those that are no built-in ones: the ids.
func toolIDs(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(t string) bool { return slices.Contains(BuiltInTools(), t) })
}

// ToolHTTP is how a tool is called over HTTP. In the strings of URL, Headers
// and Body {{name}} stands for an argument.
type ToolHTTP struct {
	Method      string            `json:"method"`
	URL         string            `json:"url"`
	Headers     map[string]string `json:"headers,omitempty" hidden:"true"` // secret
	HeaderHints map[string]string `json:"header_hints"`
	Body        map[string]any    `json:"body,omitempty"` // empty: the arguments
	TimeoutMs   int               `json:"timeout_ms"`
}

// ToolMCP is a tool of a server that speaks the Model Context Protocol; it is
// called by the tool's name.
type ToolMCP struct {
	URL         string            `json:"url"`
	Headers     map[string]string `json:"headers,omitempty" hidden:"true"` // secret
	HeaderHints map[string]string `json:"header_hints"`
}

// Tool is something that an agent may do besides speaking: one of HTTP and MCP
// says where.
type Tool struct {
	Meta
	Provenance
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"` // a JSON Schema of the arguments, an object
	HTTP        *ToolHTTP      `json:"http,omitempty"`
	MCP         *ToolMCP       `json:"mcp,omitempty"`
}

// Key names the row.
func (t *Tool) Key() Key { return Key{"tool", t.WorkspaceID, t.ID} }

// Indexes: by environment.
func (t *Tool) Indexes() []string { return []string{envIndex(t.Environment)} }

// Sort is by age.
func (t *Tool) Sort() string { return t.ID }

// URL is where the tool is called.
func (t *Tool) URL() string {
	switch {
	case t.HTTP != nil:
		return t.HTTP.URL
	case t.MCP != nil:
		return t.MCP.URL
	}
	return ""
}

// Headers are what is sent there.
func (t *Tool) Headers() map[string]string {
	switch {
	case t.HTTP != nil:
		return t.HTTP.Headers
	case t.MCP != nil:
		return t.MCP.Headers
	}
	return nil
}

// withHeaders is a copy whose headers are others.
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

// Sealed returns a copy whose headers went through f.
func (t *Tool) Sealed(f func(field, text string) (string, error)) (Record, error) {
	headers, err := t.transformHeaders(f)
	return t.withHeaders(headers), err
}

// Unseal puts the headers through f.
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

// Public is the tool as the API shows it: hints for the headers.
func (t *Tool) Public() *Tool { return t.withHeaders(nil) }
