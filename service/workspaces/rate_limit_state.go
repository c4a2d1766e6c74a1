package workspaces

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// RateWindows returns the stored consumption of a workspace's rate limits in the current time windows.
func (s *Service) RateWindows(ctx context.Context, workspaceID string) (domain.RateWindows, error) {
	w := domain.RateWindows{WorkspaceID: workspaceID}
	if _, err := s.cfg.Store.Get(ctx, &w); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return w, commit.StoreError(err)
	}
	return w, nil
}

// StoreRateWindows stores the consumption of a workspace's rate limits. Only one goroutine may write this row of a
// workspace, because the commit has no guard.
func (s *Service) StoreRateWindows(ctx context.Context, w *domain.RateWindows) error {
	_, err := s.cfg.Store.Apply(ctx, commit.Change{Workspace: w.WorkspaceID, Puts: []domain.Record{w}})
	return err
}
