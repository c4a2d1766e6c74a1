package restorequarantine

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// eachUncertainAction calls each with every stored action that may have been carried out after the backup. These
// actions are campaigns that the restore paused, bulk jobs of calls and messages, queued messages, and appointments
// with due reminders. The second argument of each is the stored record of the action.
func eachUncertainAction(ctx context.Context, store commit.Store, q *domain.Quarantine, now time.Time, each func(domain.UncertainAction, domain.Record)) error {
	all, err := record.AllWorkspaces(ctx, store)
	for _, w := range all {
		add := func(kind domain.UncertainKind, m *domain.Meta, to string, at time.Time, row domain.Record) {
			each(domain.UncertainAction{Kind: kind, WorkspaceID: w.ID, Environment: m.Environment, ID: m.ID, To: to, At: at}, row)
		}
		for _, env := range []domain.Environment{domain.Live, domain.Test} {
			err = errors.Join(err, commit.ForEachRow(ctx, store, "campaign", w.ID, "env="+string(env), func(c *domain.Campaign) {
				if c.Status == domain.CampaignPaused && c.PauseReason == domain.PausedByRestore {
					add(domain.UncertainCampaign, &c.Meta, "", c.CreatedAt, c)
				}
			}))
		}
		err = errors.Join(err, commit.ForEachRow(ctx, store, "bulk", w.ID, "open", func(b *domain.Bulk) {
			if b.IsOutbound() && !b.CreatedAt.After(q.BackupAt) {
				add(domain.UncertainBulk, &b.Meta, "", b.CreatedAt, b)
			}
		}))
		err = errors.Join(err, eachUncertainMessage(ctx, store, q, w.ID, add), eachUncertainReminder(ctx, store, q, w.ID, now, add))
		if err != nil {
			return err
		}
	}
	return err
}

// addUncertain is the callback that receives each action that may have been carried out after the backup. row is the
// stored record of the action.
type addUncertain func(kind domain.UncertainKind, m *domain.Meta, to string, at time.Time, row domain.Record)

// eachUncertainMessage calls add for each message that existed at the time of the backup and was queued for sending
// or was waiting for an agent's reply.
func eachUncertainMessage(ctx context.Context, store commit.Store, q *domain.Quarantine, workspace string, add addUncertain) error {
	return commit.ForEachRow(ctx, store, "message", workspace, "todo", func(m *domain.Message) {
		if m.CreatedAt.After(q.BackupAt) {
			return
		}
		switch m.Todo {
		case domain.TodoSend, domain.TodoDeliver, domain.TodoAwaitResponse:
			add(domain.UncertainMessage, &m.Meta, m.To, m.CreatedAt, m)
		case domain.TodoAnswer:
			add(domain.UncertainMessage, &m.Meta, m.From, m.CreatedAt, m)
		case "", domain.TodoReport, domain.TodoReply, domain.TodoOptOut: // states without a pending transmission
		}
	})
}

// eachUncertainReminder calls add for each appointment that was created before the backup and has a due reminder.
func eachUncertainReminder(ctx context.Context, store commit.Store, q *domain.Quarantine, workspace string, now time.Time, add addUncertain) error {
	var due []*domain.ReminderDue
	err := commit.ForEachRow(ctx, store, "reminder", workspace, "all", func(r *domain.ReminderDue) {
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
