package actors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/service/record"
)

const (
	remindAtOnce = 50
	remindLook   = 30 * time.Second // the time of day may be set meanwhile
	remindAgain  = 20 * time.Second // where a reminder cannot go out now
)

// alarms wake the reminders of workspaces: one clock each.
type alarms struct {
	mu sync.Mutex
	of map[string]*time.Timer
}

func (a *alarms) set(workspaceID string, in time.Duration, wake func(string)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = make(map[string]*time.Timer)
	}
	if t := a.of[workspaceID]; t != nil {
		t.Stop()
	}
	var t *time.Timer
	t = time.AfterFunc(in, func() {
		a.mu.Lock()
		if a.of[workspaceID] == t {
			delete(a.of, workspaceID)
		}
		a.mu.Unlock()
		wake(workspaceID)
	})
	a.of[workspaceID] = t
}

// remindersFit notes what is wrong with reminders: their words, and agents that
// there are not.
func (d *Desk) remindersFit(ctx context.Context, p domain.Principal, all []domain.Reminder) error {
	var problems domain.Problems
	for i, r := range all {
		here := fmt.Sprintf("reminders[%d]", i)
		if _, left := pathway.Fill(r.Body, booking.Words(&domain.Appointment{})); len(left) > 0 {
			problems.Add(here+".body", domain.CodeValidation, "uses %s; there are appointment_id, date, datetime, patient_name, provider, time and type", left[0])
		}
		if r.AgentID == "" {
			continue
		}
		if _, err := d.scriptOf(ctx, p, r.AgentID, ""); domain.CodeOf(err) == domain.CodeNotFound {
			problems.Add(here+".agent_id", domain.CodeValidation, "there is no such agent")
		} else if err != nil && domain.CodeOf(err) == "" {
			return err
		}
	}
	return problems.Err()
}

// schedule lets the reminders of an appointment be these, from now on.
func (d *Desk) schedule(a *domain.Appointment, x *domain.Provider, orders []domain.Reminder) {
	booking.Remind(a, orders, booking.RemindHours(x.ReminderHours), zoneOf(a), time.Now())
}

// remindAnew schedules the reminders that a change has brought along.
func (d *Desk) remindAnew(ctx context.Context, p domain.Principal, a *domain.Appointment) error {
	if !a.Status.Open() {
		return domain.Errorf(domain.CodeInvalidState, "of an appointment that is %s nobody is reminded", a.Status).With("current_status", a.Status)
	}
	orders := booking.Orders(a)
	if err := d.remindersFit(ctx, p, orders); err != nil {
		return err
	}
	x, err := d.Provider(ctx, p, a.ProviderID)
	if err == nil {
		d.schedule(a, x, orders)
	}
	return err
}

func zoneOf(a *domain.Appointment) *time.Location {
	zone, err := time.LoadLocation(a.Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// keepDue adds to a commit when the reminders of an appointment are looked at:
// later, or, where that is nil, when the next one is due. was says whether there
// may be such a row.
func keepDue(c *commit.Change, a *domain.Appointment, was bool, later *time.Time) {
	at, is := a.NextReminder()
	row := &domain.ReminderDue{WorkspaceID: a.WorkspaceID, AppointmentID: a.ID, At: laterOf(at, time.Now())}
	if later != nil {
		row.At = *later
	}
	switch {
	case is:
		c.Puts = append(c.Puts, row)
	case was:
		c.Deletes = append(c.Deletes, row.Key())
	}
}

// laterOf is when to look at a reminder: one that is due and waits was not
// slept through.
func laterOf(at, now time.Time) time.Time {
	if at.Before(now) {
		return now.UTC()
	}
	return at
}

// remind sends the reminders of a workspace that are due, and sets its alarm
// for the next.
func (d *Desk) remind(ctx context.Context, workspaceID string) error {
	for {
		now := time.Now()
		due, next, err := d.dueReminders(ctx, workspaceID, now)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			if !next.IsZero() {
				d.alarms.set(workspaceID, min(max(next.Sub(now), 0), remindLook), d.reminders.Wake)
			}
			return nil
		}
		for _, row := range due {
			if err = d.remindOne(ctx, row, now); err != nil {
				return err
			}
		}
	}
}

// dueReminders are rows that are due; without any, when the next one is.
func (d *Desk) dueReminders(ctx context.Context, workspaceID string, now time.Time) (due []*domain.ReminderDue, next time.Time, err error) {
	q := commit.Query{Kind: "reminder", Workspace: workspaceID, Index: "all", Oldest: true, Limit: remindAtOnce}
	_, err = d.store.List(ctx, q, func() domain.Record { return &domain.ReminderDue{} }, func(r domain.Record) error {
		row, ok := r.(*domain.ReminderDue)
		switch {
		case !ok:
		case !row.At.After(now):
			due = append(due, row)
		case next.IsZero():
			next = row.At
		}
		return nil
	})
	return due, next, err
}

// remindOne does what is due of one appointment, each reminder in the commit
// that says that it went out: whatever happens, it goes out once at most.
func (d *Desk) remindOne(ctx context.Context, row *domain.ReminderDue, now time.Time) error {
	for range record.MaxTries {
		a := &domain.Appointment{Meta: domain.Meta{ID: row.AppointmentID, WorkspaceID: row.WorkspaceID}}
		version, err := d.store.Get(ctx, a)
		if errors.Is(err, domain.ErrNotFound) {
			_, err = d.store.Apply(ctx, commit.Change{Workspace: row.WorkspaceID, Deletes: []domain.Key{row.Key()}})
		}
		if err != nil || a.CreatedAt.IsZero() {
			return err
		}
		p := domain.Principal{WorkspaceID: a.WorkspaceID, Environment: a.Environment}
		x, err := d.Provider(ctx, p, a.ProviderID)
		if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
			return err
		}
		if x == nil {
			x = &domain.Provider{}
		}
		send, changed := booking.Due(a, booking.RemindHours(x.ReminderHours), zoneOf(a), row.At, now)
		if len(send) > 0 {
			err = d.sendReminders(ctx, p, a, version, send, changed)
		} else {
			err = d.keepReminders(ctx, a, version, changed, nil)
		}
		if !errors.Is(err, domain.ErrConflict) {
			return err
		}
	}
	return nil // somebody keeps changing it: it is looked at again
}

