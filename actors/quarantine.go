package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/quarantine"
	"github.com/callboard/callboard/service/record"
)

// codeRestored is the reason of what may have gone out before a store was restored, and is not sent again.
const codeRestored domain.Code = "restored"

const restoredText = "It may have gone out before the service was restored from a backup; it is not sent again."

// StoreQuarantine is the quarantine of a store; nil: there is none.
func StoreQuarantine(ctx context.Context, store commit.Store) (*domain.Quarantine, error) {
	q := &domain.Quarantine{}
	_, err := store.Get(ctx, q)
	if errors.Is(err, domain.ErrNotFound) {
		return nil, nil //nolint:nilnil // nil: nothing is held back
	}
	if err != nil {
		return nil, err
	}
	return q, nil
}

// SetQuarantine puts a store that was restored from a backup, and that no node has open, into quarantine. backupAt is
// when the backup was made.
func SetQuarantine(ctx context.Context, store commit.Store, backupAt time.Time) (*domain.Quarantine, error) {
	q := &domain.Quarantine{BackupAt: backupAt, RestoredAt: record.Now()}
	all, err := Workspaces(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		var attempts []*domain.Attempt
		if attempts, err = openAttempts(ctx, store, w.ID); err != nil {
			return nil, err
		}
		for _, a := range attempts {
			q.LiveCalls++
			q.Calls = append(q.Calls, domain.UncertainAction{Kind: domain.UncertainCall, WorkspaceID: w.ID, Environment: a.Environment, ID: a.CallID, At: a.OpenedAt})
		}
	}
	slices.SortFunc(q.Calls, func(a, b domain.UncertainAction) int { return b.At.Compare(a.At) })
	q.Calls = q.Calls[:min(len(q.Calls), domain.MaxQuarantinedCalls)]
	_, err = store.Apply(ctx, commit.Change{Puts: []domain.Record{q}})
	return q, err
}

// uncertainActions tells each of what is stored and may have gone out since the backup of a quarantine, with its row:
// paused campaigns, jobs of calls and messages, queued messages, and appointments with reminders that are due.
func uncertainActions(ctx context.Context, store commit.Store, q *domain.Quarantine, now time.Time, each func(domain.UncertainAction, domain.Record)) error {
	all, err := Workspaces(ctx, store)
	for _, w := range all {
		add := func(kind domain.UncertainKind, m *domain.Meta, to string, at time.Time, row domain.Record) {
			each(domain.UncertainAction{Kind: kind, WorkspaceID: w.ID, Environment: m.Environment, ID: m.ID, To: to, At: at}, row)
		}
		for _, env := range []domain.Environment{domain.Live, domain.Test} {
			err = errors.Join(err, commit.Each(ctx, store, "campaign", w.ID, "env="+string(env), func(c *domain.Campaign) {
				if c.Status == domain.CampaignPaused && c.PauseReason == domain.PausedByRestore {
					add(domain.UncertainCampaign, &c.Meta, "", c.CreatedAt, c)
				}
			}))
		}
		err = errors.Join(err, commit.Each(ctx, store, "bulk", w.ID, "open", func(b *domain.Bulk) {
			if sendsOut(b) && !b.CreatedAt.After(q.BackupAt) {
				add(domain.UncertainBulk, &b.Meta, "", b.CreatedAt, b)
			}
		}))
		err = errors.Join(err, uncertainMessages(ctx, store, q, w.ID, add), uncertainReminders(ctx, store, q, w.ID, now, add))
		if err != nil {
			return err
		}
	}
	return err
}

// addUncertain notes an action and its row.
type addUncertain func(kind domain.UncertainKind, m *domain.Meta, to string, at time.Time, row domain.Record)

// uncertainMessages are the messages that were queued when the backup was made, and those whose answer was.
func uncertainMessages(ctx context.Context, store commit.Store, q *domain.Quarantine, workspace string, add addUncertain) error {
	return commit.Each(ctx, store, "message", workspace, "todo", func(m *domain.Message) {
		if m.CreatedAt.After(q.BackupAt) {
			return
		}
		switch m.Todo {
		case domain.TodoSend, domain.TodoCarry, domain.TodoAwait:
			add(domain.UncertainMessage, &m.Meta, m.To, m.CreatedAt, m)
		case domain.TodoAnswer:
			add(domain.UncertainMessage, &m.Meta, m.From, m.CreatedAt, m)
		case "", domain.TodoReport, domain.TodoReply, domain.TodoOptOut: // sends nothing to anybody
		}
	})
}

// uncertainReminders are the appointments from before the backup with a reminder that is due.
func uncertainReminders(ctx context.Context, store commit.Store, q *domain.Quarantine, workspace string, now time.Time, add addUncertain) error {
	var due []*domain.ReminderDue
	err := commit.Each(ctx, store, "reminder", workspace, "all", func(r *domain.ReminderDue) {
		if !r.At.After(now) {
			due = append(due, r)
		}
	})
	for _, r := range due {
		a := &domain.Appointment{Meta: domain.Meta{ID: r.AppointmentID, WorkspaceID: workspace}}
		_, failed := store.Get(ctx, a)
		switch {
		case errors.Is(failed, domain.ErrNotFound):
		case failed != nil:
			err = errors.Join(err, failed)
		case !a.CreatedAt.After(q.BackupAt):
			add(domain.UncertainReminder, &a.Meta, a.Patient.Phone, r.At, a)
		}
	}
	return err
}

