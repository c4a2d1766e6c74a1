package restorequarantine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// errorCodeRestored is the error code of messages and other actions that may have been carried out before the restore.
const errorCodeRestored domain.Code = "restored"

// restoredErrorMessage is the error message for errorCodeRestored.
const restoredErrorMessage = "This may have been sent before the service was restored from a backup, so it is not sent again."

// Release ends the quarantine of a store. It marks the actions that may have been carried out after the backup as
// failed or cancelled, so that they are not repeated. Then it deletes the quarantine row. An interrupted Release
// can be called again. Campaigns that the restore paused stay paused. The result lists the actions that are not
// repeated.
func Release(ctx context.Context, store commit.Store) (*Quarantine, error) {
	before, err := LoadState(ctx, store)
	if err != nil || !before.Active {
		return before, err
	}
	q, err := LoadRow(ctx, store)
	if err != nil || q == nil {
		return before, err
	}
	now := time.Now()
	var rows []domain.Record
	err = eachUncertainAction(ctx, store, q, now, func(_ domain.UncertainAction, r domain.Record) { rows = append(rows, r) })
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		for range record.MaxTries {
			if err = markFailed(ctx, store, row, now); !errors.Is(err, domain.ErrConflict) {
				break
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", row.Key().Kind, row.Key().ID, err)
		}
	}
	_, err = store.Apply(ctx, commit.Change{Deletes: []domain.Key{q.Key()}})
	return before, err
}

// markFailed marks the record of an uncertain action as failed or cancelled, so that the action is not repeated.
func markFailed(ctx context.Context, store commit.Store, row domain.Record, now time.Time) error {
	version, err := store.Get(ctx, row)
	if errors.Is(err, domain.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	at := record.Now()
	c := commit.Change{Workspace: row.Key().Workspace, Guards: []commit.Guard{{Key: row.Key(), Version: version}}, Puts: []domain.Record{row}}
	switch r := row.(type) {
	case *domain.Bulk:
		if r.Final() {
			return nil
		}
		r.UpdatedAt = at
		r.Cancel(at)
		var blank []domain.Record
		if blank, err = record.BlankBulkChunks(ctx, store, r); err != nil {
			return err
		}
		c.Puts = append(c.Puts, blank...)
	case *domain.Message:
		answers := r.Todo == domain.TodoAnswer
		r.Todo, r.UpdatedAt = "", at
		if !answers {
			r.Status, r.FailedAt, r.ErrorCode, r.ErrorMessage = domain.MessageFailed, &at, string(errorCodeRestored), restoredErrorMessage
			c.Events = append(c.Events, record.NewSMSEvent(r, event.SMSFailed))
		}
	case *domain.Appointment:
		r.UpdatedAt, r.Reminders = at, slices.Clone(r.Reminders)
		for i := range r.Reminders {
			if one := &r.Reminders[i]; one.Status == domain.ReminderScheduled && !one.DueAt.After(now) {
				one.Status, one.Reason = domain.ReminderFailed, errorCodeRestored
			}
		}
		if due, pending := booking.ReminderDue(r, now); pending {
			c.Puts = append(c.Puts, due)
		} else {
			c.Deletes = append(c.Deletes, due.Key())
		}
	default:
		return nil // the restore has already paused campaigns
	}
	_, err = store.Apply(ctx, c)
	return err
}
