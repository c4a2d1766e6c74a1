package appointments

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Limits of bookings and of requests for free times.
const (
	maxDaysAhead = 2 * 366 * 24 * time.Hour
	defaultRange = 7 * 24 * time.Hour
	maxRange     = 62 * 24 * time.Hour
)

// errEndOfRange stops the scan of booking days after the last day of the requested range.
var errEndOfRange = errors.New("appointments: end of the range")

// Availability returns the free times of a provider. Errors: validation_failed.
func (s *Service) Availability(ctx context.Context, p domain.Principal, q booking.AvailabilityQuery) (booking.Availability, error) {
	var none booking.Availability
	x, err := s.findProvider(ctx, p, q.Provider)
	if err != nil {
		return none, err
	}
	hours, err := booking.ParseHours(x)
	if err != nil {
		return none, err
	}
	zone := hours.Zone()
	if q.Timezone != "" {
		if zone, err = time.LoadLocation(q.Timezone); err != nil {
			return none, domain.FieldError("timezone", domain.CodeValidation, "must be a time zone like Europe/Berlin")
		}
	}
	now := time.Now().UTC()
	from, to, err := searchRange(q, zone, now)
	if err != nil {
		return none, err
	}
	minutes := q.Minutes
	if minutes == 0 {
		minutes = x.SlotMinutes
	}
	length := time.Duration(minutes) * time.Minute
	days, err := s.bookedDays(ctx, x, booking.Span{Start: from, End: to.Add(length)})
	if err != nil {
		return none, err
	}
	var booked []domain.Booked
	for _, day := range days {
		booked = append(booked, day.Booked...)
	}
	slots, more := hours.FindSlots(from, withinLimit(to, now), length, booked, q.Limit)
	out := booking.Availability{
		Object: "availability", ProviderID: x.ID, Provider: x.Name, Timezone: zone.String(), DurationMinutes: minutes, SlotMinutes: x.SlotMinutes,
		From: from, To: to, Slots: make([]booking.Slot, 0, len(slots)), HasMore: more,
	}
	for _, s := range slots {
		out.Slots = append(out.Slots, booking.Slot{Start: s.Start.UTC(), End: s.End.UTC(), LocalStart: s.Start.In(zone).Format(domain.LocalTimeFormat)})
	}
	return out, nil
}

// withinLimit limits the end of a range to maxDaysAhead from now.
func withinLimit(to, now time.Time) time.Time {
	if last := now.Add(maxDaysAhead); to.After(last) {
		return last
	}
	return to
}

// searchRange returns the requested time range, beginning not before now.
func searchRange(q booking.AvailabilityQuery, zone *time.Location, now time.Time) (from, to time.Time, err error) {
	var problems domain.Problems
	read := func(param, text string, fallback time.Time) time.Time {
		if text == "" {
			return fallback
		}
		t, err := booking.ParseRangeBound(text, zone)
		if err != nil {
			problems.Add(param, domain.CodeValidation, "%s", record.Message(err))
		}
		return t
	}
	from = read("from", q.From, now)
	begin := from
	if from.Before(now) {
		from = now.Truncate(time.Second).Add(time.Second)
	}
	to = read("to", q.To, begin.Add(defaultRange))
	switch {
	case len(problems) > 0:
	case !to.After(begin):
		problems.Add("to", domain.CodeValidation, "must be after from")
	case to.Sub(begin) > maxRange:
		problems.Add("to", domain.CodeValidation, "must be at most %d days after from", int(maxRange/(24*time.Hour)))
	}
	if to.Before(from) {
		to = from
	}
	return from, to, problems.Err()
}

// bookedDays returns a provider's bookings of all UTC days that overlap a time range.
func (s *Service) bookedDays(ctx context.Context, x *domain.Provider, span booking.Span) ([]*domain.BookingDay, error) {
	var out []*domain.BookingDay
	last := span.End.UTC().Format(time.DateOnly)
	prefix := domain.Key{Kind: "booking", Workspace: x.WorkspaceID, ID: x.ID + "/"}
	after := x.ID + "/" + span.Start.UTC().AddDate(0, 0, -1).Format(time.DateOnly) // start behind the previous day in UTC
	err := s.store.Under(ctx, prefix, after, int(maxRange/(24*time.Hour))+3, func() domain.Record { return &domain.BookingDay{} }, func(r domain.Record) error {
		day, ok := r.(*domain.BookingDay)
		if !ok || day.Day > last {
			return errEndOfRange
		}
		out = append(out, day)
		return nil
	})
	if err != nil && !errors.Is(err, errEndOfRange) {
		return nil, commit.StoreError(err)
	}
	return out, nil
}
