package workspaces

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// RateWindows returns the stored usage of a workspace's rate limits.
func (s *Service) RateWindows(ctx context.Context, workspaceID string) (domain.RateWindows, error) {
	w := domain.RateWindows{WorkspaceID: workspaceID}
	if _, err := s.cfg.Store.Get(ctx, &w); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return w, commit.StoreError(err)
	}
	return w, nil
}

// StoreRateWindows stores the usage of a workspace's rate limits. Only one goroutine may write the row of a
// workspace.
func (s *Service) StoreRateWindows(ctx context.Context, w *domain.RateWindows) error {
	_, err := s.cfg.Store.Apply(ctx, commit.Change{Workspace: w.WorkspaceID, Puts: []domain.Record{w}})
	return err
}
