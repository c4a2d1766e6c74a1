// Package appointments is the service for appointments: it manages providers and their hours, books appointments,
// and reminds patients by SMS or call.
package appointments

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/lifecycle"
	"github.com/callboard/callboard/service/record"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store  commit.Store
	Outbox record.Outbox
	// Script returns the script of an agent or pathway: the conversation of its calls. Errors: not_found.
	Script func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	// SendSMS queues a message with this id. The functions in more add changes to the commit of the message.
	SendSMS func(ctx context.Context, p domain.Principal, o domain.NewMessage, id string, more ...func(*commit.Change)) (*domain.Message, error)
	// PlaceCall places a call with this id if a call permit is free now. The function more adds changes to the commit of
	// the call.
	PlaceCall func(ctx context.Context, p domain.Principal, o domain.NewCall, id string, more func(*commit.Change, *domain.Call)) (*domain.Call, error)
	Log       *slog.Logger
}

// Service manages providers, books appointments and reminds patients.
type Service struct {
	store  commit.Store
	cfg    Config
	locks  record.KeyedMutex    // by provider; by workspace for creating a provider
	due    record.WorkspaceTask // sends due reminders
	timers wakeTimers           // wakes the task due
}

// New returns a Service. Reminders are sent while its method Run runs.
func New(cfg Config) *Service {
	return &Service{store: cfg.Store, cfg: cfg, due: record.NewWorkspaceTask()}
}

// Resume makes Run look for due reminders in a workspace after a restart.
func (s *Service) Resume(workspaceID string) { s.due.Wake(workspaceID) }

// Run sends due reminders until ctx ends.
func (s *Service) Run(ctx context.Context) {
	s.due.Run(ctx, s.cfg.Log, "appointment reminders", s.sendDueReminders)
}

