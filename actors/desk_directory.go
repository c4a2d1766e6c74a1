package actors

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

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
	if err := record.CheckAgent(ctx, d.store, p, n.AgentID); err != nil {
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
