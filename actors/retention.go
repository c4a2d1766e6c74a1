package actors

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

// kept is a kind of rows, one for each call and named by it, that a workspace
// keeps for some days.
type kept struct {
	kind  string
	days  func(domain.Retention) int
	fresh func() domain.Record
	gone  func(c *domain.Call, at time.Time) // what the call says then; nil: nothing
}

func keptRows() []kept {
	return []kept{
		{
			kind: "transcript", days: func(r domain.Retention) int { return r.TranscriptDays },
			fresh: func() domain.Record { return &domain.Transcript{} },
			gone: func(c *domain.Call, at time.Time) {
				c.TranscriptAvailable, c.TranscriptURL, c.TranscriptDeletedAt = false, "", &at
			},
		},
		{
			kind: "call_trace", days: func(r domain.Retention) int { return r.TraceDays },
			fresh: func() domain.Record { return &domain.TraceRow{} },
		},
	}
}

// sweep looks the names of proxies up again and deletes what has outlived its
// time.
func (n *Node) sweep(ctx context.Context) {
	n.mu.RLock()
	ids := make([]string, 0, len(n.spaces))
	for id := range n.spaces {
		ids = append(ids, id)
	}
	n.mu.RUnlock()
	for _, id := range ids {
		turn := n.book.Turn()
		if trunks, err := n.trunksOf(ctx, id); err == nil {
			n.book.Set(ctx, turn, id, trunks)
		}
		n.expire(ctx, id)
		n.JoinRecordingParts(id)
		for _, one := range []struct {
			what string
			do   func() error
		}{
			{"calls", func() error { return n.desk.sweepCalls(ctx, id, time.Now()) }},
			{"decisions", func() error { return n.desk.sweepDecisions(ctx, id, time.Now()) }},
			{"rows of the ledger", func() error { return n.desk.sweepLedger(ctx, id, time.Now()) }},
			{"audit log and uploads", func() error { return n.desk.sweepAccounts(ctx, id, time.Now()) }},
			{"messages and appointments", func() error { return n.desk.sweepOld(ctx, id, time.Now()) }},
			{"names of messages", func() error { return n.desk.DeleteSeenMessages(ctx, id, time.Now()) }},
			{"events", func() error { return n.desk.sweepEvents(ctx, id, time.Now()) }},
			{"counts of attempts", func() error { return n.forgetRings(ctx, id) }},
			{"revocations of tokens", func() error {
				return errors.Join(n.desk.SweepOAuth(ctx, id, time.Now()), n.desk.SweepSessions(ctx, id, time.Now()))
			}},
			{"bulk jobs", func() error { return n.desk.sweepBulks(ctx, id) }},
			{"exports", func() error { return n.desk.SweepExports(ctx, id, time.Now()) }},
			{"data requests", func() error { return n.desk.SweepDataRequests(ctx, id, time.Now()) }},
			{"idempotency keys", func() error { return n.desk.SweepReplies(ctx, id) }},
		} {
			if err := one.do(); err != nil && ctx.Err() == nil {
				n.cfg.Log.Warn("what is kept no longer could not be deleted", slog.String("what", one.what), slog.String("workspace_id", id), slog.Any("error", err))
			}
		}
	}
}

// expire deletes what the workspace keeps no longer.
func (n *Node) expire(ctx context.Context, workspaceID string) {
	for more := true; more && ctx.Err() == nil; {
		var err error
		if more, err = n.desk.sweepRecordings(ctx, workspaceID); err != nil {
			n.cfg.Log.Warn("old recordings could not be deleted", slog.String("workspace_id", workspaceID), slog.Any("error", err))
		}
	}
	for _, k := range keptRows() {
		for after, more := "", true; more && ctx.Err() == nil; {
			var err error
			if after, more, err = n.desk.sweepRows(ctx, workspaceID, &k, after); err != nil {
				n.cfg.Log.Warn("what calls left could not be deleted", slog.String("workspace_id", workspaceID), slog.String("kind", k.kind),
					slog.Any("error", err))
			}
		}
	}
}

// sweepOld deletes the text messages and appointments that a workspace keeps no
// longer. Their ids sort by age: a message is as old as its id, an appointment
// was made before it ended.
func (d *Desk) sweepOld(ctx context.Context, workspaceID string, now time.Time) error {
	w := d.node.Workspace(workspaceID)
	if w == nil {
		return nil
	}
	return errors.Join(
		d.sweepKind(ctx, workspaceID, "message", domain.PrefixMessage, now.AddDate(0, 0, -w.Retention.MessageDays), w.Retention.MessageDays,
			func() domain.Record { return &domain.Message{} }, func(r domain.Record, _ time.Time) bool {
				m, ok := r.(*domain.Message)
				return ok && m.Todo == ""
			}),
		d.sweepKind(ctx, workspaceID, "sms_conversation", domain.PrefixTexting, now.AddDate(0, 0, -w.Retention.MessageDays), w.Retention.MessageDays,
			func() domain.Record { return &domain.Texting{} }, func(r domain.Record, _ time.Time) bool {
				t, ok := r.(*domain.Texting)
				return ok && t.Now(now) != domain.TextingOpen
			}),
		d.sweepKind(ctx, workspaceID, "appointment", domain.PrefixAppoint, now.AddDate(0, 0, -w.Retention.AppointmentDays), w.Retention.AppointmentDays,
			func() domain.Record { return &domain.Appointment{} }, func(r domain.Record, before time.Time) bool {
				a, ok := r.(*domain.Appointment)
				return ok && a.EndsAt.Before(before)
			}),
	)
}