// Book books a time slot with a provider. Of concurrent requests for the same time only one succeeds, also on several
// nodes. A lock orders the requests of this process. The commit guards the rows of the provider and of its booked days,
// so it fails if another node has changed them. Errors: slot_unavailable, validation_failed.
func (s *Service) Book(ctx context.Context, p domain.Principal, o booking.NewAppointment) (*domain.Appointment, error) {
	if created, err := record.CreatedBySameRequest[domain.Appointment](ctx, s.store, p, domain.PrefixAppointment); created != nil || err != nil {
		return created, err
	}
	if err := s.checkCall(ctx, p, o.CallID); err != nil {
		return nil, err
	}
	x, err := s.findProvider(ctx, p, o.Provider)
	if err != nil {
		return nil, err
	}
	if o.Reminders != nil {
		if err = s.validateReminders(ctx, p, *o.Reminders); err != nil {
			return nil, err
		}
	}
	unlock, err := s.locks.Lock(ctx, x.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	a := &domain.Appointment{Patient: o.Patient, Type: o.Type, Status: domain.AppointmentBooked, CallID: o.CallID, Notes: o.Notes}
	a.Init("appointment", p, record.RequestResourceID(ctx, domain.PrefixAppointment), record.Now())
	a.AppointmentID, a.Metadata = a.ID, o.Metadata
	if o.Confirmed {
		a.Status, a.ConfirmedAt = domain.AppointmentConfirmed, &a.CreatedAt
	}
	for range record.MaxTries {
		var version uint64
		if x, version, err = record.Get[domain.Provider](ctx, s.store, p, domain.PrefixProvider, x.ID); err != nil {
			return nil, err
		}
		if err = setTime(a, x, booking.Reschedule{Datetime: o.Datetime, Timezone: o.Timezone, Minutes: o.Minutes}); err != nil {
			return nil, err
		}
		orders := x.Reminders
		if o.Reminders != nil {
			orders = *o.Reminders
		}
		s.scheduleReminders(a, x, orders)
		c := commit.Change{
			Workspace: p.WorkspaceID, Guards: []commit.Guard{commit.Absent(a.Key()), {Key: x.Key(), Version: version}}, Puts: []domain.Record{a},
			Events: []event.Draft{newEvent(a, event.AppointmentCreated, nil)},
		}
		putReminderDue(&c, a, false, nil)
		if err = s.addBooking(ctx, &c, x, a); err != nil {
			return nil, err
		}
		if _, err = s.store.Apply(ctx, c); errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err != nil {
			return nil, commit.StoreError(err)
		}
		s.cfg.Outbox.Committed(p.WorkspaceID)
		s.due.Wake(p.WorkspaceID)
		return a, nil
	}
	return nil, domain.Errorf(domain.CodeUnavailable, "other requests keep changing the provider's calendar; try again").With("retry_after", 1)
}

// newEvent returns an event of type t about an appointment. previous holds the earlier values of changed fields.
func newEvent(a *domain.Appointment, t event.Type, previous map[string]json.RawMessage) event.Draft {
	return outbox.NewEvent(&a.Meta, t, a.ID, domain.UnitID(a.WorkspaceID), event.NewAppointmentData(a, previous))
}

// checkCall returns a validation error if no call has this id. An empty id is valid.
func (s *Service) checkCall(ctx context.Context, p domain.Principal, id string) error {
	if id == "" {
		return nil
	}
	_, _, err := record.Get[domain.Call](ctx, s.store, p, domain.PrefixCall, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return domain.FieldError("call_id", domain.CodeValidation, "there is no such call")
	}
	return err
}

// setTime sets the time, the duration and the provider of an appointment. Errors: validation_failed.
func setTime(a *domain.Appointment, x *domain.Provider, to booking.Reschedule) error {
	name := x.Timezone
	if to.Timezone != "" {
		name = to.Timezone
	}
	var problems domain.Problems
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		problems.Add("timezone", domain.CodeValidation, "must be a time zone like Europe/Berlin")
		zone = time.UTC
	}
	at, err := booking.ParseLocalTime(to.Datetime, zone)
	now := time.Now()
	switch {
	case err != nil:
		problems.Add("datetime", domain.CodeValidation, "%s", record.Message(err))
	case at.Before(now):
		problems.Add("datetime", domain.CodeValidation, "must not lie in the past")
	case at.After(now.Add(maxDaysAhead)):
		problems.Add("datetime", domain.CodeValidation, "must lie within the next two years")
	}
	minutes := to.Minutes
	if minutes == 0 {
		minutes = x.SlotMinutes
	}
	if minutes < booking.MinMinutes || minutes > booking.MaxMinutes {
		problems.Add("duration_minutes", domain.CodeValidation, "must be between %d and %d", booking.MinMinutes, booking.MaxMinutes)
	}
	if err := problems.Err(); err != nil {
		return err
	}
	a.Provider, a.ProviderID, a.Timezone, a.DurationMinutes = x.Name, x.ID, name, minutes
	a.Datetime, a.EndsAt = at.UTC(), at.UTC().Add(time.Duration(minutes)*time.Minute)
	a.LocalDatetime = at.In(zone).Format(domain.LocalTimeFormat)
	return nil
}

// Appointment returns one appointment. Errors: not_found.
func (s *Service) Appointment(ctx context.Context, p domain.Principal, id string) (*domain.Appointment, error) {
	a, _, err := record.Get[domain.Appointment](ctx, s.store, p, domain.PrefixAppointment, id)
	return a, err
}

