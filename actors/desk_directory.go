package actors

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

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
		for _, t := range billing.ChangeTariff(&before, w) {
			c.Puts = append(c.Puts, t)
		}
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
