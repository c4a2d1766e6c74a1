// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListToolsQuery is what ListTools can be asked; what is zero is left out.
type ListToolsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListToolsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListTools: List tools.
//
// GET /v1/tools
func (c *Client) ListTools(ctx context.Context, q ListToolsQuery, options ...Option) (*ListTool, error) {
	return send[ListTool](ctx, c, "GET", "/v1/tools", q.values(), nil, options)
}

// AllTools walks the pages of ListTools to their end; an error is the last that comes.
func (c *Client) AllTools(ctx context.Context, q ListToolsQuery, options ...Option) iter.Seq2[Tool, error] {
	return pages(&q.Cursor, func() ([]Tool, *string, error) {
		l, err := c.ListTools(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateTool: Create a tool.
//
// POST /v1/tools
//
// Needs an API key or a dashboard session. What agents and pathways may do besides speaking: a request over HTTP, or a tool of an MCP server.
func (c *Client) CreateTool(ctx context.Context, body *NewTool, options ...Option) (*Tool, error) {
	return send[Tool](ctx, c, "POST", "/v1/tools", nil, asJSON(body), options)
}

// DeleteTool: Delete a tool.
//
// DELETE /v1/tools/{id}
//
// 409 invalid_state with used_by while an agent (its draft or the version that it speaks) or a pathway names it.
func (c *Client) DeleteTool(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/tools/"+url.PathEscape(id), nil, nil, options)
}

// GetTool: Get a tool.
//
// GET /v1/tools/{id}
func (c *Client) GetTool(ctx context.Context, id string, options ...Option) (*Tool, error) {
	return send[Tool](ctx, c, "GET", "/v1/tools/"+url.PathEscape(id), nil, nil, options)
}

// UpdateTool: Change a tool.
//
// PATCH /v1/tools/{id}
//
// Needs an API key or a dashboard session. A tool that is called another way needs null for the one that it has: {"http": null, "mcp": {…}}.
func (c *Client) UpdateTool(ctx context.Context, id string, body *ToolUpdate, options ...Option) (*Tool, error) {
	return send[Tool](ctx, c, "PATCH", "/v1/tools/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListTool is an answer of the service, or a part of one.
type ListTool struct {
	// The rows of this page.
	Data []Tool `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewTool is sent to the service.
type NewTool struct {
	// What it is for: a model decides by it.
	Description *string `json:"description,omitempty"`
	// One of http and mcp.
	HTTP *NewToolHTTP `json:"http,omitempty"`
	// A tool of an MCP server; one of http and mcp.
	Mcp *NewToolMCP `json:"mcp,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Letters, digits, _ and -; unique in the workspace.
	Name string `json:"name"`
	// A JSON Schema of the arguments, which are an object: 32 KiB and 16 levels at most, without references to elsewhere.
	Parameters map[string]any `json:"parameters,omitzero"`
}

// NewToolHTTP is sent to the service.
type NewToolHTTP struct {
	// JSON that is sent, in whose strings {{name}} stands for an argument. Without it the arguments are sent.
	Body map[string]any `json:"body,omitzero"`
	// Secret: kept encrypted and never shown again but for a hint. A change of the URL to another host has to send them again, or remove them with null.
	Headers map[string]string `json:"headers,omitzero"`
	// The method. One of GET, POST, PUT, PATCH, DELETE.
	Method *string `json:"method,omitempty"`
	// How long an answer is waited for: 100 to 60000.
	TimeoutMs *int64 `json:"timeout_ms,omitempty"`
	// https only, at an address that may be reached. {{name}} in its path and query stands for an argument.
	URL string `json:"url"`
}

// NewToolMCP is sent to the service.
type NewToolMCP struct {
	// As those of http.
	Headers map[string]string `json:"headers,omitzero"`
	// Of the server, https only, at an address that may be reached. It is asked for the tool's name.
	URL string `json:"url"`
}

// Tool is an answer of the service, or a part of one.
type Tool struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// What it is for: a model decides by it.
	Description string `json:"description"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// How it is called over HTTP.
	HTTP *ToolHTTP `json:"http,omitempty"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Of which MCP server it is.
	Mcp *ToolMCP `json:"mcp,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// A JSON Schema of its arguments.
	Parameters map[string]any `json:"parameters"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ToolHTTP is an answer of the service, or a part of one.
type ToolHTTP struct {
	// What is sent, in whose strings {{name}} stands for an argument; without it the arguments are.
	Body map[string]any `json:"body,omitzero"`
	// The headers that are sent, each with the end of what it says.
	HeaderHints map[string]string `json:"header_hints"`
	// The method.
	Method string `json:"method"`
	// How long an answer is waited for.
	TimeoutMs int64 `json:"timeout_ms"`
	// Where it is called; {{name}} stands for an argument.
	URL string `json:"url"`
}

// ToolHTTPUpdate is sent to the service.
type ToolHTTPUpdate struct {
	// JSON that is sent, in whose strings {{name}} stands for an argument. Without it the arguments are sent.
	Body Optional[map[string]any] `json:"body,omitzero"`
	// Secret: kept encrypted and never shown again but for a hint. A change of the URL to another host has to send them again, or remove them with null.
	Headers Optional[map[string]*string] `json:"headers,omitzero"`
	// The method. One of GET, POST, PUT, PATCH, DELETE.
	Method Optional[string] `json:"method,omitzero"`
	// How long an answer is waited for: 100 to 60000.
	TimeoutMs Optional[int64] `json:"timeout_ms,omitzero"`
	// https only, at an address that may be reached. {{name}} in its path and query stands for an argument.
	URL *string `json:"url,omitempty"`
}

// ToolMCP is an answer of the service, or a part of one.
type ToolMCP struct {
	// The headers that are sent, each with the end of what it says.
	HeaderHints map[string]string `json:"header_hints"`
	// Where the server is.
	URL string `json:"url"`
}

// ToolMCPUpdate is sent to the service.
type ToolMCPUpdate struct {
	// As those of http.
	Headers Optional[map[string]*string] `json:"headers,omitzero"`
	// Of the server, https only, at an address that may be reached. It is asked for the tool's name.
	URL *string `json:"url,omitempty"`
}

// ToolUpdate is sent to the service.
type ToolUpdate struct {
	// What it is for: a model decides by it.
	Description Optional[string] `json:"description,omitzero"`
	// One of http and mcp.
	HTTP Optional[ToolHTTPUpdate] `json:"http,omitzero"`
	// A tool of an MCP server; one of http and mcp.
	Mcp Optional[ToolMCPUpdate] `json:"mcp,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Letters, digits, _ and -; unique in the workspace.
	Name *string `json:"name,omitempty"`
	// A JSON Schema of the arguments, which are an object: 32 KiB and 16 levels at most, without references to elsewhere.
	Parameters Optional[map[string]any] `json:"parameters,omitzero"`
}
