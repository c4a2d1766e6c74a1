// Package pathways is the service for pathways, the conversation graphs of agents.
package pathways

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// campaigns notifies campaigns of a new version of their pathway.
type campaigns interface {
	// NotifyPublished makes running campaigns read the latest version of their pathway.
	NotifyPublished(ctx context.Context, p domain.Principal) error
}

// Service creates, changes and deletes pathways.
type Service struct {
	store      commit.Store
	references *record.References
	campaigns  campaigns
}

// New returns a Service.
func New(store commit.Store, references *record.References, campaigns campaigns) *Service {
	return &Service{store: store, references: references, campaigns: campaigns}
}

// CreatePathway creates a pathway. Errors: validation_failed.
func (s *Service) CreatePathway(ctx context.Context, p domain.Principal, w *domain.Pathway) (*domain.Pathway, error) {
	if created, err := record.CreatedBySameRequest[domain.Pathway](ctx, s.store, p, domain.PrefixPathway); created != nil || err != nil {
		return created, err
	}
	unlock, err := s.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err = s.CheckPathway(ctx, p, w); err != nil {
		return nil, err
	}
	w.Init("pathway", p, record.RequestResourceID(ctx, domain.PrefixPathway), record.Now())
	w.Version = 1
	return w, record.Create(ctx, s.store, w)
}

// CheckPathway returns a validation error if a node names a tool, agent or knowledge base that does not exist.
func (s *Service) CheckPathway(ctx context.Context, p domain.Principal, w *domain.Pathway) error {
	missing := make(map[string]string) // object by id
	for _, id := range w.ReferencedIDs() {
		object, err := s.checkReference(ctx, p, id)
		switch {
		case domain.CodeOf(err) == domain.CodeNotFound:
			missing[id] = object
		case err != nil:
			return err
		}
	}
	var problems domain.Problems
	for i := range w.Nodes {
		n := &w.Nodes[i]
		for _, list := range []struct {
			param string
			ids   []string
		}{
			{"tools", n.Tools},
			{"knowledge_base_ids", n.KnowledgeBaseIDs},
			{"tool_id", []string{n.ToolID}},
			{"agent_id", []string{n.AgentID}},
		} {
			for _, id := range list.ids {
				if object, ok := missing[id]; ok {
					problems.Add(fmt.Sprintf("nodes[%d].%s", i, list.param), domain.CodeValidation, "there is no %s %q", object, id)
				}
			}
		}
	}
	return problems.Err()
}

// checkReference reads the tool, agent or knowledge base with this id. It returns the object type for the error
// message. Errors: not_found.
func (s *Service) checkReference(ctx context.Context, p domain.Principal, id string) (object string, err error) {
	switch prefix, _, _ := strings.Cut(id, "_"); domain.Prefix(prefix) { //nolint:exhaustive // a node names no other resources
	case domain.PrefixTool:
		_, _, err = record.Get[domain.Tool](ctx, s.store, p, domain.PrefixTool, id)
		return "tool", err
	case domain.PrefixAgent:
		_, _, err = record.Get[domain.Agent](ctx, s.store, p, domain.PrefixAgent, id)
		return "agent", err
	}
	_, _, err = record.Get[domain.KnowledgeBase](ctx, s.store, p, domain.PrefixKnowledge, id)
	return "knowledge base", err
}

// Pathway returns one pathway. Errors: not_found.
func (s *Service) Pathway(ctx context.Context, p domain.Principal, id string) (*domain.Pathway, error) {
	w, _, err := record.Get[domain.Pathway](ctx, s.store, p, domain.PrefixPathway, id)
	return w, err
}

// ListPathways returns a page of pathways.
func (s *Service) ListPathways(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Pathway], error) {
	return record.List[domain.Pathway](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixPathway, q, nil)
}

// UpdatePathway changes a pathway and keeps its previous version in the store.
func (s *Service) UpdatePathway(ctx context.Context, p domain.Principal, id string, change func(*domain.Pathway) error) (*domain.Pathway, error) {
	unlock, err := s.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var before domain.Pathway
	w, err := record.Update(ctx, s.store, p, domain.PrefixPathway, id, func(w *domain.Pathway) error {
		before = *w
		if refused := change(w); refused != nil {
			return refused
		}
		w.Version++
		return s.CheckPathway(ctx, p, w)
	}, func(c *commit.Change, _ *domain.Pathway) error {
		c.Puts = append(c.Puts, &domain.PathwayVersion{Pathway: before})
		if before.Version > domain.MaxPathwayVersions {
			before.Version -= domain.MaxPathwayVersions
			c.Deletes = append(c.Deletes, (&domain.PathwayVersion{Pathway: before}).Key())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w, s.campaigns.NotifyPublished(ctx, p)
}

// PathwayVersion returns a version of a pathway. Number 0 stands for the current version. Errors: not_found.
func (s *Service) PathwayVersion(ctx context.Context, p domain.Principal, id string, number int) (*domain.Pathway, error) {
	w, err := s.Pathway(ctx, p, id)
	if err != nil || number == 0 || number == w.Version {
		return w, err
	}
	v := &domain.PathwayVersion{Pathway: domain.Pathway{Meta: w.Meta, Version: number}}
	if _, err = s.store.Get(ctx, v); errors.Is(err, domain.ErrNotFound) {
		return nil, domain.FieldError("version", domain.CodeValidation, fmt.Sprintf("there is no version %d of the pathway: it has come to %d, and the last %d before that are kept", number, w.Version, domain.MaxPathwayVersions))
	}
	return &v.Pathway, commit.StoreError(err)
}

// DeletePathway deletes a pathway with its versions. Errors: not_found; invalid_state if an agent uses it.
func (s *Service) DeletePathway(ctx context.Context, p domain.Principal, id string) error {
	unlock, err := s.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return err
	}
	defer unlock()
	return record.Delete(ctx, s.store, p, domain.PrefixPathway, id, func(c *commit.Change, w *domain.Pathway) error {
		for number := max(1, w.Version-domain.MaxPathwayVersions); number < w.Version; number++ {
			v := domain.PathwayVersion{Pathway: domain.Pathway{Meta: w.Meta, Version: number}}
			c.Deletes = append(c.Deletes, v.Key())
		}
		return s.references.CheckUnused(ctx, p, "pathway", w.ID)
	})
}