// keepReminders stores what has become of reminders. later is when to look again
// where nothing has; nil: when the next one is due.
func (d *Desk) keepReminders(ctx context.Context, a *domain.Appointment, version uint64, changed bool, later *time.Time) error {
	c := commit.Change{Workspace: a.WorkspaceID, Guards: []commit.Guard{{Key: a.Key(), Version: version}}}
	if changed {
		a.UpdatedAt = record.Now()
		c.Puts = append(c.Puts, a)
	}
	keepDue(&c, a, true, later)
	_, err := d.store.Apply(ctx, c)
	return err
}

// sendReminders sends the first of those that can go out now. Where none can,
// all are tried again for as long as the appointment lies ahead.
func (d *Desk) sendReminders(ctx context.Context, p domain.Principal, a *domain.Appointment, version uint64, due []int, changed bool) error {
	for _, which := range due {
		one := *a
		one.Reminders = slices.Clone(a.Reminders)
		if err := d.sendReminder(ctx, p, &one, version, which); !errors.Is(err, errRemindLater) {
			return err
		}
	}
	later := time.Now().Add(remindAgain)
	return d.keepReminders(ctx, a, version, changed, &later)
}

// errRemindLater says that a reminder cannot go out now.
var errRemindLater = errors.New("this reminder goes out later")

// waitsFor says whether a reminder that was refused may go out another time.
func waitsFor(err error) bool {
	return passes(err) || slices.Contains([]domain.Code{
		domain.CodeNoTrunk, domain.CodeNoSMSRoute, domain.CodeSpendCap, domain.CodeFrequencyCap, domain.CodeOutsideCallingHours,
	}, domain.CodeOf(err))
}

// sendReminder sends one.
func (d *Desk) sendReminder(ctx context.Context, p domain.Principal, a *domain.Appointment, version uint64, which int) error {
	before := *a
	before.Reminders = slices.Clone(a.Reminders)
	with := func(c *commit.Change, messageID, callID string) {
		r, now := &a.Reminders[which], record.Now()
		r.Status, r.SentAt, r.MessageID, r.CallID = domain.ReminderSent, &now, messageID, callID
		a.UpdatedAt = now
		c.Guards = append(c.Guards, commit.Guard{Key: a.Key(), Version: version})
		c.Puts = append(c.Puts, a)
		keepDue(c, a, true, nil)
		data := event.AppointmentOf(a, nil)
		data.Channel, data.SentAt, data.MessageID, data.ReminderCallID = r.Channel, &now, messageID, callID
		c.Events = append(c.Events, record.NewEvent(&a.Meta, event.AppointmentReminder, a.ID, domain.Unit(a.WorkspaceID), data))
	}
	r := a.Reminders[which]
	var err error
	if r.Channel == domain.RemindCall {
		err = d.remindByCall(ctx, p, a, r, with)
	} else {
		err = d.remindBySMS(ctx, p, a, r, with)
	}
	switch {
	case err == nil:
		d.node.Committed(a.WorkspaceID)
		return nil
	case errors.Is(err, domain.ErrConflict):
		return err
	case waitsFor(err):
		return errRemindLater
	}
	failed := &before.Reminders[which]
	failed.Status, failed.Reason = domain.ReminderFailed, domain.CodeOf(err)
	return d.keepReminders(ctx, &before, version, true, nil)
}

func (d *Desk) remindBySMS(ctx context.Context, p domain.Principal, a *domain.Appointment, r domain.AppointmentReminder, with func(*commit.Change, string, string)) error {
	o := ask.NewMessage{To: a.Patient.Phone, From: r.From, Body: orElse(r.Body, booking.DefaultBody), Context: wordsOf(a), Metadata: map[string]string{"appointment_id": a.ID}}
	id := mailbox.NewID(domain.PrefixMessage)
	_, err := d.sendMessage(ctx, p, o, id, func(c *commit.Change) { with(c, id, "") })
	return err
}

func (d *Desk) remindByCall(ctx context.Context, p domain.Principal, a *domain.Appointment, r domain.AppointmentReminder, with func(*commit.Change, string, string)) error {
	o := ask.NewCall{To: a.Patient.Phone, From: r.From, AgentID: r.AgentID, Context: wordsOf(a), Metadata: map[string]string{"appointment_id": a.ID}, Record: true}
	if p.Environment != domain.Test {
		o.CallingHours = validation.CallingHours()
	}
	_, err := d.placeBy(ctx, p, o, placing{
		id: mailbox.NewID(domain.PrefixCall), permit: d.tryLine,
		with: func(c *commit.Change, call *domain.Call) { with(c, "", call.ID) },
	})
	return err
}

func wordsOf(a *domain.Appointment) domain.Context {
	out := domain.Context{"name": a.Patient.Name}
	for name, v := range booking.Words(a) {
		out[name] = v
	}
	return out
}
