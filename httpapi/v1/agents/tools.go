package agents

import (
	"context"
	"maps"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// Tools are what agents may do besides speaking.
type Tools interface {
	// CreateTool: already_exists with param name where another one has it; a URL
	// outside Egress: 422 invalid_url.
	CreateTool(ctx context.Context, p domain.Principal, t *domain.Tool) (*domain.Tool, error)
	Tool(ctx context.Context, p domain.Principal, id string) (*domain.Tool, error)
	ListTools(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Tool], error)
	UpdateTool(ctx context.Context, p domain.Principal, id string, change func(*domain.Tool) error) (*domain.Tool, error)
	// DeleteTool: invalid_state with used_by while an agent or a pathway names it.
	DeleteTool(ctx context.Context, p domain.Principal, id string) error
}

// toolHandlers serves the operations of tools.
type toolHandlers struct {
	*router.Router

	tools Tools
}

// NewToolHTTP is how a tool is called over HTTP as it is sent.
type NewToolHTTP struct {
	Method    string            `json:"method,omitempty" enum:"GET,POST,PUT,PATCH,DELETE" default:"POST"`
	URL       string            `json:"url" doc:"https only, at an address that may be reached. {{name}} in its path and query stands for an argument." example:"https://example.com/orders/{{order}}"`
	Headers   map[string]string `json:"headers,omitempty" doc:"Secret: kept encrypted and never shown again but for a hint. A change of the URL to another host has to send them again, or remove them with null."`
	Body      map[string]any    `json:"body,omitempty" doc:"JSON that is sent, in whose strings {{name}} stands for an argument. Without it the arguments are sent."`
	TimeoutMs int               `json:"timeout_ms,omitempty" minimum:"0" maximum:"60000" default:"10000" doc:"How long an answer is waited for: 100 to 60000."`
}

// NewToolMCP is a tool of an MCP server as it is sent.
type NewToolMCP struct {
	URL     string            `json:"url" doc:"Of the server, https only, at an address that may be reached. It is asked for the tool's name." example:"https://example.com/mcp"`
	Headers map[string]string `json:"headers,omitempty" doc:"As those of http."`
}

// NewTool is a tool as it is sent.
type NewTool struct {
	Name        string            `json:"name" doc:"Letters, digits, _ and -; unique in the workspace." example:"look_up_order"`
	Description string            `json:"description,omitempty" doc:"What it is for: a model decides by it." example:"Tells where an order is."`
	Parameters  map[string]any    `json:"parameters,omitempty" doc:"A JSON Schema of the arguments, which are an object: 32 KiB and 16 levels at most, without references to elsewhere."`
	HTTP        *NewToolHTTP      `json:"http,omitempty" doc:"One of http and mcp."`
	MCP         *NewToolMCP       `json:"mcp,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// apply writes the settings to a tool, and checks the tool.
func (n *NewTool) apply(t *domain.Tool) error {
	t.Name, t.Description, t.Parameters, t.Metadata = n.Name, n.Description, n.Parameters, n.Metadata
	t.HTTP, t.MCP = nil, nil
	if h := n.HTTP; h != nil {
		t.HTTP = &domain.ToolHTTP{Method: h.Method, URL: h.URL, Body: h.Body, TimeoutMs: h.TimeoutMs, Headers: maps.Clone(h.Headers)}
	}
	if m := n.MCP; m != nil {
		t.MCP = &domain.ToolMCP{URL: m.URL, Headers: maps.Clone(m.Headers)}
	}
	validation.ToolDefaults(t)
	return validation.Tool(t).Err()
}

// change is apply for a stored tool. Stored headers are secret: they are never
// sent to another host than the one that they were set for.
func (n *NewTool) change(t *domain.Tool, patch *router.Patch[NewTool]) error {
	url, stored := t.URL(), t.Headers()
	var p domain.Problems
	check := func(kind, to string, headers map[string]string) {
		for name := range headers {
			if _, kept := stored[name]; kept && !patch.Has(kind, "headers", name) && !validation.IsSameHost(url, to) {
				p.Add(kind+".headers", domain.CodeValidation, "must be sent again: stored headers go to their own host only")
				return
			}
		}
	}
	if h := n.HTTP; h != nil {
		check("http", h.URL, h.Headers)
	}
	if m := n.MCP; m != nil {
		check("mcp", m.URL, m.Headers)
	}
	if err := p.Err(); err != nil {
		return err
	}
	return n.apply(t)
}

// registerTools registers the operations of tools.
func registerTools(r *router.Router, tools Tools) {
	s := &toolHandlers{Router: r, tools: tools}
	const tag, path = "Tools", "/v1/tools"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createTool", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create a tool",
		Description: "What agents and pathways may do besides speaking: a request over HTTP, or a tool of an MCP server.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewTool }) (*router.Response[*domain.Tool], error) {
		t := &domain.Tool{}
		if err := in.Body.apply(t); err != nil {
			return nil, err
		}
		made, err := s.tools.CreateTool(ctx, p, t)
		if err != nil {
			return nil, err
		}
		return router.RespondCreated(ctx, made.Public(), nil)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listTools", Tag: tag, Summary: "List tools"},
		router.HandleList(s.tools, Tools.ListTools, (*domain.Tool).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getTool", Tag: tag, Summary: "Get a tool"},
		router.HandleByID(domain.PrefixTool, s.tools, Tools.Tool, (*domain.Tool).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateTool", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a tool", Description: "A tool that is called another way needs null for the one that it has: {\"http\": null, \"mcp\": {…}}."},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Body router.Patch[NewTool]
		},
		) (*router.Response[*domain.Tool], error) {
			id, err := router.PathID(domain.PrefixTool, in.ID)
			if err != nil {
				return nil, err
			}
			return router.RespondPublic(s.tools.UpdateTool(ctx, p, id, router.PatchFunc(s.Registry, &in.Body, func(n *NewTool, t *domain.Tool) error { return n.change(t, &in.Body) })))
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteTool", Tag: tag, Summary: "Delete a tool", Errors: []int{http.StatusConflict},
		Description: "409 invalid_state with used_by while an agent (its draft or the version that it speaks) or a pathway names it.",
	}, router.HandleDeleteByID(domain.PrefixTool, "tool", s.tools, Tools.DeleteTool))
}

// CheckRules checks what the schema cannot express.
func (n *NewTool) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Tool{})
}