// sendsOut says whether a job calls or writes to people.
func sendsOut(b *domain.Bulk) bool { return b.Type == domain.BulkCalls || b.Type == domain.BulkSMS }

// QuarantineOf says whether a store is in quarantine, and lists what may have gone out since its backup.
func QuarantineOf(ctx context.Context, store commit.Store) (*quarantine.Quarantine, error) {
	out := &quarantine.Quarantine{Object: "quarantine", Actions: []domain.UncertainAction{}}
	q, err := StoreQuarantine(ctx, store)
	if q == nil || err != nil {
		return out, err
	}
	out.Active, out.BackupAt, out.RestoredAt = true, &q.BackupAt, &q.RestoredAt
	out.Counts.Calls = q.LiveCalls
	for _, a := range q.Calls { // the row has no numbers, so that an erasure need not look at it
		c := &domain.Call{Meta: domain.Meta{ID: a.ID, WorkspaceID: a.WorkspaceID}}
		if _, err = store.Get(ctx, c); err != nil && !errors.Is(err, domain.ErrNotFound) {
			return nil, err
		}
		a.To = c.To
		out.Actions = append(out.Actions, a)
	}
	err = uncertainActions(ctx, store, q, time.Now(), func(a domain.UncertainAction, _ domain.Record) {
		if out.Counts.Add(a.Kind) <= domain.MaxQuarantinedCalls {
			out.Actions = append(out.Actions, a)
		}
	})
	return out, err
}

// EndQuarantine releases a store: what may have gone out since the backup is marked as failed or cancelled, so that it
// is not sent again, and then the quarantine is removed. Cut off in between, it can be called again. Campaigns that the
// restore has paused stay so. It answers what was held back.
func EndQuarantine(ctx context.Context, store commit.Store) (*quarantine.Quarantine, error) {
	was, err := QuarantineOf(ctx, store)
	if err != nil || !was.Active {
		return was, err
	}
	q, err := StoreQuarantine(ctx, store)
	if err != nil || q == nil {
		return was, err
	}
	now := time.Now()
	var rows []domain.Record
	err = uncertainActions(ctx, store, q, now, func(_ domain.UncertainAction, r domain.Record) { rows = append(rows, r) })
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		for range record.MaxTries {
			if err = giveUpUncertain(ctx, store, row, now); !errors.Is(err, domain.ErrConflict) {
				break
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", row.Key().Kind, row.Key().ID, err)
		}
	}
	_, err = store.Apply(ctx, commit.Change{Deletes: []domain.Key{q.Key()}})
	return was, err
}

// giveUpUncertain marks what may have gone out since the backup, so that it is not sent again.
func giveUpUncertain(ctx context.Context, store commit.Store, row domain.Record, now time.Time) error {
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
		if blank, err = blankOrders(ctx, store, r); err != nil {
			return err
		}
		c.Puts = append(c.Puts, blank...)
	case *domain.Message:
		answers := r.Todo == domain.TodoAnswer
		r.Todo, r.UpdatedAt = "", at
		if !answers {
			r.Status, r.FailedAt, r.ErrorCode, r.ErrorMessage = domain.MessageFailed, &at, string(codeRestored), restoredText
			c.Events = append(c.Events, record.NewSMSEvent(r, event.SMSFailed))
		}
	case *domain.Appointment:
		r.UpdatedAt, r.Reminders = at, slices.Clone(r.Reminders)
		for i := range r.Reminders {
			if one := &r.Reminders[i]; one.Status == domain.ReminderScheduled && !one.DueAt.After(now) {
				one.Status, one.Reason = domain.ReminderFailed, codeRestored
			}
		}
		if due, pending := booking.ReminderDue(r, now); pending {
			c.Puts = append(c.Puts, due)
		} else {
			c.Deletes = append(c.Deletes, due.Key())
		}
	default:
		return nil // campaigns are paused already
	}
	_, err = store.Apply(ctx, c)
	return err
}

// Quarantined says whether nothing may leave this node.
func (n *Node) Quarantined() bool { return n.cfg.Quarantined }

// Quarantined says whether nothing may leave the service, because its store was restored from a backup.
func (d *Desk) Quarantined() bool { return d.node.Quarantined() }

// Quarantine says whether the store is in quarantine, and lists what may have gone out since its backup.
func (d *Desk) Quarantine(ctx context.Context, _ domain.Principal) (*quarantine.Quarantine, error) {
	q, err := QuarantineOf(ctx, d.store)
	return q, record.StoreError(err)
}

// EndQuarantine releases the store and has the service start anew.
func (d *Desk) EndQuarantine(ctx context.Context, p domain.Principal) (*quarantine.Quarantine, error) {
	was, err := EndQuarantine(ctx, d.store)
	if err != nil {
		return nil, record.StoreError(err)
	}
	if was.Active && d.node.cfg.Released != nil {
		d.log.Warn("an operator has released the restored store: the service starts anew", slog.String("actor", record.ActorOf(p).ID))
		d.node.cfg.Released()
	}
	was.Active = false
	return was, nil
}
