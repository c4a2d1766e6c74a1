package actors

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/lifecycle"
	"github.com/callboard/callboard/service/record"
)

// Why a time cannot be had.
const (
	slotBooked = "booked" // somebody has it
	slotClosed = "closed" // the provider is not there
)

// suggested is how many free times an answer offers instead.
const suggested = 3

// Book gives a time to somebody. However many ask for it at once, on however
// many nodes, one gets it: who books of this process takes turns, and the rows
// of the provider and of its days are guarded.
func (d *Desk) Book(ctx context.Context, p domain.Principal, o ask.NewAppointment) (*domain.Appointment, error) {
	if made, err := record.CreatedBySameRequest[domain.Appointment](ctx, d.store, p, domain.PrefixAppoint); made != nil || err != nil {
		return made, err
	}
	if err := d.callExists(ctx, p, o.CallID); err != nil {
		return nil, err
	}
	x, err := d.providerNamed(ctx, p, o.Provider)
	if err != nil {
		return nil, err
	}
	if o.Reminders != nil {
		if err = d.remindersFit(ctx, p, *o.Reminders); err != nil {
			return nil, err
		}
	}
	end, err := d.booking.Lock(ctx, x.ID)
	if err != nil {
		return nil, err
	}
	defer end()
	a := &domain.Appointment{Patient: o.Patient, Type: o.Type, Status: domain.AppointmentBooked, CallID: o.CallID, Notes: o.Notes}
	record.SetMeta(&a.Meta, "appointment", p, record.NewID(ctx, domain.PrefixAppoint), record.Now())
	a.AppointmentID, a.Metadata = a.ID, o.Metadata
	if o.Confirmed {
		a.Status, a.ConfirmedAt = domain.AppointmentConfirmed, &a.CreatedAt
	}
	for range record.MaxTries {
		var version uint64
		if x, version, err = record.Get[domain.Provider](ctx, d.store, p, domain.PrefixProvider, x.ID); err != nil {
			return nil, err
		}
		if err = setTime(a, x, ask.Reschedule{Datetime: o.Datetime, Timezone: o.Timezone, Minutes: o.Minutes}); err != nil {
			return nil, err
		}
		orders := x.Reminders
		if o.Reminders != nil {
			orders = *o.Reminders
		}
		d.schedule(a, x, orders)
		c := commit.Change{
			Workspace: p.WorkspaceID, Guards: []commit.Guard{commit.Absent(a.Key()), {Key: x.Key(), Version: version}}, Puts: []domain.Record{a},
			Events: []event.Draft{bookingEvent(a, event.AppointmentCreated, nil)},
		}
		keepDue(&c, a, false, nil)
		if err = d.occupy(ctx, &c, x, a); err != nil {
			return nil, err
		}
		if _, err = d.store.Apply(ctx, c); errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err != nil {
			return nil, record.StoreError(err)
		}
		d.node.Committed(p.WorkspaceID)
		d.reminders.Wake(p.WorkspaceID)
		return a, nil
	}
	return nil, domain.Errorf(domain.CodeUnavailable, "the provider's calendar keeps changing; try again").With("retry_after", 1)
}

func bookingEvent(a *domain.Appointment, t event.Type, previous map[string]json.RawMessage) event.Draft {
	return record.NewEvent(&a.Meta, t, a.ID, domain.Unit(a.WorkspaceID), event.AppointmentOf(a, previous))
}

func (d *Desk) callExists(ctx context.Context, p domain.Principal, id string) error {
	if id == "" {
		return nil
	}
	_, _, err := record.Get[domain.Call](ctx, d.store, p, domain.PrefixCall, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return record.FieldError("call_id", domain.CodeValidation, "there is no such call")
	}
	return err
}

