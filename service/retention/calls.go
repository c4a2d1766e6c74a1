package retention

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// sweepCalls deletes calls whose retention period has ended, with their recordings, transcripts and SIP traces.
func (s *Service) sweepCalls(ctx context.Context, workspaceID string, now time.Time) error {
	w := s.workspaces.Workspace(workspaceID)
	if w == nil || w.Retention.CallDays <= 0 {
		return nil
	}
	before := now.AddDate(0, 0, -w.Retention.CallDays)
	first := domain.FirstIDAt(domain.PrefixCall, before)
	prefix := domain.Key{Kind: "call", Workspace: workspaceID, ID: string(domain.PrefixCall) + "_"}
	for after, n := "", record.SweepRows; n == record.SweepRows && ctx.Err() == nil; {
		n = 0
		var old []*domain.Call
		err := s.store.Under(ctx, prefix, after, record.SweepRows, func() domain.Record { return &domain.Call{} }, func(r domain.Record) error {
			c, ok := r.(*domain.Call)
			if !ok || c.ID >= first {
				return errRetained
			}
			n, after = n+1, c.ID
			if c.Final() && c.EndedAt != nil && c.EndedAt.Before(before) {
				old = append(old, c)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errRetained) {
			return err
		}
		if err = s.calls.DeleteCalls(ctx, workspaceID, old); err != nil {
			return err
		}
	}
	return nil
}
