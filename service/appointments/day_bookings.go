package appointments

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
)

// Reasons in the error slot_unavailable.
const (
	slotBooked = "booked" // another appointment has the time
	slotClosed = "closed" // the time is outside the provider's hours
)

// maxSuggestions is the number of free times that the error slot_unavailable suggests.
const maxSuggestions = 3

// addBooking adds the booking of an appointment to a commit. Errors: slot_unavailable.
func (s *Service) addBooking(ctx context.Context, c *commit.Change, x *domain.Provider, a *domain.Appointment) error {
	hours, err := booking.ParseHours(x)
	if err != nil {
		return err
	}
	span := booking.Span{Start: a.Datetime, End: a.EndsAt}
	if !hours.IsOpen(span) {
		return s.slotUnavailable(ctx, x, &hours, span, slotClosed)
	}
	for _, name := range booking.UTCDays(span) {
		day, version, err := s.bookingDay(ctx, c, x.WorkspaceID, x.ID, name)
		if err != nil {
			return err
		}
		if !booking.IsFree(day.Booked, span, a.ID) {
			return s.slotUnavailable(ctx, x, &hours, span, slotBooked)
		}
		day.Booked = append(slices.DeleteFunc(day.Booked, func(b domain.Booked) bool { return b.AppointmentID == a.ID }),
			domain.Booked{Start: span.Start, End: span.End, AppointmentID: a.ID})
		slices.SortFunc(day.Booked, func(a, b domain.Booked) int { return a.Start.Compare(b.Start) })
		putDay(c, day, version)
	}
	return nil
}

// removeBooking adds the removal of an appointment's booking to a commit.
func (s *Service) removeBooking(ctx context.Context, c *commit.Change, a *domain.Appointment) error {
	for _, name := range booking.UTCDays(booking.Span{Start: a.Datetime, End: a.EndsAt}) {
		day, version, err := s.bookingDay(ctx, c, a.WorkspaceID, a.ProviderID, name)
		if err != nil {
			return err
		}
		n := len(day.Booked)
		day.Booked = slices.DeleteFunc(day.Booked, func(b domain.Booked) bool { return b.AppointmentID == a.ID })
		if len(day.Booked) < n {
			putDay(c, day, version)
		}
	}
	return nil
}

// bookingDay returns the bookings of a provider on one day. If the commit c already changes that day, it returns the
// changed bookings.
func (s *Service) bookingDay(ctx context.Context, c *commit.Change, workspaceID, providerID, name string) (*domain.BookingDay, uint64, error) {
	day := &domain.BookingDay{WorkspaceID: workspaceID, ProviderID: providerID, Day: name}
	for _, r := range c.Puts {
		if known, ok := r.(*domain.BookingDay); ok && known.Key() == day.Key() {
			return known, 0, nil
		}
	}
	version, err := s.store.Get(ctx, day)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, 0, commit.StoreError(err)
	}
	return day, version, nil
}

// putDay adds the bookings of a day and a guard for them to a commit, unless the commit has them already.
func putDay(c *commit.Change, day *domain.BookingDay, version uint64) {
	if slices.ContainsFunc(c.Guards, func(g commit.Guard) bool { return g.Key == day.Key() }) {
		return // the commit contains the day already
	}
	c.Guards = append(c.Guards, commit.Guard{Key: day.Key(), Version: version})
	c.Puts = append(c.Puts, day)
}

// FreeTime adds the release of an appointment's time slot to a commit.
func (s *Service) FreeTime(ctx context.Context, c *commit.Change, a *domain.Appointment) error {
	if err := s.removeBooking(ctx, c, a); err != nil {
		return err
	}
	deleteEmptyDays(c)
	return nil
}

// deleteEmptyDays deletes the rows of days without bookings instead of writing them. It must run after all other
// changes of a commit.
func deleteEmptyDays(c *commit.Change) {
	c.Puts = slices.DeleteFunc(c.Puts, func(r domain.Record) bool {
		day, ok := r.(*domain.BookingDay)
		if ok = ok && len(day.Booked) == 0; ok {
			c.Deletes = append(c.Deletes, day.Key())
		}
		return ok
	})
}

// slotUnavailable returns the error slot_unavailable with a reason and the provider's next free times.
func (s *Service) slotUnavailable(ctx context.Context, x *domain.Provider, h *booking.Hours, span booking.Span, reason string) error {
	text := "the provider has another appointment at this time"
	if reason == slotClosed {
		text = "the time is outside the provider's hours"
	}
	e := &domain.Error{Code: domain.CodeSlotUnavailable, Param: "datetime", Message: text}
	next := []string{}
	to := withinLimit(span.Start.Add(defaultRange), time.Now())
	if days, err := s.bookedDays(ctx, x, booking.Span{Start: span.Start, End: to.AddDate(0, 0, 1)}); err == nil {
		var booked []domain.Booked
		for _, day := range days {
			booked = append(booked, day.Booked...)
		}
		free, _ := h.FindSlots(span.Start, to, span.End.Sub(span.Start), booked, maxSuggestions)
		for _, f := range free {
			next = append(next, f.Start.UTC().Format(domain.TimeFormat))
		}
	}
	return e.With("reason", reason).With("next_available", next)
}
