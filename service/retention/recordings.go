package retention

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// sweepRecordings deletes expired recordings of calls.
func (s *Service) sweepRecordings(ctx context.Context, workspaceID string, now time.Time) (failed error) {
	for more := true; more && ctx.Err() == nil; {
		var err error
		if more, err = s.deleteRecordings(ctx, workspaceID, now); err != nil {
			s.log.Warn("expired recordings could not be deleted", slog.String("workspace_id", workspaceID), slog.Any("error", err))
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// deleteRecordings deletes up to record.SweepRows expired recordings. more reports that further expired recordings
// may exist. Each audio file is deleted before its call's row changes, so that the next sweep after a crash finds the
// call again.
func (s *Service) deleteRecordings(ctx context.Context, workspaceID string, now time.Time) (more bool, err error) {
	w := s.workspaces.Workspace(workspaceID)
	if w == nil || w.Retention.RecordingDays <= 0 {
		return false, nil
	}
	before := now.AddDate(0, 0, -w.Retention.RecordingDays)
	var old []*domain.Call
	q := commit.Query{
		Kind: "call", Workspace: workspaceID, Index: "recorded", Oldest: true, Limit: record.SweepRows, To: domain.FirstIDAt(domain.PrefixCall, before),
	}
	_, err = s.store.List(ctx, q, func() domain.Record { return &domain.Call{} }, func(r domain.Record) error {
		if c, ok := r.(*domain.Call); ok && c.EndedAt != nil && c.EndedAt.Before(before) {
			old = append(old, c)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for _, c := range old {
		if err = s.deleteRecording(ctx, c); err != nil {
			return false, err
		}
	}
	return len(old) == record.SweepRows, nil
}

func (s *Service) deleteRecording(ctx context.Context, c *domain.Call) error {
	if err := s.blobs.Delete(ctx, c.WorkspaceID, recording.BlobName(c.ID)); err != nil {
		return err
	}
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	_, err := record.Update(ctx, s.store, p, domain.PrefixCall, c.ID, func(c *domain.Call) error {
		now := record.Now()
		c.RecordingAvailable, c.RecordingURL, c.RecordingDeletedAt = false, "", &now
		return nil
	})
	if domain.CodeOf(err) == domain.CodeNotFound {
		err = nil
	}
	if err != nil {
		return err
	}
	// The call may have stored its recording after the first deletion and before its row changed. This second deletion
	// removes that file. A recording that is stored later finds the changed row and is not kept.
	return s.blobs.Delete(ctx, c.WorkspaceID, recording.BlobName(c.ID))
}
