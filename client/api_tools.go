// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListToolsQuery holds the query parameters of ListTools. Zero values are not sent.
type ListToolsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllTools iterates over all pages of ListTools. It ends after the first error.
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
// Needs an API key or a dashboard session. A tool is an HTTP request or a tool of an MCP server that agents and pathways can call.
func (c *Client) CreateTool(ctx context.Context, body *NewTool, options ...Option) (*Tool, error) {
	return send[Tool](ctx, c, "POST", "/v1/tools", nil, asJSON(body), options)
}

// DeleteTool: Delete a tool.
//
// DELETE /v1/tools/{id}
//
// 409 invalid_state with used_by while an agent (draft or published version) or a pathway references the tool.
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
// Needs an API key or a dashboard session. To change the kind of a tool, set the old kind to null: {"http": null, "mcp": {…}}.
func (c *Client) UpdateTool(ctx context.Context, id string, body *ToolUpdate, options ...Option) (*Tool, error) {
	return send[Tool](ctx, c, "PATCH", "/v1/tools/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListTool is part of a response.
type ListTool struct {
	// The resources of this page.
	Data []Tool `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewTool is part of a request.
type NewTool struct {
	// Purpose of the tool, by which a language model selects it.
	Description *string `json:"description,omitempty"`
	// HTTP request of the tool. Exactly one of http and mcp is required.
	HTTP *NewToolHTTP `json:"http,omitempty"`
	// Tool of an MCP server. Exactly one of http and mcp is required.
	Mcp *NewToolMCP `json:"mcp,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Letters, digits, _ and -; unique in the workspace.
	Name string `json:"name"`
	// JSON Schema of the arguments object, at most 32 KiB and 16 levels, without external references.
	Parameters map[string]any `json:"parameters,omitzero"`
}

// NewToolHTTP is part of a request.
type NewToolHTTP struct {
	// JSON body of the request. {{name}} in its strings inserts an argument. Default: the arguments.
	Body map[string]any `json:"body,omitzero"`
	// Secret headers, stored encrypted; responses show a hint only. When the URL changes to another host, send the headers again or remove them with null.
	Headers map[string]string `json:"headers,omitzero"`
	// HTTP method. One of GET, POST, PUT, PATCH, DELETE.
	Method *string `json:"method,omitempty"`
	// Timeout of the request, 100 to 60000.
	TimeoutMs *int64 `json:"timeout_ms,omitempty"`
	// https URL at an allowed address. {{name}} in path and query inserts an argument.
	URL string `json:"url"`
}

// NewToolMCP is part of a request.
type NewToolMCP struct {
	// Secret headers, as for http.
	Headers map[string]string `json:"headers,omitzero"`
	// https URL of the MCP server at an allowed address. The server must have a tool with this name.
	URL string `json:"url"`
}

// Tool is part of a response.
type Tool struct {
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// Purpose of the tool, by which a language model selects it.
	Description string `json:"description"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// HTTP request of the tool.
	HTTP *ToolHTTP `json:"http,omitempty"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// MCP server of the tool.
	Mcp *ToolMCP `json:"mcp,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// JSON Schema of the arguments.
	Parameters map[string]any `json:"parameters"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// ToolHTTP is part of a response.
type ToolHTTP struct {
	// JSON body of the request; {{name}} inserts an argument. Missing: the arguments.
	Body map[string]any `json:"body,omitzero"`
	// Names of the secret headers, each with the last characters of its value.
	HeaderHints map[string]string `json:"header_hints"`
	// HTTP method.
	Method string `json:"method"`
	// Timeout of the request.
	TimeoutMs int64 `json:"timeout_ms"`
	// URL of the request; {{name}} inserts an argument.
	URL string `json:"url"`
}

// ToolHTTPUpdate is part of a request.
type ToolHTTPUpdate struct {
	// JSON body of the request. {{name}} in its strings inserts an argument. Default: the arguments.
	Body Optional[map[string]any] `json:"body,omitzero"`
	// Secret headers, stored encrypted; responses show a hint only. When the URL changes to another host, send the headers again or remove them with null.
	Headers Optional[map[string]*string] `json:"headers,omitzero"`
	// HTTP method. One of GET, POST, PUT, PATCH, DELETE.
	Method Optional[string] `json:"method,omitzero"`
	// Timeout of the request, 100 to 60000.
	TimeoutMs Optional[int64] `json:"timeout_ms,omitzero"`
	// https URL at an allowed address. {{name}} in path and query inserts an argument.
	URL *string `json:"url,omitempty"`
}

// ToolMCP is part of a response.
type ToolMCP struct {
	// Names of the secret headers, each with the last characters of its value.
	HeaderHints map[string]string `json:"header_hints"`
	// URL of the MCP server.
	URL string `json:"url"`
}

// ToolMCPUpdate is part of a request.
type ToolMCPUpdate struct {
	// Secret headers, as for http.
	Headers Optional[map[string]*string] `json:"headers,omitzero"`
	// https URL of the MCP server at an allowed address. The server must have a tool with this name.
	URL *string `json:"url,omitempty"`
}

// ToolUpdate is part of a request.
type ToolUpdate struct {
	// Purpose of the tool, by which a language model selects it.
	Description Optional[string] `json:"description,omitzero"`
	// HTTP request of the tool. Exactly one of http and mcp is required.
	HTTP Optional[ToolHTTPUpdate] `json:"http,omitzero"`
	// Tool of an MCP server. Exactly one of http and mcp is required.
	Mcp Optional[ToolMCPUpdate] `json:"mcp,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Letters, digits, _ and -; unique in the workspace.
	Name *string `json:"name,omitempty"`
	// JSON Schema of the arguments object, at most 32 KiB and 16 levels, without external references.
	Parameters Optional[map[string]any] `json:"parameters,omitzero"`
}
