package actors

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// maxVersions bounds the versions of one agent.
const maxVersions = 1000

// undrafted are the fields of an agent that hold at once or follow from others.
var undrafted = []string{ //nolint:gochecknoglobals // a table
	"id", "object", "created_at", "updated_at", "name", "extension", "metadata", "version", "published_at", "unpublished_changes", "names",
}

// CreateAgent keeps a new agent and publishes it as version 1.
func (d *Desk) CreateAgent(ctx context.Context, p domain.Principal, a *domain.Agent) (*domain.Agent, error) {
	if made, err := record.CreatedBySameRequest[domain.Agent](ctx, d.store, p, domain.PrefixAgent); made != nil || err != nil {
		return made, err
	}
	end, err := d.namings(ctx, p)
	if err != nil {
		return nil, err
	}
	defer end()
	if err = d.agentFits(ctx, p, a, &domain.Agent{}); err != nil {
		return nil, err
	}
	record.SetMeta(&a.Meta, "agent", p, record.NewID(ctx, domain.PrefixAgent), record.Now())
	if err = d.taken(ctx, p, a.ID, a.Extension, ""); err != nil {
		return nil, err
	}
	v := publish(a)
	return a, record.Create(ctx, d.store, a, func(c *commit.Change) {
		moveExtension(c, &a.Meta, "", a.Extension)
		c.Puts = append(c.Puts, v)
	})
}

// publish makes the next version of a draft.
func publish(a *domain.Agent) *domain.AgentVersion {
	now := record.Now()
	a.Version, a.PublishedAt, a.Unpublished, a.Names = a.Version+1, &now, []string{}, a.Refs()
	v := &domain.AgentVersion{Agent: *a}
	v.Object, v.CreatedAt, v.UpdatedAt, v.Names = "agent_version", now, now, nil
	return v
}

// agentFits checks what only the workspace and the wire know, of an agent that
// was another before.
func (d *Desk) agentFits(ctx context.Context, p domain.Principal, a, before *domain.Agent) error {
	var problems domain.Problems
	look := func(param, what string, err error) error {
		if domain.CodeOf(err) == domain.CodeNotFound {
			problems.Add(param, domain.CodeValidation, "there is no such %s", what)
			return nil
		}
		return err
	}
	if a.PathwayID != "" {
		if _, err := d.Pathway(ctx, p, a.PathwayID); look("pathway_id", "pathway", err) != nil {
			return err
		}
	}
	if err := d.toolsExist(ctx, p, &problems, "tools", a.Tools); err != nil {
		return err
	}
	for i, id := range a.KnowledgeBaseIDs {
		if _, err := d.KnowledgeBase(ctx, p, id); look("knowledge_base_ids["+strconv.Itoa(i)+"]", "knowledge base", err) != nil {
			return err
		}
	}
	for i, to := range a.Transfer.Destinations {
		id, err := domain.ParseID(domain.PrefixPhone, to.Phone)
		if err != nil || slices.ContainsFunc(before.Transfer.Destinations, func(b domain.Destination) bool { return b.Phone == to.Phone }) {
			continue // an extension, or named before
		}
		if _, _, err = record.Get[domain.Phone](ctx, d.store, p, domain.PrefixPhone, id); look("transfer.destinations["+strconv.Itoa(i)+"].phone", "phone", err) != nil {
			return err
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	if h := a.OnInbound; h != nil && (before.OnInbound == nil || h.URL != before.OnInbound.URL) {
		if err := refuseToken(p, "on_inbound"); err != nil {
			return err
		}
		return d.node.CheckURL(ctx, "on_inbound.url", h.URL)
	}
	return nil
}

// toolsExist notes the tools that are not the workspace's.
func (d *Desk) toolsExist(ctx context.Context, p domain.Principal, problems *domain.Problems, param string, ids []string) error {
	for i, id := range ids {
		if slices.Contains(domain.BuiltInTools(), id) {
			continue
		}
		_, err := d.Tool(ctx, p, id)
		switch {
		case domain.CodeOf(err) == domain.CodeNotFound:
			problems.Add(param+"["+strconv.Itoa(i)+"]", domain.CodeValidation, "there is no such tool")
		case err != nil:
			return err
		}
	}
	return nil
}

// Agent reads one agent as it is drafted.
func (d *Desk) Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error) {
	a, _, err := record.Get[domain.Agent](ctx, d.store, p, domain.PrefixAgent, id)
	return a, err
}

// ListAgents reads a page.
func (d *Desk) ListAgents(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Agent], error) {
	return record.List[domain.Agent](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixAgent, q, nil)
}

// UpdateAgent changes an agent's draft; agent.updated is in the same commit.
func (d *Desk) UpdateAgent(ctx context.Context, p domain.Principal, id string, change func(*domain.Agent) error) (*domain.Agent, error) {
	end, err := d.namings(ctx, p)
	if err != nil {
		return nil, err
	}
	defer end()
	var before domain.Agent
	return record.Update(ctx, d.store, p, domain.PrefixAgent, id, func(a *domain.Agent) error {
		before = *a
		before.Transfer.Destinations = slices.Clone(a.Transfer.Destinations)
		if err := change(a); err != nil {
			return err
		}
		if err := d.taken(ctx, p, a.ID, a.Extension, ""); err != nil {
			return err
		}
		if err := d.agentFits(ctx, p, a, &before); err != nil {
			return err
		}
		return d.compare(ctx, a)
	}, func(c *commit.Change, a *domain.Agent) error {
		moveExtension(c, &a.Meta, before.Extension, a.Extension)
		if fields := record.ChangedFields(before, *a, "updated_at", "unpublished_changes", "names"); len(fields) > 0 {
			d.tellAgent(c, a, fields)
		}
		return nil
	})
}

