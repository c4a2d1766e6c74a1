package retention

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// deleteRows deletes the rows of a kind that were created earlier than before and for which isExpired returns true.
// With days <= 0 it deletes nothing. Deleted appointments free their time slots.
func (s *Service) deleteRows(
	ctx context.Context, workspaceID, kind string, prefix domain.Prefix, before time.Time, days int,
	fresh func() domain.Record, isExpired func(r domain.Record, before time.Time) bool,
) error {
	if days <= 0 {
		return nil
	}
	first := domain.FirstIDAt(prefix, before)
	for after, n := string(prefix)+"_", record.SweepRows; n == record.SweepRows && ctx.Err() == nil; {
		n = 0
		c := commit.Change{Workspace: workspaceID}
		var deleted []*domain.Appointment
		err := s.store.Under(ctx, domain.Key{Kind: kind, Workspace: workspaceID, ID: string(prefix) + "_"}, after, record.SweepRows, fresh, func(r domain.Record) error {
			if r.Key().ID >= first {
				return errRetained
			}
			n++
			after = r.Key().ID
			if isExpired(r, before) {
				c.Deletes = append(c.Deletes, r.Key())
				c.DeleteSubjectCounts = append(c.DeleteSubjectCounts, r.Key().ID)
				if a, ok := r.(*domain.Appointment); ok {
					deleted = append(deleted, a)
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errRetained) {
			return err
		}
		for _, a := range deleted {
			if err = s.appointments.FreeTime(ctx, &c, a); err != nil {
				return err
			}
		}
		if len(c.Deletes) == 0 {
			continue
		}
		if _, err = s.store.Apply(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
