// Package agents is the service for agents. The API changes the draft of an agent; calls use a published version.
package agents

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// maxVersions is the maximum number of versions of one agent.
const maxVersions = 1000

// unversionedFields are the fields of an agent that take effect without publishing, or that are computed from other
// fields.
var unversionedFields = []string{ //nolint:gochecknoglobals // a table
	"id", "object", "created_at", "updated_at", "name", "extension", "metadata", "version", "published_at", "unpublished_changes", "names",
}

// campaigns notifies campaigns of a new version of their agent.
type campaigns interface {
	// NotifyPublished makes running campaigns read the latest version of their agent.
	NotifyPublished(ctx context.Context, p domain.Principal) error
}

// Service creates, changes, publishes and deletes agents.
type Service struct {
	store      commit.Store
	references *record.References
	campaigns  campaigns
	outbox     record.Outbox
	urls       record.URLChecker
}

// Config holds the dependencies of a Service.
type Config struct {
	Store      commit.Store
	References *record.References
	Campaigns  campaigns
	Outbox     record.Outbox
	URLs       record.URLChecker
}

// New returns a Service.
func New(cfg Config) *Service {
	return &Service{store: cfg.Store, references: cfg.References, campaigns: cfg.Campaigns, outbox: cfg.Outbox, urls: cfg.URLs}
}

// CreateAgent creates an agent and publishes it as version 1. Errors: validation_failed, already_exists.
func (s *Service) CreateAgent(ctx context.Context, p domain.Principal, a *domain.Agent) (*domain.Agent, error) {
	if created, err := record.CreatedBySameRequest[domain.Agent](ctx, s.store, p, domain.PrefixAgent); created != nil || err != nil {
		return created, err
	}
	unlock, err := s.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err = s.validateReferences(ctx, p, a, &domain.Agent{}); err != nil {
		return nil, err
	}
	a.Init("agent", p, record.RequestResourceID(ctx, domain.PrefixAgent), record.Now())
	if err = record.CheckExtension(ctx, s.store, p, a.ID, a.Extension); err != nil {
		return nil, err
	}
	v := publish(a)
	return a, record.Create(ctx, s.store, a, func(c *commit.Change) {
		record.SetExtension(c, &a.Meta, "", a.Extension)
		c.Puts = append(c.Puts, v)
	})
}

// publish turns the draft of an agent into its next version and returns that version.
func publish(a *domain.Agent) *domain.AgentVersion {
	now := record.Now()
	a.Version, a.PublishedAt, a.Unpublished, a.References = a.Version+1, &now, []string{}, a.ReferencedIDs()
	v := &domain.AgentVersion{Agent: *a}
	v.Object, v.CreatedAt, v.UpdatedAt, v.References = "agent_version", now, now, nil
	return v
}

