package bulk

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// SweepBulks deletes the jobs of a workspace that ended longer ago than the retention period, at most ten per call.
func (s *Service) SweepBulks(ctx context.Context, workspaceID string) error {
	var old []*domain.Bulk
	q := commit.Query{
		Kind: "bulk", Workspace: workspaceID, Index: "over", Oldest: true, Limit: 10, To: domain.FirstIDAt(domain.PrefixBulk, time.Now().Add(-retention)),
	}
	_, err := s.store.List(ctx, q, func() domain.Record { return &domain.Bulk{} }, func(r domain.Record) error {
		if b, ok := r.(*domain.Bulk); ok && b.CompletedAt != nil && time.Since(*b.CompletedAt) > retention {
			old = append(old, b)
		}
		return nil
	})
	for _, b := range old {
		if err == nil {
			err = s.DeleteBulk(ctx, b)
		}
	}
	return err
}

// DeleteBulk deletes a job with its items and their results.
func (s *Service) DeleteBulk(ctx context.Context, b *domain.Bulk) error {
	for _, k := range []struct {
		kind  string
		fresh func() domain.Record
	}{
		{"bulk_item", func() domain.Record { return &domain.BulkItem{} }},
		{"bulk_chunk", func() domain.Record { return &domain.BulkChunk{} }},
	} {
		if err := record.DeleteByPrefix(ctx, s.store, domain.Key{Kind: k.kind, Workspace: b.WorkspaceID, ID: b.ID + "/"}, k.fresh); err != nil {
			return err
		}
	}
	errorRow := &domain.BulkErrors{BulkID: b.ID, WorkspaceID: b.WorkspaceID}
	_, err := s.store.Apply(ctx, commit.Change{Workspace: b.WorkspaceID, Deletes: []domain.Key{errorRow.Key(), b.Key()}})
	return err
}
