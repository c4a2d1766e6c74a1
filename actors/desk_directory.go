package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

func (d *Desk) pathwayExists(ctx context.Context, p domain.Principal, id string) error {
	if id == "" {
		return nil
	}
	_, _, err := record.Get[domain.Pathway](ctx, d.store, p, domain.PrefixPathway, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return record.FieldError("pathway_id", domain.CodeValidation, "there is no such pathway")
	}
	return err
}

func (d *Desk) agentExists(ctx context.Context, p domain.Principal, id string) error {
	if id == "" {
		return nil
	}
	_, _, err := record.Get[domain.Agent](ctx, d.store, p, domain.PrefixAgent, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return record.FieldError("agent_id", domain.CodeValidation, "there is no such agent")
	}
	return err
}

// CreatePathway keeps a new pathway.
func (d *Desk) CreatePathway(ctx context.Context, p domain.Principal, w *domain.Pathway) (*domain.Pathway, error) {
	if made, err := record.CreatedBySameRequest[domain.Pathway](ctx, d.store, p, domain.PrefixPathway); made != nil || err != nil {
		return made, err
	}
	end, err := d.namings(ctx, p)
	if err != nil {
		return nil, err
	}
	defer end()
	if err = d.CheckPathway(ctx, p, w); err != nil {
		return nil, err
	}
	record.SetMeta(&w.Meta, "pathway", p, record.NewID(ctx, domain.PrefixPathway), record.Now())
	w.Version = 1
	return w, record.Create(ctx, d.store, w)
}

// CheckPathway says whether all that the nodes name is the workspace's.
func (d *Desk) CheckPathway(ctx context.Context, p domain.Principal, w *domain.Pathway) error {
	lost := make(map[string]string) // the word for what is not there
	for _, id := range w.Refs() {
		what, err := d.named(ctx, p, id)
		switch {
		case domain.CodeOf(err) == domain.CodeNotFound:
			lost[id] = what
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
				if what, gone := lost[id]; gone {
					problems.Add(fmt.Sprintf("nodes[%d].%s", i, list.param), domain.CodeValidation, "there is no %s %q", what, id)
				}
			}
		}
	}
	return problems.Err()
}

// named reads what a node names by its id, and answers the word for it.
func (d *Desk) named(ctx context.Context, p domain.Principal, id string) (what string, err error) {
	switch prefix, _, _ := strings.Cut(id, "_"); domain.Prefix(prefix) { //nolint:exhaustive // a node names no others
	case domain.PrefixTool:
		_, err = d.Tool(ctx, p, id)
		return "tool", err
	case domain.PrefixAgent:
		_, err = d.Agent(ctx, p, id)
		return "agent", err
	}
	_, err = d.KnowledgeBase(ctx, p, id)
	return "knowledge base", err
}

// Pathway reads one pathway.
func (d *Desk) Pathway(ctx context.Context, p domain.Principal, id string) (*domain.Pathway, error) {
	w, _, err := record.Get[domain.Pathway](ctx, d.store, p, domain.PrefixPathway, id)
	return w, err
}

// ListPathways reads a page.
func (d *Desk) ListPathways(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Pathway], error) {
	return record.List[domain.Pathway](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixPathway, q, nil)
}