// validateReferences returns an error if a pathway, tool, knowledge base or phone of an agent does not exist, or if
// the URL of on_inbound is not allowed. before is the previous draft.
func (s *Service) validateReferences(ctx context.Context, p domain.Principal, a, before *domain.Agent) error {
	var problems domain.Problems
	note := func(param, object string, err error) error {
		if domain.CodeOf(err) == domain.CodeNotFound {
			problems.Add(param, domain.CodeValidation, "there is no such %s", object)
			return nil
		}
		return err
	}
	if a.PathwayID != "" {
		if _, _, err := record.Get[domain.Pathway](ctx, s.store, p, domain.PrefixPathway, a.PathwayID); note("pathway_id", "pathway", err) != nil {
			return err
		}
	}
	if err := s.validateTools(ctx, p, &problems, "tools", a.Tools); err != nil {
		return err
	}
	for i, id := range a.KnowledgeBaseIDs {
		if _, _, err := record.Get[domain.KnowledgeBase](ctx, s.store, p, domain.PrefixKnowledge, id); note("knowledge_base_ids["+strconv.Itoa(i)+"]", "knowledge base", err) != nil {
			return err
		}
	}
	for i, to := range a.Transfer.Destinations {
		id, err := domain.ParseID(domain.PrefixPhone, to.Phone)
		if err != nil || slices.ContainsFunc(before.Transfer.Destinations, func(b domain.Destination) bool { return b.Phone == to.Phone }) {
			continue // the target is an extension, or a phone that the previous draft already named
		}
		if _, _, err = record.Get[domain.Phone](ctx, s.store, p, domain.PrefixPhone, id); note("transfer.destinations["+strconv.Itoa(i)+"].phone", "phone", err) != nil {
			return err
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	if h := a.OnInbound; h != nil && (before.OnInbound == nil || h.URL != before.OnInbound.URL) {
		if err := record.RefuseAccessToken(p, "on_inbound"); err != nil {
			return err
		}
		return s.urls.CheckURL(ctx, "on_inbound.url", h.URL)
	}
	return nil
}

// validateTools adds a validation problem for each tool id that does not exist.
func (s *Service) validateTools(ctx context.Context, p domain.Principal, problems *domain.Problems, param string, ids []string) error {
	for i, id := range ids {
		if slices.Contains(domain.BuiltInTools(), id) {
			continue
		}
		_, _, err := record.Get[domain.Tool](ctx, s.store, p, domain.PrefixTool, id)
		switch {
		case domain.CodeOf(err) == domain.CodeNotFound:
			problems.Add(param+"["+strconv.Itoa(i)+"]", domain.CodeValidation, "there is no such tool")
		case err != nil:
			return err
		}
	}
	return nil
}

// Agent returns the draft of an agent. Errors: not_found.
func (s *Service) Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error) {
	a, _, err := record.Get[domain.Agent](ctx, s.store, p, domain.PrefixAgent, id)
	return a, err
}

// ListAgents returns a page of agents.
func (s *Service) ListAgents(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Agent], error) {
	return record.List[domain.Agent](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixAgent, q, nil)
}

// UpdateAgent changes the draft of an agent. It stores the event agent.updated in the same commit.
func (s *Service) UpdateAgent(ctx context.Context, p domain.Principal, id string, change func(*domain.Agent) error) (*domain.Agent, error) {
	unlock, err := s.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var before domain.Agent
	return record.Update(ctx, s.store, p, domain.PrefixAgent, id, func(a *domain.Agent) error {
		before = *a
		before.Transfer.Destinations = slices.Clone(a.Transfer.Destinations)
		if err := change(a); err != nil {
			return err
		}
		if err := record.CheckExtension(ctx, s.store, p, a.ID, a.Extension); err != nil {
			return err
		}
		if err := s.validateReferences(ctx, p, a, &before); err != nil {
			return err
		}
		return s.setUnpublished(ctx, a)
	}, func(c *commit.Change, a *domain.Agent) error {
		record.SetExtension(c, &a.Meta, before.Extension, a.Extension)
		if fields := record.ChangedFields(before, *a, "updated_at", "unpublished_changes", "names"); len(fields) > 0 {
			s.addUpdated(c, a, fields)
		}
		return nil
	})
}

// addUpdated adds the event agent.updated to a commit.
func (s *Service) addUpdated(c *commit.Change, a *domain.Agent, fields []string) {
	c.Events = append(c.Events, outbox.NewEvent(&a.Meta, event.AgentUpdated, a.ID, domain.UnitID(a.ID), event.ResourceChangedData{ID: a.ID, Changed: fields}))
	s.outbox.Committed(a.WorkspaceID)
}

// setUnpublished sets two fields of a draft: the names of the fields that differ from the published version, and the ids
// of the resources to which either version refers.
func (s *Service) setUnpublished(ctx context.Context, a *domain.Agent) error {
	v, err := s.PublishedVersion(ctx, a)
	if err != nil {
		return err
	}
	a.Unpublished = record.ChangedFields(v.Agent, *a, unversionedFields...)
	a.References = a.ReferencedIDs()
	for _, id := range v.ReferencedIDs() {
		if len(a.Unpublished) > 0 {
			a.References = append(a.References, id)
		}
	}
	return nil
}

