package httpapi

import (
	"context"
	"maps"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/rules"
)

// NewToolHTTP is how a tool is called over HTTP as it is sent.
type NewToolHTTP struct {
	Method    string            `json:"method,omitempty" enum:"GET,POST,PUT,PATCH,DELETE" default:"POST"`
	URL       string            `json:"url" doc:"https only, at an address that may be reached. {{name}} in its path and query stands for an argument." example:"https://example.com/orders/{{order}}"`
	Headers   map[string]string `json:"headers,omitempty" doc:"Secret: kept encrypted and never shown again but for a hint. In a PATCH those that were sent before stay where this is left out and the host stays the same; {} takes them away."`
	Body      map[string]any    `json:"body,omitempty" doc:"JSON that is sent, in whose strings {{name}} stands for an argument. Without it the arguments are sent."`
	TimeoutMs int               `json:"timeout_ms,omitempty" minimum:"0" maximum:"60000" default:"10000" doc:"How long an answer is waited for: 100 to 60000."`
}

// NewToolMCP is a tool of an MCP server as it is sent.
type NewToolMCP struct {
	URL     string            `json:"url" doc:"Of the server, https only, at an address that may be reached. It is asked for the tool's name." example:"https://example.com/mcp"`
	Headers map[string]string `json:"headers,omitempty" doc:"As those of http."`
}

// ToolChange is a tool as it is sent; in a PATCH what is left out stays.
type ToolChange struct {
	Name        *string           `json:"name,omitempty" doc:"Letters, digits, _ and -; unique in the workspace." example:"look_up_order"`
	Description *string           `json:"description,omitempty" doc:"What it is for: a model decides by it." example:"Tells where an order is."`
	Parameters  map[string]any    `json:"parameters,omitempty" doc:"A JSON Schema of the arguments, which are an object: 32 KiB and 16 levels at most, without references to elsewhere."`
	HTTP        *NewToolHTTP      `json:"http,omitempty" doc:"One of http and mcp."`
	MCP         *NewToolMCP       `json:"mcp,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

func (n *ToolChange) apply(t *domain.Tool) error {
	set(&t.Name, n.Name)
	set(&t.Description, n.Description)
	if n.Parameters != nil {
		t.Parameters = n.Parameters
	}
	if n.Metadata != nil {
		t.Metadata = n.Metadata
	}
	var p domain.Problems
	n.aim(&p, t)
	rules.ToolDefaults(t)
	return append(p, rules.Tool(t)...).Err()
}

// aim sets where the tool is called. Headers that were told for one host are
// never sent to another.
func (n *ToolChange) aim(p *domain.Problems, t *domain.Tool) {
	url, secret := t.URL(), t.Headers()
	keep := func(param, to string, sent map[string]string) map[string]string {
		if sent != nil || len(secret) == 0 {
			return maps.Clone(sent)
		}
		if !rules.SameHost(url, to) {
			p.Add(param, domain.CodeValidation, "must be sent again: those that are kept go to their own host only")
			return nil
		}
		return secret
	}
	if h := n.HTTP; h != nil {
		t.HTTP = &domain.ToolHTTP{Method: h.Method, URL: h.URL, Body: h.Body, TimeoutMs: h.TimeoutMs, Headers: keep("http.headers", h.URL, h.Headers)}
	}
	if m := n.MCP; m != nil {
		t.MCP = &domain.ToolMCP{URL: m.URL, Headers: keep("mcp.headers", m.URL, m.Headers)}
	}
	switch { // one takes the place of the other
	case n.HTTP != nil && n.MCP == nil:
		t.MCP = nil
	case n.MCP != nil && n.HTTP == nil:
		t.HTTP = nil
	}
}

func (s *Server) toolRoutes() {
	const tag, path = "Tools", "/v1/tools"
	add(s, operation{
		method: http.MethodPost, path: path, id: "createTool", credential: keyOrSession, tag: tag, status: http.StatusCreated, summary: "Create a tool",
		about: "What agents and pathways may do besides speaking: a request over HTTP, or a tool of an MCP server.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body ToolChange }) (*answer[*domain.Tool], error) {
		t := &domain.Tool{}
		if err := in.Body.apply(t); err != nil {
			return nil, err
		}
		made, err := s.ports.Tools.CreateTool(ctx, p, t)
		if err != nil {
			return nil, err
		}
		return touched(ctx, made.Public(), nil)
	})
	add(s, operation{method: http.MethodGet, path: path, id: "listTools", tag: tag, summary: "List tools"},
		func(ctx context.Context, p domain.Principal, in *struct{ Paging }) (*answer[List[*domain.Tool]], error) {
			l, err := s.ports.Tools.ListTools(ctx, p, in.page())
			return page(l, err, (*domain.Tool).Public)
		})
	add(s, operation{method: http.MethodGet, path: path + "/{id}", id: "getTool", tag: tag, summary: "Get a tool"},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[*domain.Tool], error) {
			id, err := named(domain.PrefixTool, in.ID)
			if err != nil {
				return nil, err
			}
			return public(s.ports.Tools.Tool(ctx, p, id))
		})
	add(s, operation{method: http.MethodPatch, path: path + "/{id}", id: "updateTool", credential: keyOrSession, tag: tag, summary: "Change a tool"},
		func(ctx context.Context, p domain.Principal, in *struct {
			One
			Body ToolChange
		},
		) (*answer[*domain.Tool], error) {
			id, err := named(domain.PrefixTool, in.ID)
			if err != nil {
				return nil, err
			}
			return public(s.ports.Tools.UpdateTool(ctx, p, id, in.Body.apply))
		})
	add(s, operation{
		method: http.MethodDelete, path: path + "/{id}", id: "deleteTool", tag: tag, summary: "Delete a tool", errors: []int{http.StatusConflict},
		about: "409 invalid_state with used_by while an agent (its draft or the version that it speaks) or a pathway names it.",
	}, func(ctx context.Context, p domain.Principal, in *One) (*answer[Deleted], error) {
		id, err := named(domain.PrefixTool, in.ID)
		if err != nil {
			return nil, err
		}
		return deleted(id, "tool", s.ports.Tools.DeleteTool(ctx, p, id))
	})
}