// sweepKind deletes the rows of a kind that were made before a moment and are
// old. With an appointment goes what its day says of it.
func (d *Desk) sweepKind(
	ctx context.Context, workspaceID, kind string, prefix domain.Prefix, before time.Time, days int,
	fresh func() domain.Record, old func(r domain.Record, before time.Time) bool,
) error {
	if days <= 0 {
		return nil
	}
	first := record.IDAt(prefix, before)
	for after, n := string(prefix)+"_", record.SweepRows; n == record.SweepRows && ctx.Err() == nil; {
		n = 0
		c := commit.Change{Workspace: workspaceID}
		var gone []*domain.Appointment
		err := d.store.Under(ctx, domain.Key{Kind: kind, Workspace: workspaceID, ID: string(prefix) + "_"}, after, record.SweepRows, fresh, func(r domain.Record) error {
			if r.Key().ID >= first {
				return errYoung
			}
			n++
			after = r.Key().ID
			if old(r, before) {
				c.Deletes = append(c.Deletes, r.Key())
				c.ForgetSubjects = append(c.ForgetSubjects, r.Key().ID)
				if a, ok := r.(*domain.Appointment); ok {
					gone = append(gone, a)
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errYoung) {
			return err
		}
		for _, a := range gone {
			if err = d.FreeTime(ctx, &c, a); err != nil {
				return err
			}
		}
		if len(c.Deletes) == 0 {
			continue
		}
		if _, err = d.store.Apply(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// errYoung ends a walk at the first row that is kept still.
var errYoung = errors.New("actors: it is young")

// sweepRows deletes rows that a workspace keeps no longer, a bounded number in
// one commit that says so in their calls. They are named by their calls, and so
// by the time, and the walk ends where they are young. more: there are others
// behind last.
func (d *Desk) sweepRows(ctx context.Context, workspaceID string, k *kept, after string) (last string, more bool, err error) {
	w := d.node.Workspace(workspaceID)
	if w == nil || k.days(w.Retention) <= 0 {
		return "", false, nil
	}
	before := time.Now().AddDate(0, 0, -k.days(w.Retention))
	first := record.IDAt(domain.PrefixCall, before)
	var found []domain.Key
	prefix := domain.Key{Kind: k.kind, Workspace: workspaceID, ID: string(domain.PrefixCall) + "_"}
	err = d.store.Under(ctx, prefix, after, record.SweepRows, k.fresh, func(r domain.Record) error {
		if r.Key().ID >= first {
			return errYoung
		}
		found = append(found, r.Key())
		return nil
	})
	if err != nil && !errors.Is(err, errYoung) {
		return "", false, err
	}
	change := commit.Change{Workspace: workspaceID}
	for _, key := range found {
		if err = d.expired(ctx, &change, key, k, before); err != nil {
			return "", false, err
		}
	}
	if len(change.Deletes) > 0 {
		if _, err = d.store.Apply(ctx, change); err != nil {
			return "", false, err
		}
	}
	if len(found) < record.SweepRows {
		return "", false, nil
	}
	return found[len(found)-1].ID, true, nil
}

// expired adds to a change that a row goes, unless its call lasted until it is
// young. One without a call goes too.
func (d *Desk) expired(ctx context.Context, change *commit.Change, row domain.Key, k *kept, before time.Time) error {
	c := &domain.Call{Meta: domain.Meta{ID: row.ID, WorkspaceID: row.Workspace}}
	version, err := d.store.Get(ctx, c)
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
	if k.gone != nil {
		now := record.Now()
		c.UpdatedAt = now
		k.gone(c, now)
		change.Puts = append(change.Puts, c)
		change.Guards = append(change.Guards, commit.Guard{Key: c.Key(), Version: version})
	}
	return nil
}

// sweepRecordings deletes what a workspace keeps no longer, a bounded number
// per visit; true: there is more. The sound goes before the call's record says
// so: whatever ends in between is found again.
func (d *Desk) sweepRecordings(ctx context.Context, workspaceID string) (more bool, err error) {
	w := d.node.Workspace(workspaceID)
	if w == nil || w.Retention.RecordingDays <= 0 {
		return false, nil
	}
	before := time.Now().AddDate(0, 0, -w.Retention.RecordingDays)
	var old []*domain.Call
	q := commit.Query{
		Kind: "call", Workspace: workspaceID, Index: "recorded", Oldest: true, Limit: record.SweepRows, To: record.IDAt(domain.PrefixCall, before),
	}
	_, err = d.store.List(ctx, q, func() domain.Record { return &domain.Call{} }, func(r domain.Record) error {
		if c, ok := r.(*domain.Call); ok && c.EndedAt != nil && c.EndedAt.Before(before) {
			old = append(old, c)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for _, c := range old {
		if err = d.deleteRecording(ctx, c); err != nil {
			return false, err
		}
	}
	return len(old) == record.SweepRows, nil
}

func (d *Desk) deleteRecording(ctx context.Context, c *domain.Call) error {
	if err := d.node.cfg.Blobs.Delete(ctx, c.WorkspaceID, recording.BlobName(c.ID)); err != nil {
		return err
	}
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	_, err := record.Update(ctx, d.store, p, domain.PrefixCall, c.ID, func(c *domain.Call) error {
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
	// What was just being kept, or joined with another part, may have come between:
	// it is looked at there once it is stored, and here once it is known.
	return d.node.cfg.Blobs.Delete(ctx, c.WorkspaceID, recording.BlobName(c.ID))
}
