package appointments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/service/record"
)

const (
	maxDueRows    = 50
	maxTimerWait  = 30 * time.Second // the system clock may be set during the wait
	reminderRetry = 20 * time.Second // delay after a reminder that cannot be sent now
)

// wakeTimers wake the reminder task when the next reminder of a workspace is due. Each workspace has one timer.
type wakeTimers struct {
	mu sync.Mutex
	of map[string]*time.Timer
}

func (a *wakeTimers) set(workspaceID string, in time.Duration, wake func(string)) {
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

// validateReminders checks the text and the agents of reminders.
func (s *Service) validateReminders(ctx context.Context, p domain.Principal, all []domain.Reminder) error {
	var problems domain.Problems
	for i, r := range all {
		here := fmt.Sprintf("reminders[%d]", i)
		if _, left := pathway.FillPlaceholders(r.Body, booking.ReminderVariables(&domain.Appointment{})); len(left) > 0 {
			problems.Add(here+".body", domain.CodeValidation, "uses the unknown variable %s; use appointment_id, date, datetime, patient_name, provider, time or type", left[0])
		}
		if r.AgentID == "" {
			continue
		}
		if _, err := s.cfg.Script(ctx, p, r.AgentID, ""); domain.CodeOf(err) == domain.CodeNotFound {
			problems.Add(here+".agent_id", domain.CodeValidation, "there is no such agent")
		} else if err != nil && domain.CodeOf(err) == "" {
			return err
		}
	}
	return problems.Err()
}

// scheduleReminders sets the reminders of an appointment with their due times. orders says how long before the
// appointment each one is due.
func (s *Service) scheduleReminders(a *domain.Appointment, x *domain.Provider, orders []domain.Reminder) {
	booking.ScheduleReminders(a, orders, booking.WithDefaultHours(x.ReminderHours), timeZone(a), time.Now())
}

// rescheduleReminders validates the reminders of an open appointment and computes their due times again.
func (s *Service) rescheduleReminders(ctx context.Context, p domain.Principal, a *domain.Appointment) error {
	if !a.Status.Open() {
		return domain.Errorf(domain.CodeInvalidState, "an appointment that is %s has no reminders", a.Status).With("current_status", a.Status)
	}
	orders := booking.ReminderDefinitions(a)
	if err := s.validateReminders(ctx, p, orders); err != nil {
		return err
	}
	x, err := s.Provider(ctx, p, a.ProviderID)
	if err == nil {
		s.scheduleReminders(a, x, orders)
	}
	return err
}

func timeZone(a *domain.Appointment) *time.Location {
	zone, err := time.LoadLocation(a.Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// putReminderDue adds to a commit the database row that wakes the reminder task for an appointment. The row is due at
// later or, if later is nil, with the next reminder. If no reminder is pending and exists is set, it deletes the row.
func putReminderDue(c *commit.Change, a *domain.Appointment, exists bool, later *time.Time) {
	row, pending := booking.ReminderDue(a, time.Now())
	if later != nil {
		row.At = *later
	}
	switch {
	case pending:
		c.Puts = append(c.Puts, row)
	case exists:
		c.Deletes = append(c.Deletes, row.Key())
	}
}

// sendDueReminders sends the due reminders of a workspace and sets the timer for the next one.
func (s *Service) sendDueReminders(ctx context.Context, workspaceID string) error {
	for {
		now := time.Now()
		due, next, err := s.dueReminders(ctx, workspaceID, now)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			if !next.IsZero() {
				s.timers.set(workspaceID, min(max(next.Sub(now), 0), maxTimerWait), s.due.Wake)
			}
			return nil
		}
		for _, row := range due {
			if err = s.sendRemindersOf(ctx, row, now); err != nil {
				return err
			}
		}
	}
}

// dueReminders returns the rows of appointments with a due reminder. next is the due time of the first row that is not
// due yet.
func (s *Service) dueReminders(ctx context.Context, workspaceID string, now time.Time) (due []*domain.ReminderDue, next time.Time, err error) {
	q := commit.Query{Kind: "reminder", Workspace: workspaceID, Index: "all", Oldest: true, Limit: maxDueRows}
	_, err = s.store.List(ctx, q, func() domain.Record { return &domain.ReminderDue{} }, func(r domain.Record) error {
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

// sendRemindersOf sends the due reminders of an appointment. It commits each reminder together with the reminder's
// status, so that a reminder is sent at most once.
func (s *Service) sendRemindersOf(ctx context.Context, row *domain.ReminderDue, now time.Time) error {
	for range record.MaxTries {
		a := &domain.Appointment{Meta: domain.Meta{ID: row.AppointmentID, WorkspaceID: row.WorkspaceID}}
		version, err := s.store.Get(ctx, a)
		if errors.Is(err, domain.ErrNotFound) {
			_, err = s.store.Apply(ctx, commit.Change{Workspace: row.WorkspaceID, Deletes: []domain.Key{row.Key()}})
		}
		if err != nil || a.CreatedAt.IsZero() {
			return err
		}
		p := domain.Principal{WorkspaceID: a.WorkspaceID, Environment: a.Environment}
		x, err := s.Provider(ctx, p, a.ProviderID)
		if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
			return err
		}
		if x == nil {
			x = &domain.Provider{}
		}
		send, changed := booking.DueReminders(a, booking.WithDefaultHours(x.ReminderHours), timeZone(a), row.At, now)
		if len(send) > 0 {
			err = s.sendReminders(ctx, p, a, version, send, changed)
		} else {
			err = s.storeReminders(ctx, a, version, changed, nil)
		}
		if !errors.Is(err, domain.ErrConflict) {
			return err
		}
	}
	return nil // after repeated conflicts the row stays due
}

// storeReminders stores the status of an appointment's reminders. The reminder task tries again at later or, if later
// is nil, when the next reminder is due.
func (s *Service) storeReminders(ctx context.Context, a *domain.Appointment, version uint64, changed bool, later *time.Time) error {
	c := commit.Change{Workspace: a.WorkspaceID, Guards: []commit.Guard{{Key: a.Key(), Version: version}}}
	if changed {
		a.UpdatedAt = record.Now()
		c.Puts = append(c.Puts, a)
	}
	putReminderDue(&c, a, true, later)
	_, err := s.store.Apply(ctx, c)
	return err
}

// sendReminders sends the first due reminder that can be sent now. If none can be sent, it schedules another try, as
// long as the appointment has not begun.
func (s *Service) sendReminders(ctx context.Context, p domain.Principal, a *domain.Appointment, version uint64, due []int, changed bool) error {
	for _, which := range due {
		one := *a
		one.Reminders = slices.Clone(a.Reminders)
		if err := s.sendReminder(ctx, p, &one, version, which); !errors.Is(err, errRetryLater) {
			return err
		}
	}
	later := time.Now().Add(reminderRetry)
	return s.storeReminders(ctx, a, version, changed, &later)
}

// errRetryLater is the error of a reminder that cannot be sent now.
var errRetryLater = errors.New("appointments: the reminder cannot be sent now")

// isRetryable reports whether a reminder that was refused with err may succeed later.
func isRetryable(err error) bool {
	return record.IsRetryable(err) || slices.Contains([]domain.Code{
		domain.CodeNoTrunk, domain.CodeNoSMSRoute, domain.CodeSpendCap, domain.CodeFrequencyCap, domain.CodeOutsideCallingHours,
	}, domain.CodeOf(err))
}

// sendReminder sends one reminder by SMS or call.
func (s *Service) sendReminder(ctx context.Context, p domain.Principal, a *domain.Appointment, version uint64, which int) error {
	before := *a
	before.Reminders = slices.Clone(a.Reminders)
	with := func(c *commit.Change, messageID, callID string) {
		r, now := &a.Reminders[which], record.Now()
		r.Status, r.SentAt, r.MessageID, r.CallID = domain.ReminderSent, &now, messageID, callID
		a.UpdatedAt = now
		c.Guards = append(c.Guards, commit.Guard{Key: a.Key(), Version: version})
		c.Puts = append(c.Puts, a)
		putReminderDue(c, a, true, nil)
		data := event.NewAppointmentData(a, nil)
		data.Channel, data.SentAt, data.MessageID, data.ReminderCallID = r.Channel, &now, messageID, callID
		c.Events = append(c.Events, outbox.NewEvent(&a.Meta, event.AppointmentReminder, a.ID, domain.UnitID(a.WorkspaceID), data))
	}
	r := a.Reminders[which]
	var err error
	if r.Channel == domain.RemindCall {
		err = s.placeReminderCall(ctx, p, a, r, with)
	} else {
		err = s.sendReminderSMS(ctx, p, a, r, with)
	}
	switch {
	case err == nil:
		s.cfg.Outbox.Committed(a.WorkspaceID)
		return nil
	case errors.Is(err, domain.ErrConflict):
		return err
	case isRetryable(err):
		return errRetryLater
	}
	failed := &before.Reminders[which]
	failed.Status, failed.Reason = domain.ReminderFailed, domain.CodeOf(err)
	return s.storeReminders(ctx, &before, version, true, nil)
}

func (s *Service) sendReminderSMS(ctx context.Context, p domain.Principal, a *domain.Appointment, r domain.AppointmentReminder, with func(*commit.Change, string, string)) error {
	o := domain.NewMessage{To: a.Patient.Phone, From: r.From, Body: cmp.Or(r.Body, booking.DefaultReminderText), Context: templateValues(a), Metadata: map[string]string{"appointment_id": a.ID}}
	id := mailbox.NewID(domain.PrefixMessage)
	_, err := s.cfg.SendSMS(ctx, p, o, id, func(c *commit.Change) { with(c, id, "") })
	return err
}

func (s *Service) placeReminderCall(ctx context.Context, p domain.Principal, a *domain.Appointment, r domain.AppointmentReminder, with func(*commit.Change, string, string)) error {
	o := domain.NewCall{To: a.Patient.Phone, From: r.From, AgentID: r.AgentID, Context: templateValues(a), Metadata: map[string]string{"appointment_id": a.ID}, Record: true}
	if p.Environment != domain.Test {
		o.CallingHours = validation.CallingHours()
	}
	_, err := s.cfg.PlaceCall(ctx, p, o, mailbox.NewID(domain.PrefixCall), func(c *commit.Change, call *domain.Call) { with(c, "", call.ID) })
	return err
}

func templateValues(a *domain.Appointment) domain.Context {
	out := domain.Context{"name": a.Patient.Name}
	for name, v := range booking.ReminderVariables(a) {
		out[name] = v
	}
	return out
}
