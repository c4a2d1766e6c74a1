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

// Tools manages the tools that agents can call.
type Tools interface {
	// CreateTool creates a tool. Errors: already_exists with param name if another tool has the name, invalid_url (422) for
	// a URL at a forbidden address.
	CreateTool(ctx context.Context, p domain.Principal, t *domain.Tool) (*domain.Tool, error)
	Tool(ctx context.Context, p domain.Principal, id string) (*domain.Tool, error)
	ListTools(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Tool], error)
	UpdateTool(ctx context.Context, p domain.Principal, id string, change func(*domain.Tool) error) (*domain.Tool, error)
	// DeleteTool deletes a tool. Error: invalid_state with the field used_by while an agent or a pathway references the
	// tool.
	DeleteTool(ctx context.Context, p domain.Principal, id string) error
}

// toolHandlers serves the operations on tools.
type toolHandlers struct {
	*router.Router

	tools Tools
}

// NewToolHTTP are the HTTP settings of a tool in a request body.
type NewToolHTTP struct {
	Method    string            `json:"method,omitempty" enum:"GET,POST,PUT,PATCH,DELETE" default:"POST"`
	URL       string            `json:"url" doc:"https URL at an allowed address. {{name}} in path and query inserts an argument." example:"https://example.com/orders/{{order}}"`
	Headers   map[string]string `json:"headers,omitempty" doc:"Secret headers, stored encrypted; responses show a hint only. When the URL changes to another host, send the headers again or remove them with null."`
	Body      map[string]any    `json:"body,omitempty" doc:"JSON body of the request. {{name}} in its strings inserts an argument. Default: the arguments."`
	TimeoutMs int               `json:"timeout_ms,omitempty" minimum:"0" maximum:"60000" default:"10000" doc:"Timeout of the request, 100 to 60000."`
}

// NewToolMCP are the MCP server settings of a tool in a request body.
type NewToolMCP struct {
	URL     string            `json:"url" doc:"https URL of the MCP server at an allowed address. The server must have a tool with this name." example:"https://example.com/mcp"`
	Headers map[string]string `json:"headers,omitempty" doc:"Secret headers, as for http."`
}

// NewTool is a tool in a request body.
type NewTool struct {
	Name        string            `json:"name" doc:"Letters, digits, _ and -; unique in the workspace." example:"look_up_order"`
	Description string            `json:"description,omitempty" doc:"Purpose of the tool, by which a language model selects it." example:"Returns the state of an order."`
	Parameters  map[string]any    `json:"parameters,omitempty" doc:"JSON Schema of the arguments object, at most 32 KiB and 16 levels, without external references."`
	HTTP        *NewToolHTTP      `json:"http,omitempty" doc:"HTTP request of the tool. Exactly one of http and mcp is required."`
	MCP         *NewToolMCP       `json:"mcp,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// apply copies the settings in the request body to a tool and validates the tool.
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

// change applies a patch to a stored tool. It returns an error if the patch sets a URL on another host and keeps a
// stored header, because headers are secret.
func (n *NewTool) change(t *domain.Tool, patch *router.Patch[NewTool]) error {
	url, stored := t.URL(), t.Headers()
	var p domain.Problems
	check := func(kind, to string, headers map[string]string) {
		for name := range headers {
			if _, kept := stored[name]; kept && !patch.Has(kind, "headers", name) && !validation.IsSameHost(url, to) {
				p.Add(kind+".headers", domain.CodeValidation, "must be sent again: stored headers are valid for their host only")
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

// registerTools registers the routes for tools.
func registerTools(r *router.Router, tools Tools) {
	s := &toolHandlers{Router: r, tools: tools}
	const tag, path = "Tools", "/v1/tools"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createTool", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create a tool",
		Description: "A tool is an HTTP request or a tool of an MCP server that agents and pathways can call.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewTool }) (*router.Response[*domain.Tool], error) {
		t := &domain.Tool{}
		if err := in.Body.apply(t); err != nil {
			return nil, err
		}
		created, err := s.tools.CreateTool(ctx, p, t)
		if err != nil {
			return nil, err
		}
		return router.RespondCreated(ctx, created.Public(), nil)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listTools", Tag: tag, Summary: "List tools"},
		router.HandleList(s.tools, Tools.ListTools, (*domain.Tool).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getTool", Tag: tag, Summary: "Get a tool"},
		router.HandleByID(domain.PrefixTool, s.tools, Tools.Tool, (*domain.Tool).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateTool", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a tool", Description: "To change the kind of a tool, set the old kind to null: {\"http\": null, \"mcp\": {…}}."},
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
		Description: "409 invalid_state with used_by while an agent (draft or published version) or a pathway references the tool.",
	}, router.HandleDeleteByID(domain.PrefixTool, "tool", s.tools, Tools.DeleteTool))
}

// CheckRules returns the violations of the rules for a tool that the JSON schema cannot express.
func (n *NewTool) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Tool{})
}