// tellAgent adds agent.updated.
func (d *Desk) tellAgent(c *commit.Change, a *domain.Agent, fields []string) {
	c.Events = append(c.Events, record.NewEvent(&a.Meta, event.AgentUpdated, a.ID, domain.Unit(a.ID), event.ResourceChangedData{ID: a.ID, Changed: fields}))
	d.node.Committed(a.WorkspaceID)
}

// compare notes how the draft differs from what is published, and what the two
// name.
func (d *Desk) compare(ctx context.Context, a *domain.Agent) error {
	v, err := d.spoken(ctx, a)
	if err != nil {
		return err
	}
	a.Unpublished = record.ChangedFields(v.Agent, *a, undrafted...)
	a.Names = a.Refs()
	for _, id := range v.Refs() {
		if len(a.Unpublished) > 0 {
			a.Names = append(a.Names, id)
		}
	}
	return nil
}

// spoken is the version of an agent that calls speak.
func (d *Desk) spoken(ctx context.Context, a *domain.Agent) (*domain.AgentVersion, error) {
	v := &domain.AgentVersion{}
	v.ID, v.WorkspaceID, v.Version = a.ID, a.WorkspaceID, a.Version
	_, err := d.store.Get(ctx, v)
	switch {
	case !errors.Is(err, domain.ErrNotFound):
		return v, record.StoreError(err)
	case a.PublishedAt == nil: // it is older than versions are, and speaks as it stands
		return &domain.AgentVersion{Agent: *a}, nil
	}
	return nil, record.NotFound("version")
}

// PublishAgent makes the draft the version that calls speak.
func (d *Desk) PublishAgent(ctx context.Context, p domain.Principal, id string) (*domain.AgentVersion, error) {
	end, err := d.namings(ctx, p)
	if err != nil {
		return nil, err
	}
	defer end()
	a, err := d.Agent(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if len(a.Unpublished) == 0 && a.PublishedAt != nil {
		return d.spoken(ctx, a)
	}
	var v *domain.AgentVersion
	_, err = record.Update(ctx, d.store, p, domain.PrefixAgent, id, func(a *domain.Agent) error {
		if a.Version >= maxVersions {
			return domain.Errorf(domain.CodeInvalidState, "an agent has %d versions at most; create another one", maxVersions)
		}
		v = publish(a)
		return nil
	}, func(c *commit.Change, a *domain.Agent) error {
		c.Puts = append(c.Puts, v)
		d.tellAgent(c, a, []string{"version"})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return v, d.follow(ctx, p)
}

// follow lets the campaigns that follow what is published read it.
func (d *Desk) follow(ctx context.Context, p domain.Principal) error {
	return record.StoreError(commit.Each(ctx, d.store, "campaign", p.WorkspaceID, "open", func(c *domain.Campaign) {
		if c.FollowLatest && c.Environment == p.Environment && c.StartedAt != nil {
			d.node.sys.Root.Send(d.node.CampaignPID(c.WorkspaceID, c.ID), campaign.Changed{})
		}
	}))
}

// AgentVersion reads a published version.
func (d *Desk) AgentVersion(ctx context.Context, p domain.Principal, id string, number int) (*domain.AgentVersion, error) {
	a, err := d.Agent(ctx, p, id)
	if err != nil {
		return nil, err
	}
	a.Version = number
	return d.spoken(ctx, a)
}

// ListAgentVersions reads a page.
func (d *Desk) ListAgentVersions(ctx context.Context, p domain.Principal, id string, q ask.Page) (ask.List[*domain.AgentVersion], error) {
	a, err := d.Agent(ctx, p, id)
	if err != nil {
		return ask.List[*domain.AgentVersion]{}, err
	}
	return record.List[domain.AgentVersion](ctx, d.store, p.WorkspaceID, "of="+a.ID, domain.PrefixAgent, q, nil)
}

// DeleteAgent removes an agent with its versions. Campaigns that began keep the
// one that they pinned.
func (d *Desk) DeleteAgent(ctx context.Context, p domain.Principal, id string) error {
	end, err := d.namings(ctx, p)
	if err != nil {
		return err
	}
	defer end()
	return record.Delete(ctx, d.store, p, domain.PrefixAgent, id, func(c *commit.Change, a *domain.Agent) error {
		moveExtension(c, &a.Meta, a.Extension, "")
		c.Deletes = append(c.Deletes, (&domain.LookupKey{WorkspaceID: a.WorkspaceID, AgentID: a.ID}).Key())
		for number := 1; number <= a.Version; number++ {
			v := domain.AgentVersion{Agent: domain.Agent{Meta: a.Meta, Version: number}}
			c.Deletes = append(c.Deletes, v.Key())
		}
		return d.unused(ctx, p, "agent", a.ID)
	})
}
