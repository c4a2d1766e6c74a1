package dnc

import (
	"context"
	"log/slog"
	"time"

	"github.com/callboard/callboard/domain"
)

// loadRetryDelay is the pause before a do-not-call list that could not be read is read again. Until then its numbers are
// looked up in the store.
const loadRetryDelay = 2 * time.Second

// LoadWorkspace loads the do-not-call lists of a workspace. It retries until all lists are loaded or ctx ends.
func (r *Registry) LoadWorkspace(ctx context.Context, workspaceID string) {
	retry := time.NewTicker(loadRetryDelay)
	defer retry.Stop()
	for {
		err := r.loadWorkspace(ctx, workspaceID)
		if err == nil || ctx.Err() != nil {
			return
		}
		r.log.Warn("do-not-call lists could not be read", slog.String("workspace_id", workspaceID), slog.Any("error", err))
		select {
		case <-ctx.Done():
			return
		case <-retry.C:
		}
	}
}

func (r *Registry) loadWorkspace(ctx context.Context, workspaceID string) error {
	for after, more := "", true; more; {
		var ids []string
		err := r.store.Under(ctx, domain.Key{Kind: "dnc_list", Workspace: workspaceID}, after, pageSize, func() domain.Record { return &domain.DNCList{} }, func(rec domain.Record) error {
			ids = append(ids, rec.Key().ID)
			return nil
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err = r.LoadList(ctx, workspaceID, id); err != nil {
				return err
			}
			after = id
		}
		more = len(ids) == pageSize
	}
	return nil
}
