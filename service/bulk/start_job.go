package bulk

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/service/record"
)

const (
	maxOpenJobs = 100                 // maximum number of jobs of a workspace that have not ended
	retention   = 30 * 24 * time.Hour // how long an ended job is stored
)

// StartBulk commits a job with all its items and starts the job. After a restart of the process the job continues.
func (s *Service) StartBulk(ctx context.Context, p domain.Principal, o NewJob) (*domain.Bulk, error) {
	if s.cfg.Workspaces.Workspace(p.WorkspaceID) == nil {
		return nil, s.cfg.Workspaces.WorkspaceNotFound()
	}
	if b, err := record.CreatedBySameRequest[domain.Bulk](ctx, s.store, p, domain.PrefixBulk); b != nil || err != nil {
		if err == nil {
			err = s.readErrors(ctx, b)
		}
		return b, err
	}
	if err := s.checkJob(ctx, p, &o); err != nil {
		return nil, err
	}
	open := 0
	if err := commit.ForEachRow(ctx, s.store, "bulk", p.WorkspaceID, "open", func(*domain.Bulk) { open++ }); err != nil {
		return nil, commit.StoreError(err)
	}
	if open >= maxOpenJobs {
		return nil, domain.Errorf(domain.CodeInvalidState, "%d bulk jobs are open, which is the maximum; wait for one to end or cancel one", open)
	}
	b := &domain.Bulk{
		RequestTrace: tracing.OfRequest(ctx), Type: o.Type, Status: domain.BulkQueued, TargetID: o.Target, Total: len(o.Items), Errors: []domain.BulkError{}, Operator: p.Operator, KeyID: p.KeyID,
	}
	b.Init("bulk", p, record.RequestResourceID(ctx, domain.PrefixBulk), record.Now())
	b.Metadata = o.Metadata
	chunks, err := newChunks(b, o.Items)
	if err != nil {
		return nil, err
	}
	if b.Pending = b.Accepted; b.Pending == 0 {
		b.Status, b.CompletedAt = domain.BulkCompleted, &b.CreatedAt
	}
	_, err = s.store.Apply(ctx, commit.Change{
		Workspace: b.WorkspaceID, Guards: []commit.Guard{commit.Absent(b.Key())}, Puts: append(b.Records(0), chunks...),
	})
	if err != nil {
		return nil, commit.StoreError(err)
	}
	s.RunBulk(b)
	return b, nil
}

// newChunks returns the database rows with the items of a job, in chunks, and sets the job's numbers of accepted and
// rejected items.
func newChunks(b *domain.Bulk, items []NewItem) ([]domain.Record, error) {
	var rows []domain.Record
	for start := 0; start < len(items); start += domain.BulkChunkSize {
		chunk := &domain.BulkChunk{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Index: start / domain.BulkChunkSize}
		for _, item := range items[start:min(start+domain.BulkChunkSize, len(items))] {
			if item.Error != nil {
				b.Rejected++
				b.AddError(*item.Error)
				chunk.Entries = append(chunk.Entries, domain.BulkEntry{Error: item.Error})
				continue
			}
			text, err := domain.AppendRow(nil, item)
			if err != nil {
				return nil, err
			}
			b.Accepted++
			chunk.Entries = append(chunk.Entries, domain.BulkEntry{Order: text})
		}
		rows = append(rows, chunk)
	}
	return rows, nil
}