// setTime sets when an appointment is.
func setTime(a *domain.Appointment, x *domain.Provider, to ask.Reschedule) error {
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
	at, err := booking.Moment(to.Datetime, zone)
	now := time.Now()
	switch {
	case err != nil:
		problems.Add("datetime", domain.CodeValidation, "%s", record.Message(err))
	case at.Before(now):
		problems.Add("datetime", domain.CodeValidation, "must not lie in the past")
	case at.After(now.Add(maxAhead)):
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

// occupy adds to a commit that an appointment takes its time, or fails with
// slot_unavailable.
func (d *Desk) occupy(ctx context.Context, c *commit.Change, x *domain.Provider, a *domain.Appointment) error {
	hours, err := booking.Of(x)
	if err != nil {
		return err
	}
	span := booking.Span{Start: a.Datetime, End: a.EndsAt}
	if !hours.Open(span) {
		return d.unavailable(ctx, x, &hours, span, slotClosed)
	}
	for _, name := range booking.Days(span) {
		day, version, err := d.bookingDay(ctx, c, x.WorkspaceID, x.ID, name)
		if err != nil {
			return err
		}
		if !booking.Free(day.Booked, span, a.ID) {
			return d.unavailable(ctx, x, &hours, span, slotBooked)
		}
		day.Booked = append(slices.DeleteFunc(day.Booked, func(b domain.Booked) bool { return b.AppointmentID == a.ID }),
			domain.Booked{Start: span.Start, End: span.End, AppointmentID: a.ID})
		slices.SortFunc(day.Booked, func(a, b domain.Booked) int { return a.Start.Compare(b.Start) })
		keepDay(c, day, version)
	}
	return nil
}

// release adds to a commit that an appointment's time is free again.
func (d *Desk) release(ctx context.Context, c *commit.Change, a *domain.Appointment) error {
	for _, name := range booking.Days(booking.Span{Start: a.Datetime, End: a.EndsAt}) {
		day, version, err := d.bookingDay(ctx, c, a.WorkspaceID, a.ProviderID, name)
		if err != nil {
			return err
		}
		n := len(day.Booked)
		day.Booked = slices.DeleteFunc(day.Booked, func(b domain.Booked) bool { return b.AppointmentID == a.ID })
		if len(day.Booked) < n {
			keepDay(c, day, version)
		}
	}
	return nil
}

// bookingDay is a day as the commit so far leaves it.
func (d *Desk) bookingDay(ctx context.Context, c *commit.Change, workspaceID, providerID, name string) (*domain.BookingDay, uint64, error) {
	day := &domain.BookingDay{WorkspaceID: workspaceID, ProviderID: providerID, Day: name}
	for _, r := range c.Puts {
		if known, ok := r.(*domain.BookingDay); ok && known.Key() == day.Key() {
			return known, 0, nil
		}
	}
	version, err := d.store.Get(ctx, day)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, 0, record.StoreError(err)
	}
	return day, version, nil
}

func keepDay(c *commit.Change, day *domain.BookingDay, version uint64) {
	if slices.ContainsFunc(c.Guards, func(g commit.Guard) bool { return g.Key == day.Key() }) {
		return // it is in the commit already
	}
	c.Guards = append(c.Guards, commit.Guard{Key: day.Key(), Version: version})
	c.Puts = append(c.Puts, day)
}

// dropEmpty turns days of which nothing is taken any more into deletions, once
// a commit is complete.
func dropEmpty(c *commit.Change) {
	c.Puts = slices.DeleteFunc(c.Puts, func(r domain.Record) bool {
		day, ok := r.(*domain.BookingDay)
		if ok = ok && len(day.Booked) == 0; ok {
			c.Deletes = append(c.Deletes, day.Key())
		}
		return ok
	})
}

// unavailable says why a time cannot be had, and offers the next ones.
func (d *Desk) unavailable(ctx context.Context, x *domain.Provider, h *booking.Hours, s booking.Span, why string) error {
	text := "the provider has another appointment then"
	if why == slotClosed {
		text = "the provider cannot be booked then"
	}
	e := &domain.Error{Code: domain.CodeSlotUnavailable, Param: "datetime", Message: text}
	next := []string{}
	to := bookable(s.Start.Add(availableFor), time.Now())
	if days, err := d.bookedWithin(ctx, x, booking.Span{Start: s.Start, End: to.AddDate(0, 0, 1)}); err == nil {
		var booked []domain.Booked
		for _, day := range days {
			booked = append(booked, day.Booked...)
		}
		free, _ := h.Slots(s.Start, to, s.End.Sub(s.Start), booked, suggested)
		for _, f := range free {
			next = append(next, f.Start.UTC().Format(domain.TimeFormat))
		}
	}
	return e.With("reason", why).With("next_available", next)
}

// Appointment reads one.
func (d *Desk) Appointment(ctx context.Context, p domain.Principal, id string) (*domain.Appointment, error) {
	a, _, err := record.Get[domain.Appointment](ctx, d.store, p, domain.PrefixAppoint, id)
	return a, err
}

// ListAppointments reads a page of the narrowest list that a query names.
func (d *Desk) ListAppointments(ctx context.Context, p domain.Principal, q ask.AppointmentQuery) (ask.List[*domain.Appointment], error) {
	index, e := record.EnvironmentIndex(p), string(p.Environment)
	if q.Status != "" {
		index = "status=" + e + "/" + string(q.Status)
	}
	provider := ""
	if q.Provider != "" {
		x, err := d.providerNamed(ctx, p, q.Provider)
		if err != nil {
			return ask.List[*domain.Appointment]{}, err
		}
		provider, index = x.ID, "provider="+x.ID
	}
	if q.Phone != "" {
		index = "phone=" + e + "/" + q.Phone
	}
	if q.CallID != "" {
		index = "call=" + q.CallID
	}
	return record.List(ctx, d.store, p.WorkspaceID, index, domain.PrefixAppoint, q.Page, func(a *domain.Appointment) bool {
		return a.Environment == p.Environment && (q.Status == "" || a.Status == q.Status) && (provider == "" || a.ProviderID == provider) &&
			(q.Phone == "" || a.Patient.Phone == q.Phone) && (q.CallID == "" || a.CallID == q.CallID) &&
			(q.From.IsZero() || !a.Datetime.Before(q.From)) && (q.To.IsZero() || a.Datetime.Before(q.To))
	})
}

// amend changes an appointment in one commit with the event that tells of it;
// where nothing has changed there is neither.
func (d *Desk) amend(
	ctx context.Context, p domain.Principal, id string, t event.Type,
	change func(c *commit.Change, a *domain.Appointment) error,
) (*domain.Appointment, error) {
	told := false
	a, err := record.Update(ctx, d.store, p, domain.PrefixAppoint, id, nil, func(c *commit.Change, a *domain.Appointment) error {
		before := *a
		if err := change(c, a); err != nil {
			return err
		}
		fields := record.ChangedFields(before, *a, "updated_at")
		if told = len(fields) > 0; !told {
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
		keepDue(c, a, due, nil)
		c.Events = append(c.Events, bookingEvent(a, t, previous))
		dropEmpty(c)
		return nil
	})
	if err == nil && told {
		d.node.Committed(p.WorkspaceID)
		d.reminders.Wake(p.WorkspaceID)
	}
	return a, err
}

// enter puts an appointment into a state.
func enter(a *domain.Appointment, to domain.AppointmentStatus) error {
	allowed, ok := lifecycle.Appointment(a.Status, to)
	if !ok {
		return domain.Errorf(domain.CodeInvalidState, "an appointment that is %s cannot become %s", a.Status, to).
			With("current_status", a.Status).With("allowed_from", allowed)
	}
	a.Status = to
	return nil
}

// UpdateAppointment changes what leaves the time of an appointment alone. That
// it took place, or that nobody came, is said once it has begun.
func (d *Desk) UpdateAppointment(ctx context.Context, p domain.Principal, id string, change func(*domain.Appointment) error) (*domain.Appointment, error) {
	return d.amend(ctx, p, id, event.AppointmentUpdated, func(_ *commit.Change, a *domain.Appointment) error {
		before := *a
		if err := change(a); err != nil {
			return err
		}
		if slices.ContainsFunc(a.Reminders, func(r domain.AppointmentReminder) bool { return r.Status == "" }) || len(a.Reminders) < len(before.Reminders) {
			if err := d.remindAnew(ctx, p, a); err != nil {
				return err
			}
		}
		if to := a.Status; to != before.Status {
			booking.Unremind(a)
			a.Status = before.Status
			if err := enter(a, to); err != nil {
				return err
			}
			if time.Now().Before(a.Datetime) {
				return domain.Errorf(domain.CodeInvalidState, "the appointment has not begun yet").With("current_status", before.Status).With("allowed_at", a.Datetime)
			}
		}
		if a.CallID != before.CallID {
			return d.callExists(ctx, p, a.CallID)
		}
		return nil
	})
}

// ConfirmAppointment notes that the patient will come.
func (d *Desk) ConfirmAppointment(ctx context.Context, p domain.Principal, id string) (*domain.Appointment, error) {
	return d.amend(ctx, p, id, event.AppointmentConfirmed, func(_ *commit.Change, a *domain.Appointment) error {
		if a.Status == domain.AppointmentConfirmed {
			return nil
		}
		now := record.Now()
		a.ConfirmedAt = &now
		return enter(a, domain.AppointmentConfirmed)
	})
}

// CancelAppointment gives its time back.
func (d *Desk) CancelAppointment(ctx context.Context, p domain.Principal, id, reason string) (*domain.Appointment, error) {
	now, err := d.Appointment(ctx, p, id)
	if err != nil {
		return nil, err
	}
	end, err := d.booking.Lock(ctx, now.ProviderID)
	if err != nil {
		return nil, err
	}
	defer end()
	return d.amend(ctx, p, id, event.AppointmentCancelled, func(c *commit.Change, a *domain.Appointment) error {
		if a.Status == domain.AppointmentCancelled {
			return nil
		}
		if err := enter(a, domain.AppointmentCancelled); err != nil {
			return err
		}
		now := record.Now()
		a.CancelledAt, a.CancelReason = &now, reason
		booking.Unremind(a)
		return d.release(ctx, c, a)
	})
}

// RescheduleAppointment moves an appointment, also to another provider. Nobody
// has confirmed the new time.
func (d *Desk) RescheduleAppointment(ctx context.Context, p domain.Principal, id string, to ask.Reschedule) (*domain.Appointment, error) {
	now, err := d.Appointment(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if to.Provider == "" {
		to.Provider = now.ProviderID
	}
	x, err := d.providerNamed(ctx, p, to.Provider)
	if err != nil {
		return nil, err
	}
	end, err := d.booking.Lock(ctx, x.ID)
	if err != nil {
		return nil, err
	}
	defer end()
	return d.amend(ctx, p, id, event.AppointmentRescheduled, func(c *commit.Change, a *domain.Appointment) error {
		if !a.Status.Open() {
			return domain.Errorf(domain.CodeInvalidState, "an appointment that is %s cannot be moved", a.Status).
				With("current_status", a.Status).With("allowed_from", []domain.AppointmentStatus{domain.AppointmentBooked, domain.AppointmentConfirmed})
		}
		var version uint64
		if x, version, err = record.Get[domain.Provider](ctx, d.store, p, domain.PrefixProvider, x.ID); err != nil {
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
		if err = d.release(ctx, c, &before); err != nil {
			return err
		}
		a.Moves++
		a.Status, a.ConfirmedAt = domain.AppointmentBooked, nil
		d.schedule(a, x, booking.Orders(a))
		return d.occupy(ctx, c, x, a)
	})
}

// DeleteAppointment removes an appointment; one that lies ahead is cancelled by
// it. The events that told of it stay as long as the workspace does.
func (d *Desk) DeleteAppointment(ctx context.Context, p domain.Principal, id string) error {
	a, err := d.Appointment(ctx, p, id)
	if err != nil {
		return err
	}
	if a.Status.Open() {
		if a, err = d.CancelAppointment(ctx, p, id, "deleted"); err != nil {
			return err
		}
	}
	return record.Delete(ctx, d.store, p, domain.PrefixAppoint, a.ID, func(c *commit.Change, a *domain.Appointment) error {
		if a.Status.Open() {
			return domain.Errorf(domain.CodeInvalidState, "the appointment was changed meanwhile; try again").With("current_status", a.Status)
		}
		if err := d.release(ctx, c, a); err != nil {
			return err
		}
		dropEmpty(c)
		return nil
	})
}
