package retention

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// callRowKind is a kind of database rows that belong to a call and have their own retention period.
type callRowKind struct {
	kind        string
	days        func(domain.Retention) int
	fresh       func() domain.Record
	markDeleted func(c *domain.Call, at time.Time) // records the deletion in the call; nil: the call is not changed
}

func callRowKinds() []callRowKind {
	return []callRowKind{
		{
			kind: "transcript", days: func(r domain.Retention) int { return r.TranscriptDays },
			fresh: func() domain.Record { return &domain.Transcript{} },
			markDeleted: func(c *domain.Call, at time.Time) {
				c.TranscriptAvailable, c.TranscriptURL, c.TranscriptDeletedAt = false, "", &at
			},
		},
		{
			kind: "call_trace", days: func(r domain.Retention) int { return r.TraceDays },
			fresh: func() domain.Record { return &domain.TraceRow{} },
		},
	}
}

// sweepCallRows deletes expired transcripts and SIP traces of calls.
func (s *Service) sweepCallRows(ctx context.Context, workspaceID string, now time.Time) (failed error) {
	for _, k := range callRowKinds() {
		for after, more := "", true; more && ctx.Err() == nil; {
			var err error
			if after, more, err = s.deleteCallRows(ctx, workspaceID, &k, after, now); err != nil {
				s.log.Warn("expired rows of calls could not be deleted", slog.String("workspace_id", workspaceID), slog.String("kind", k.kind), slog.Any("error", err))
				failed = errors.Join(failed, err)
			}
		}
	}
	return failed
}

// deleteCallRows deletes up to record.SweepRows expired rows of a kind and updates their calls in one commit. Call
// ids sort by time, so the scan ends at the first row that is retained. more reports that further expired rows may
// follow after the row with the id last.
func (s *Service) deleteCallRows(ctx context.Context, workspaceID string, k *callRowKind, after string, now time.Time) (last string, more bool, err error) {
	w := s.workspaces.Workspace(workspaceID)
	if w == nil || k.days(w.Retention) <= 0 {
		return "", false, nil
	}
	before := now.AddDate(0, 0, -k.days(w.Retention))
	first := domain.FirstIDAt(domain.PrefixCall, before)
	var found []domain.Key
	prefix := domain.Key{Kind: k.kind, Workspace: workspaceID, ID: string(domain.PrefixCall) + "_"}
	err = s.store.Under(ctx, prefix, after, record.SweepRows, k.fresh, func(r domain.Record) error {
		if r.Key().ID >= first {
			return errRetained
		}
		found = append(found, r.Key())
		return nil
	})
	if err != nil && !errors.Is(err, errRetained) {
		return "", false, err
	}
	change := commit.Change{Workspace: workspaceID}
	for _, key := range found {
		if err = s.addExpired(ctx, &change, key, k, before); err != nil {
			return "", false, err
		}
	}
	if len(change.Deletes) > 0 {
		if _, err = s.store.Apply(ctx, change); err != nil {
			return "", false, err
		}
	}
	if len(found) < record.SweepRows {
		return "", false, nil
	}
	return found[len(found)-1].ID, true, nil
}

// addExpired adds the deletion of a row to a change if the row's call ended earlier than before or does not exist.
func (s *Service) addExpired(ctx context.Context, change *commit.Change, row domain.Key, k *callRowKind, before time.Time) error {
	c := &domain.Call{Meta: domain.Meta{ID: row.ID, WorkspaceID: row.Workspace}}
	version, err := s.store.Get(ctx, c)
	switch {
	case errors.Is(err, domain.ErrNotFound):
		change.Deletes = append(change.Deletes, row)
		return nil
	case err != nil:
		return err
	case c.EndedAt == nil || !c.EndedAt.Before(before):
		return nil
	}
	change.Deletes = append(change.Deletes, row)
	if k.markDeleted != nil {
		at := record.Now()
		c.UpdatedAt = at
		k.markDeleted(c, at)
		change.Puts = append(change.Puts, c)
		change.Guards = append(change.Guards, commit.Guard{Key: c.Key(), Version: version})
	}
	return nil
}