// ListAppointments returns a page of appointments. It reads the index that fits the filters of the query best.
func (s *Service) ListAppointments(ctx context.Context, p domain.Principal, q Query) (record.Page[*domain.Appointment], error) {
	index, e := record.EnvironmentIndex(p), string(p.Environment)
	if q.Status != "" {
		index = "status=" + e + "/" + string(q.Status)
	}
	provider := ""
	if q.Provider != "" {
		x, err := s.findProvider(ctx, p, q.Provider)
		if err != nil {
			return record.Page[*domain.Appointment]{}, err
		}
		provider, index = x.ID, "provider="+x.ID
	}
	if q.Phone != "" {
		index = "phone=" + e + "/" + q.Phone
	}
	if q.CallID != "" {
		index = "call=" + q.CallID
	}
	return record.List(ctx, s.store, p.WorkspaceID, index, domain.PrefixAppointment, q.PageQuery, func(a *domain.Appointment) bool {
		return a.Environment == p.Environment && (q.Status == "" || a.Status == q.Status) && (provider == "" || a.ProviderID == provider) &&
			(q.Phone == "" || a.Patient.Phone == q.Phone) && (q.CallID == "" || a.CallID == q.CallID) &&
			(q.From.IsZero() || !a.Datetime.Before(q.From)) && (q.To.IsZero() || a.Datetime.Before(q.To))
	})
}

// updateAppointment changes an appointment and stores an event of type t in the same commit. If nothing changes, it
// commits nothing.
func (s *Service) updateAppointment(
	ctx context.Context, p domain.Principal, id string, t event.Type,
	change func(c *commit.Change, a *domain.Appointment) error,
) (*domain.Appointment, error) {
	changed := false
	a, err := record.Update(ctx, s.store, p, domain.PrefixAppointment, id, nil, func(c *commit.Change, a *domain.Appointment) error {
		before := *a
		if err := change(c, a); err != nil {
			return err
		}
		fields := record.ChangedFields(before, *a, "updated_at")
		if changed = len(fields) > 0; !changed {
			return record.ErrUnchanged
		}
		was, previous := record.JSONFields(before), make(map[string]json.RawMessage, len(fields))
		for _, f := range fields {
			if v, ok := was[f]; ok {
				previous[f] = v
			}
		}
		a.Sequence++
		_, due := before.NextReminder()
		putReminderDue(c, a, due, nil)
		c.Events = append(c.Events, newEvent(a, t, previous))
		deleteEmptyDays(c)
		return nil
	})
	if err == nil && changed {
		s.cfg.Outbox.Committed(p.WorkspaceID)
		s.due.Wake(p.WorkspaceID)
	}
	return a, err
}

// setStatus sets the status of an appointment. Errors: invalid_state with current_status
// and allowed_from.
func setStatus(a *domain.Appointment, to domain.AppointmentStatus) error {
	allowed, ok := lifecycle.CheckAppointmentTransition(a.Status, to)
	if !ok {
		return domain.Errorf(domain.CodeInvalidState, "an appointment that is %s cannot become %s", a.Status, to).
			With("current_status", a.Status).With("allowed_from", allowed)
	}
	a.Status = to
	return nil
}

// UpdateAppointment changes an appointment, except its time. The statuses completed and no_show can be set after the
// appointment has begun.
func (s *Service) UpdateAppointment(ctx context.Context, p domain.Principal, id string, change func(*domain.Appointment) error) (*domain.Appointment, error) {
	return s.updateAppointment(ctx, p, id, event.AppointmentUpdated, func(_ *commit.Change, a *domain.Appointment) error {
		before := *a
		if err := change(a); err != nil {
			return err
		}
		if slices.ContainsFunc(a.Reminders, func(r domain.AppointmentReminder) bool { return r.Status == "" }) || len(a.Reminders) < len(before.Reminders) {
			if err := s.rescheduleReminders(ctx, p, a); err != nil {
				return err
			}
		}
		if to := a.Status; to != before.Status {
			booking.CancelReminders(a)
			a.Status = before.Status
			if err := setStatus(a, to); err != nil {
				return err
			}
			if time.Now().Before(a.Datetime) {
				return domain.Errorf(domain.CodeInvalidState, "the appointment has not begun yet").With("current_status", before.Status).With("allowed_at", a.Datetime)
			}
		}
		if a.CallID != before.CallID {
			return s.checkCall(ctx, p, a.CallID)
		}
		return nil
	})
}