// UpdatePathway changes a pathway.
func (d *Desk) UpdatePathway(ctx context.Context, p domain.Principal, id string, change func(*domain.Pathway) error) (*domain.Pathway, error) {
	end, err := d.namings(ctx, p)
	if err != nil {
		return nil, err
	}
	defer end()
	var was domain.Pathway
	w, err := record.Update(ctx, d.store, p, domain.PrefixPathway, id, func(w *domain.Pathway) error {
		was = *w
		if refused := change(w); refused != nil {
			return refused
		}
		w.Version++
		return d.CheckPathway(ctx, p, w)
	}, func(c *commit.Change, _ *domain.Pathway) error {
		c.Puts = append(c.Puts, &domain.PathwayVersion{Pathway: was})
		if was.Version > domain.KeptPathways {
			was.Version -= domain.KeptPathways
			c.Deletes = append(c.Deletes, (&domain.PathwayVersion{Pathway: was}).Key())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w, d.follow(ctx, p)
}

// PathwayVersion reads a pathway as it was; 0: as it is.
func (d *Desk) PathwayVersion(ctx context.Context, p domain.Principal, id string, number int) (*domain.Pathway, error) {
	w, err := d.Pathway(ctx, p, id)
	if err != nil || number == 0 || number == w.Version {
		return w, err
	}
	v := &domain.PathwayVersion{Pathway: domain.Pathway{Meta: w.Meta, Version: number}}
	if _, err = d.store.Get(ctx, v); errors.Is(err, domain.ErrNotFound) {
		return nil, record.FieldError("version", domain.CodeValidation, fmt.Sprintf("there is no version %d of the pathway: it has come to %d, and the last %d before that are kept", number, w.Version, domain.KeptPathways))
	}
	return &v.Pathway, record.StoreError(err)
}

// DeletePathway removes a pathway that no agent speaks.
func (d *Desk) DeletePathway(ctx context.Context, p domain.Principal, id string) error {
	end, err := d.namings(ctx, p)
	if err != nil {
		return err
	}
	defer end()
	return record.Delete(ctx, d.store, p, domain.PrefixPathway, id, func(c *commit.Change, w *domain.Pathway) error {
		for number := max(1, w.Version-domain.KeptPathways); number < w.Version; number++ {
			v := domain.PathwayVersion{Pathway: domain.Pathway{Meta: w.Meta, Version: number}}
			c.Deletes = append(c.Deletes, v.Key())
		}
		return d.unused(ctx, p, "pathway", w.ID)
	})
}

// CreateTrunk keeps a new trunk; calls may use it from the answer on.
func (d *Desk) CreateTrunk(ctx context.Context, p domain.Principal, t *domain.Trunk) (*domain.Trunk, error) {
	if made, err := record.CreatedBySameRequest[domain.Trunk](ctx, d.store, p, domain.PrefixTrunk); made != nil || err != nil {
		return made, err
	}
	if err := d.checkTrunkChange(p, &domain.Trunk{}, t); err != nil {
		return nil, err
	}
	if err := d.trunkFits(ctx, t); err != nil {
		return nil, err
	}
	record.SetMeta(&t.Meta, "trunk", p, record.NewID(ctx, domain.PrefixTrunk), record.Now())
	t.CreatedBy = p.Creator()
	if err := record.Create(ctx, d.store, t); err != nil {
		return nil, err
	}
	if err := d.node.ReloadTrunks(ctx, p.WorkspaceID); err != nil {
		return nil, err
	}
	d.shownTrunks(ctx, p, t)
	return t, nil
}

// Trunk reads one trunk.
func (d *Desk) Trunk(ctx context.Context, p domain.Principal, id string) (*domain.Trunk, error) {
	t, _, err := record.Get[domain.Trunk](ctx, d.store, p, domain.PrefixTrunk, id)
	if err != nil {
		return nil, err
	}
	d.shownTrunks(ctx, p, t)
	return t, nil
}

// ListTrunks reads a page.
func (d *Desk) ListTrunks(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Trunk], error) {
	l, err := record.List[domain.Trunk](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixTrunk, q, nil)
	if err == nil {
		d.shownTrunks(ctx, p, l.Data...)
	}
	return l, err
}

// UpdateTrunk changes a trunk; live calls keep what they began with. change sets
// RewriteApproved to ask for the approval of number_strip and number_add; the
// update of an operator grants it. Errors: operator_required.
func (d *Desk) UpdateTrunk(ctx context.Context, p domain.Principal, id string, change func(*domain.Trunk) error) (*domain.Trunk, error) {
	allowed := func(t *domain.Trunk) error {
		was := *t
		if err := change(t); err != nil {
			return err
		}
		return d.checkTrunkChange(p, &was, t)
	}
	t, err := record.Update(ctx, d.store, p, domain.PrefixTrunk, id, allowed, func(_ *commit.Change, t *domain.Trunk) error { return d.trunkFits(ctx, t) })
	if err != nil {
		return nil, err
	}
	if err = d.node.ReloadTrunks(ctx, p.WorkspaceID); err != nil {
		return nil, err
	}
	d.shownTrunks(ctx, p, t)
	return t, nil
}

// DeleteTrunk removes a trunk that no number stands on.
func (d *Desk) DeleteTrunk(ctx context.Context, p domain.Principal, id string) error {
	err := record.Delete(ctx, d.store, p, domain.PrefixTrunk, id, func(_ *commit.Change, t *domain.Trunk) error {
		users, err := record.List(ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixNumber, ask.Page{Limit: 1}, func(n *domain.PhoneNumber) bool { return n.TrunkID == t.ID })
		if err != nil || len(users.Data) == 0 {
			return err
		}
		return domain.Errorf(domain.CodeInvalidState, "phone number %s stands on this trunk; move or delete it first", users.Data[0].ID)
	})
	if err != nil {
		return err
	}
	return d.node.ReloadTrunks(ctx, p.WorkspaceID)
}

// claimOf is the row that makes a number unique in the install; "*" is one
// per trunk.
func claimOf(n *domain.PhoneNumber) *domain.NumberClaim {
	number := n.Number
	if number == "*" {
		number = "*@" + n.TrunkID
	}
	return &domain.NumberClaim{Number: number, WorkspaceID: n.WorkspaceID, NumberID: n.ID, ClaimedAt: n.CreatedAt}
}

func (d *Desk) numberFits(ctx context.Context, p domain.Principal, n *domain.PhoneNumber) error {
	if err := d.agentExists(ctx, p, n.AgentID); err != nil {
		return err
	}
	if p.Environment == domain.Live {
		var problems domain.Problems
		if refuseTestNumber(&problems, "number", n.Number); len(problems) > 0 {
			return problems.Err()
		}
	}
	if n.TrunkID == "" {
		return nil
	}
	_, _, err := record.Get[domain.Trunk](ctx, d.store, p, domain.PrefixTrunk, n.TrunkID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return record.FieldError("trunk_id", domain.CodeValidation, "there is no such trunk")
	}
	return err
}

// CreateNumber keeps a number, which nobody else in the install may have.
func (d *Desk) CreateNumber(ctx context.Context, p domain.Principal, n *domain.PhoneNumber) (*domain.PhoneNumber, error) {
	if made, err := record.CreatedBySameRequest[domain.PhoneNumber](ctx, d.store, p, domain.PrefixNumber); made != nil || err != nil {
		return made, err
	}
	if err := d.numberFits(ctx, p, n); err != nil {
		return nil, err
	}
	record.SetMeta(&n.Meta, "phone_number", p, record.NewID(ctx, domain.PrefixNumber), record.Now())
	n.Status = d.numberStands(p)
	claim := claimOf(n)
	err := record.Create(ctx, d.store, n, func(c *commit.Change) {
		c.Guards = append(c.Guards, commit.Absent(claim.Key()))
		c.Puts = append(c.Puts, claim)
	})
	if errors.Is(err, domain.ErrConflict) {
		return nil, &domain.Error{Code: domain.CodeAlreadyExists, Param: "number", Message: "this number is taken already"}
	}
	if err != nil {
		return nil, err
	}
	return n, d.node.ReloadTrunks(ctx, p.WorkspaceID) // they show it from now on
}

// Number reads one number.
func (d *Desk) Number(ctx context.Context, p domain.Principal, id string) (*domain.PhoneNumber, error) {
	n, _, err := record.Get[domain.PhoneNumber](ctx, d.store, p, domain.PrefixNumber, id)
	return n, err
}

// ListNumbers reads a page.
func (d *Desk) ListNumbers(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.PhoneNumber], error) {
	return record.List[domain.PhoneNumber](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixNumber, q, nil)
}

// UpdateNumber changes who answers a number; the number itself stays.
func (d *Desk) UpdateNumber(ctx context.Context, p domain.Principal, id string, change func(*domain.PhoneNumber) error) (*domain.PhoneNumber, error) {
	n, err := record.Update(ctx, d.store, p, domain.PrefixNumber, id, func(n *domain.PhoneNumber) error {
		number, trunkID := n.Number, n.TrunkID
		if err := change(n); err != nil {
			return err
		}
		if n.Number != number {
			return record.FieldError("number", domain.CodeValidation, "a number cannot be changed; delete it and create another one")
		}
		if number == "*" && n.TrunkID != trunkID {
			return record.FieldError("trunk_id", domain.CodeValidation, "the rest of a trunk cannot be moved; delete it and create another one")
		}
		return d.numberFits(ctx, p, n)
	})
	if err != nil {
		return nil, err
	}
	return n, d.node.ReloadTrunks(ctx, p.WorkspaceID)
}

// DeleteNumber removes a number and frees it for others.
func (d *Desk) DeleteNumber(ctx context.Context, p domain.Principal, id string) error {
	err := record.Delete(ctx, d.store, p, domain.PrefixNumber, id, func(c *commit.Change, n *domain.PhoneNumber) error {
		c.Deletes = append(c.Deletes, claimOf(n).Key())
		return nil
	})
	if err != nil {
		return err
	}
	return d.node.ReloadTrunks(ctx, p.WorkspaceID)
}

// liveNumbers are the workspace's numbers that are in use, by environment.
func (d *Desk) liveNumbers(ctx context.Context, workspaceID string, env domain.Environment) ([]*domain.PhoneNumber, error) {
	return d.inUse.Current(d.store, workspaceID, string(env), func() ([]*domain.PhoneNumber, error) {
		numbers, err := liveNumbers(ctx, d.store, workspaceID, env)
		return numbers, record.StoreError(err)
	})
}

// CallerIDs are the workspace's numbers and those that its trunks list.
func (d *Desk) CallerIDs(ctx context.Context, p domain.Principal) ([]string, error) {
	return d.callerIDs.Current(d.store, p.WorkspaceID, string(p.Environment), func() ([]string, error) {
		numbers, err := d.liveNumbers(ctx, p.WorkspaceID, p.Environment)
		if err != nil {
			return nil, err
		}
		var out []string
		for _, n := range numbers {
			out = append(out, n.Number)
		}
		err = commit.Each(ctx, d.store, "trunk", p.WorkspaceID, record.EnvironmentIndex(p), func(t *domain.Trunk) { out = append(out, t.CallerIDs...) })
		return slices.Clip(out), record.StoreError(err)
	})
}

// Workspace answers from memory.
func (d *Desk) Workspace(_ context.Context, p domain.Principal) (*domain.Workspace, error) {
	w := d.node.Workspace(p.WorkspaceID)
	if w == nil {
		return nil, d.node.WorkspaceNotFound()
	}
	return w, nil
}

// UpdateWorkspace changes the workspace; new limits hold from the answer on.
func (d *Desk) UpdateWorkspace(ctx context.Context, p domain.Principal, change func(*domain.Workspace) error) (*domain.Workspace, error) {
	t := d.node.tree(p.WorkspaceID)
	if t == nil {
		return nil, d.node.WorkspaceNotFound()
	}
	t.changing.Lock()
	defer t.changing.Unlock()
	for range record.MaxTries {
		w := &domain.Workspace{Meta: domain.Meta{ID: p.WorkspaceID}}
		version, err := d.store.Get(ctx, w)
		if err != nil {
			return nil, record.StoreError(err)
		}
		before := *w
		if err = change(w); err != nil {
			return nil, err
		}
		w.UpdatedAt = record.Now()
		c := commit.Change{Workspace: w.ID, Guards: []commit.Guard{{Key: w.Key(), Version: version}}, Puts: []domain.Record{w}}
		retariff(&c, &before, w)
		if fields := record.ChangedFields(before, *w, "updated_at", "tariff"); len(fields) > 0 {
			m := domain.Meta{WorkspaceID: w.ID, Environment: domain.Live}
			c.Events = append(c.Events, record.NewEvent(&m, event.WorkspaceUpdated, w.ID, domain.Unit(w.ID), event.ResourceChangedData{ID: w.ID, Changed: fields}))
		}
		_, err = d.store.Apply(ctx, c)
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err != nil {
			return nil, record.StoreError(err)
		}
		d.node.SetWorkspace(w)
		d.node.Committed(w.ID)
		d.log.Info("workspace changed", slog.String("workspace_id", w.ID))
		return w, nil
	}
	return nil, record.StoreError(domain.ErrConflict)
}
