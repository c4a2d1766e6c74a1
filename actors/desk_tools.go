package actors

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/record"
)

// maxTools bounds the tools of a workspace's environment.
const maxTools = 500

// namings is the turn of whoever names agents, pathways, tools and knowledge
// bases in one another, or deletes them: nothing that is named goes meanwhile.
func (d *Desk) namings(ctx context.Context, p domain.Principal) (end func(), err error) {
	return d.revising.Lock(ctx, "names "+p.WorkspaceID)
}

// CreateTool keeps a new tool.
func (d *Desk) CreateTool(ctx context.Context, p domain.Principal, t *domain.Tool) (*domain.Tool, error) {
	if made, err := record.CreatedBySameRequest[domain.Tool](ctx, d.store, p, domain.PrefixTool); made != nil || err != nil {
		return made, err
	}
	end, err := d.namings(ctx, p)
	if err != nil {
		return nil, err
	}
	defer end()
	record.SetMeta(&t.Meta, "tool", p, record.NewID(ctx, domain.PrefixTool), record.Now())
	t.CreatedBy = p.Creator()
	if err = d.toolFits(ctx, p, t); err != nil {
		return nil, err
	}
	return t, record.Create(ctx, d.store, t)
}

// toolFits checks what only the workspace and the wire know, and makes the
// hints.
func (d *Desk) toolFits(ctx context.Context, p domain.Principal, t *domain.Tool) error {
	n, taken := 0, false
	err := commit.Each(ctx, d.store, "tool", p.WorkspaceID, record.EnvironmentIndex(p), func(other *domain.Tool) {
		if other.ID != t.ID {
			n++
			taken = taken || other.Name == t.Name
		}
	})
	switch {
	case err != nil:
		return record.StoreError(err)
	case taken:
		return &domain.Error{Code: domain.CodeAlreadyExists, Param: "name", Message: "another tool has this name"}
	case n >= maxTools:
		return domain.Errorf(domain.CodeInvalidState, "a workspace has %d tools at most", maxTools)
	}
	if h := t.HTTP; h != nil {
		h.HeaderHints = hintsOf(h.Headers)
		return d.node.CheckURL(ctx, "http.url", h.URL)
	}
	t.MCP.HeaderHints = hintsOf(t.MCP.Headers)
	return d.node.CheckURL(ctx, "mcp.url", t.MCP.URL)
}

func hintsOf(headers map[string]string) map[string]string {
	hints := make(map[string]string, len(headers))
	for name, text := range headers {
		hints[name] = webhook.Hint(text)
	}
	return hints
}

// Tool reads one tool.
func (d *Desk) Tool(ctx context.Context, p domain.Principal, id string) (*domain.Tool, error) {
	t, _, err := record.Get[domain.Tool](ctx, d.store, p, domain.PrefixTool, id)
	return t, err
}

// ListTools reads a page.
func (d *Desk) ListTools(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Tool], error) {
	return record.List[domain.Tool](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixTool, q, nil)
}

// UpdateTool changes a tool.
func (d *Desk) UpdateTool(ctx context.Context, p domain.Principal, id string, change func(*domain.Tool) error) (*domain.Tool, error) {
	end, err := d.namings(ctx, p)
	if err != nil {
		return nil, err
	}
	defer end()
	return record.Update(ctx, d.store, p, domain.PrefixTool, id, func(t *domain.Tool) error {
		if err := change(t); err != nil {
			return err
		}
		return d.toolFits(ctx, p, t)
	})
}

// DeleteTool removes a tool that nobody names.
func (d *Desk) DeleteTool(ctx context.Context, p domain.Principal, id string) error {
	end, err := d.namings(ctx, p)
	if err != nil {
		return err
	}
	defer end()
	return record.Delete(ctx, d.store, p, domain.PrefixTool, id, func(_ *commit.Change, t *domain.Tool) error {
		return d.unused(ctx, p, "tool", t.ID)
	})
}

// usersShown bounds the users that a refusal names.
const usersShown = 20

// user is a resource that names another one.
type user struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
}

// unused says whether no agent and no pathway names a resource; what is the
// word for it.
func (d *Desk) unused(ctx context.Context, p domain.Principal, what, id string) error {
	q := ask.Page{Limit: usersShown}
	agents, err := record.List[domain.Agent](ctx, d.store, p.WorkspaceID, "names="+id, domain.PrefixAgent, q, nil)
	if err != nil {
		return err
	}
	pathways, err := record.List[domain.Pathway](ctx, d.store, p.WorkspaceID, "names="+id, domain.PrefixPathway, q, nil)
	if err != nil {
		return err
	}
	var by []user
	for _, a := range agents.Data {
		by = append(by, user{"agent", a.ID, a.Name})
	}
	for _, w := range pathways.Data {
		by = append(by, user{"pathway", w.ID, w.Name})
	}
	if len(by) == 0 {
		return nil
	}
	by = by[:min(len(by), usersShown)]
	return domain.Errorf(domain.CodeInvalidState, "%s %s uses this %s; take it out there first", by[0].Object, by[0].ID, what).With("used_by", by)
}