// PublishedVersion returns the version a.Version of an agent. Errors: not_found.
func (s *Service) PublishedVersion(ctx context.Context, a *domain.Agent) (*domain.AgentVersion, error) {
	v := &domain.AgentVersion{}
	v.ID, v.WorkspaceID, v.Version = a.ID, a.WorkspaceID, a.Version
	_, err := s.store.Get(ctx, v)
	switch {
	case !errors.Is(err, domain.ErrNotFound):
		return v, commit.StoreError(err)
	case a.PublishedAt == nil: // the agent has no stored versions
		return &domain.AgentVersion{Agent: *a}, nil
	}
	return nil, domain.NotFound("version")
}

// PublishAgent publishes the draft of an agent as its next version. New calls use this version.
func (s *Service) PublishAgent(ctx context.Context, p domain.Principal, id string) (*domain.AgentVersion, error) {
	unlock, err := s.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	a, err := s.Agent(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if len(a.Unpublished) == 0 && a.PublishedAt != nil {
		return s.PublishedVersion(ctx, a)
	}
	var v *domain.AgentVersion
	_, err = record.Update(ctx, s.store, p, domain.PrefixAgent, id, func(a *domain.Agent) error {
		if a.Version >= maxVersions {
			return domain.Errorf(domain.CodeInvalidState, "the agent has %d versions, which is the maximum; create another agent", maxVersions)
		}
		v = publish(a)
		return nil
	}, func(c *commit.Change, a *domain.Agent) error {
		c.Puts = append(c.Puts, v)
		s.addUpdated(c, a, []string{"version"})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return v, s.campaigns.NotifyPublished(ctx, p)
}

// AgentVersion returns one published version. Errors: not_found.
func (s *Service) AgentVersion(ctx context.Context, p domain.Principal, id string, number int) (*domain.AgentVersion, error) {
	a, err := s.Agent(ctx, p, id)
	if err != nil {
		return nil, err
	}
	a.Version = number
	return s.PublishedVersion(ctx, a)
}

// ListAgentVersions returns a page of published versions.
func (s *Service) ListAgentVersions(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.AgentVersion], error) {
	a, err := s.Agent(ctx, p, id)
	if err != nil {
		return record.Page[*domain.AgentVersion]{}, err
	}
	return record.List[domain.AgentVersion](ctx, s.store, p.WorkspaceID, "of="+a.ID, domain.PrefixAgent, q, nil)
}

// DeleteAgent deletes an agent with its versions. Started campaigns continue with the version that they have
// pinned. Errors: not_found, invalid_state.
func (s *Service) DeleteAgent(ctx context.Context, p domain.Principal, id string) error {
	unlock, err := s.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return err
	}
	defer unlock()
	return record.Delete(ctx, s.store, p, domain.PrefixAgent, id, func(c *commit.Change, a *domain.Agent) error {
		record.SetExtension(c, &a.Meta, a.Extension, "")
		c.Deletes = append(c.Deletes, (&domain.InboundHookKey{WorkspaceID: a.WorkspaceID, AgentID: a.ID}).Key())
		for number := 1; number <= a.Version; number++ {
			v := domain.AgentVersion{Agent: domain.Agent{Meta: a.Meta, Version: number}}
			c.Deletes = append(c.Deletes, v.Key())
		}
		return s.references.CheckUnused(ctx, p, "agent", a.ID)
	})
}

// SignOnInbound creates the secret that signs requests to the on_inbound URL of an agent, and replaces the previous
// secret. The secret can be read only from this result.
func (s *Service) SignOnInbound(ctx context.Context, p domain.Principal, id string) (secret string, err error) {
	k := &domain.InboundHookKey{WorkspaceID: p.WorkspaceID, Secret: record.NewSigningSecret(), MadeAt: record.Now()}
	_, err = record.Update(ctx, s.store, p, domain.PrefixAgent, id, func(a *domain.Agent) error {
		k.AgentID = a.ID
		return nil
	}, func(c *commit.Change, _ *domain.Agent) error {
		c.Puts = append(c.Puts, k)
		return nil
	})
	return k.Secret, err
}