// ConfirmAppointment confirms that the patient will come.
func (s *Service) ConfirmAppointment(ctx context.Context, p domain.Principal, id string) (*domain.Appointment, error) {
	return s.updateAppointment(ctx, p, id, event.AppointmentConfirmed, func(_ *commit.Change, a *domain.Appointment) error {
		if a.Status == domain.AppointmentConfirmed {
			return nil
		}
		now := record.Now()
		a.ConfirmedAt = &now
		return setStatus(a, domain.AppointmentConfirmed)
	})
}

// CancelAppointment cancels an appointment and frees its time slot.
func (s *Service) CancelAppointment(ctx context.Context, p domain.Principal, id, reason string) (*domain.Appointment, error) {
	now, err := s.Appointment(ctx, p, id)
	if err != nil {
		return nil, err
	}
	unlock, err := s.locks.Lock(ctx, now.ProviderID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s.updateAppointment(ctx, p, id, event.AppointmentCancelled, func(c *commit.Change, a *domain.Appointment) error {
		if a.Status == domain.AppointmentCancelled {
			return nil
		}
		if err := setStatus(a, domain.AppointmentCancelled); err != nil {
			return err
		}
		now := record.Now()
		a.CancelledAt, a.CancelReason = &now, reason
		booking.CancelReminders(a)
		return s.removeBooking(ctx, c, a)
	})
}

// RescheduleAppointment moves an appointment to another time or provider. The patient has to confirm the new time again.
func (s *Service) RescheduleAppointment(ctx context.Context, p domain.Principal, id string, to booking.Reschedule) (*domain.Appointment, error) {
	now, err := s.Appointment(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if to.Provider == "" {
		to.Provider = now.ProviderID
	}
	x, err := s.findProvider(ctx, p, to.Provider)
	if err != nil {
		return nil, err
	}
	unlock, err := s.locks.Lock(ctx, x.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s.updateAppointment(ctx, p, id, event.AppointmentRescheduled, func(c *commit.Change, a *domain.Appointment) error {
		if !a.Status.Open() {
			return domain.Errorf(domain.CodeInvalidState, "an appointment that is %s cannot be moved", a.Status).
				With("current_status", a.Status).With("allowed_from", []domain.AppointmentStatus{domain.AppointmentBooked, domain.AppointmentConfirmed})
		}
		var version uint64
		if x, version, err = record.Get[domain.Provider](ctx, s.store, p, domain.PrefixProvider, x.ID); err != nil {
			return err
		}
		c.Guards = append(c.Guards, commit.Guard{Key: x.Key(), Version: version})
		before := *a
		order := to
		if order.Minutes == 0 {
			order.Minutes = a.DurationMinutes
		}
		if order.Timezone == "" && x.ID == a.ProviderID {
			order.Timezone = a.Timezone
		}
		if err = setTime(a, x, order); err != nil {
			return err
		}
		if a.Datetime.Equal(before.Datetime) && a.EndsAt.Equal(before.EndsAt) && a.ProviderID == before.ProviderID {
			*a = before
			return nil
		}
		if err = s.removeBooking(ctx, c, &before); err != nil {
			return err
		}
		a.Moves++
		a.Status, a.ConfirmedAt = domain.AppointmentBooked, nil
		s.scheduleReminders(a, x, booking.ReminderDefinitions(a))
		return s.addBooking(ctx, c, x, a)
	})
}

// DeleteAppointment deletes an appointment. It cancels an open appointment first. The events about the appointment stay.
func (s *Service) DeleteAppointment(ctx context.Context, p domain.Principal, id string) error {
	a, err := s.Appointment(ctx, p, id)
	if err != nil {
		return err
	}
	if a.Status.Open() {
		if a, err = s.CancelAppointment(ctx, p, id, "deleted"); err != nil {
			return err
		}
	}
	return record.Delete(ctx, s.store, p, domain.PrefixAppointment, a.ID, func(c *commit.Change, a *domain.Appointment) error {
		if a.Status.Open() {
			return domain.Errorf(domain.CodeInvalidState, "another request changed the appointment; try again").With("current_status", a.Status)
		}
		return s.FreeTime(ctx, c, a)
	})
}
