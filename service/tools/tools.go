// Package tools is the service for the HTTP and MCP tools that agents may call.
package tools

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/record"
)

// maxTools is the maximum number of tools of a workspace and environment.
const maxTools = 500

// Service creates, changes and deletes tools.
type Service struct {
	store      commit.Store
	references *record.References
	urls       record.URLChecker
}

// New returns a Service.
func New(store commit.Store, references *record.References, urls record.URLChecker) *Service {
	return &Service{store: store, references: references, urls: urls}
}

// CreateTool creates a tool. Errors: validation_failed, invalid_state.
func (s *Service) CreateTool(ctx context.Context, p domain.Principal, t *domain.Tool) (*domain.Tool, error) {
	if created, err := record.CreatedBySameRequest[domain.Tool](ctx, s.store, p, domain.PrefixTool); created != nil || err != nil {
		return created, err
	}
	unlock, err := s.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	t.Init("tool", p, record.RequestResourceID(ctx, domain.PrefixTool), record.Now())
	t.CreatedBy = p.Creator()
	if err = s.completeTool(ctx, p, t); err != nil {
		return nil, err
	}
	return t, record.Create(ctx, s.store, t)
}

// completeTool checks the name, the number of tools and the URL of a tool, and sets the hints of its headers.
func (s *Service) completeTool(ctx context.Context, p domain.Principal, t *domain.Tool) error {
	others, taken := 0, false
	err := commit.ForEachRow(ctx, s.store, "tool", p.WorkspaceID, record.EnvironmentIndex(p), func(other *domain.Tool) {
		if other.ID != t.ID {
			others++
			taken = taken || other.Name == t.Name
		}
	})
	switch {
	case err != nil:
		return commit.StoreError(err)
	case taken:
		return &domain.Error{Code: domain.CodeAlreadyExists, Param: "name", Message: "another tool has this name"}
	case others >= maxTools:
		return domain.Errorf(domain.CodeInvalidState, "a workspace has %d tools at most", maxTools)
	}
	if h := t.HTTP; h != nil {
		h.HeaderHints = headerHints(h.Headers)
		return s.urls.CheckURL(ctx, "http.url", h.URL)
	}
	t.MCP.HeaderHints = headerHints(t.MCP.Headers)
	return s.urls.CheckURL(ctx, "mcp.url", t.MCP.URL)
}

// headerHints returns a short hint for each header value instead of the value, because header values are secrets.
func headerHints(headers map[string]string) map[string]string {
	hints := make(map[string]string, len(headers))
	for name, text := range headers {
		hints[name] = webhook.SecretHint(text)
	}
	return hints
}

// Tool returns one tool. Errors: not_found.
func (s *Service) Tool(ctx context.Context, p domain.Principal, id string) (*domain.Tool, error) {
	t, _, err := record.Get[domain.Tool](ctx, s.store, p, domain.PrefixTool, id)
	return t, err
}

// ListTools returns a page of tools.
func (s *Service) ListTools(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Tool], error) {
	return record.List[domain.Tool](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixTool, q, nil)
}

// UpdateTool changes a tool.
func (s *Service) UpdateTool(ctx context.Context, p domain.Principal, id string, change func(*domain.Tool) error) (*domain.Tool, error) {
	unlock, err := s.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return record.Update(ctx, s.store, p, domain.PrefixTool, id, func(t *domain.Tool) error {
		if err := change(t); err != nil {
			return err
		}
		return s.completeTool(ctx, p, t)
	})
}

// DeleteTool deletes a tool. Errors: not_found; invalid_state if an agent or a pathway uses it.
func (s *Service) DeleteTool(ctx context.Context, p domain.Principal, id string) error {
	unlock, err := s.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return err
	}
	defer unlock()
	return record.Delete(ctx, s.store, p, domain.PrefixTool, id, func(_ *commit.Change, t *domain.Tool) error {
		return s.references.CheckUnused(ctx, p, "tool", t.ID)
	})
}
