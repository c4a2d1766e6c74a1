package actors

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// RateWindows reads what a workspace had used of its rate limits.
func (d *Desk) RateWindows(ctx context.Context, workspaceID string) (domain.RateWindows, error) {
	w := domain.RateWindows{WorkspaceID: workspaceID}
	if _, err := d.store.Get(ctx, &w); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return w, record.StoreError(err)
	}
	return w, nil
}

// KeepRateWindows writes it. Nobody else writes the row, so nothing guards it.
func (d *Desk) KeepRateWindows(ctx context.Context, w *domain.RateWindows) error {
	_, err := d.store.Apply(ctx, commit.Change{Workspace: w.WorkspaceID, Puts: []domain.Record{w}})
	return err
}
