// Package booking finds free times of providers from their opening hours and booked times, and schedules reminders.
// Opening hours are local times, also across changes of the clocks. The package has no clock and no store.
package booking

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// Limits of providers and appointments.
const (
	MinMinutes   = 5
	MaxMinutes   = 720
	DefaultSlot  = 30
	maxSpans     = 10 // for each day
	maxExcluded  = 400
	minutesADay  = 24 * 60
	secondsADay  = 24 * 60 * 60
	defaultOpen  = "09:00"
	defaultClose = "17:00"
)

// Span is a period of time that includes Start and excludes End.
type Span struct{ Start, End time.Time }

func weekdays() []string {
	return []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
}

// SetProviderDefaults sets omitted fields of a provider: the zone UTC, slots of 30 minutes, and office hours from Monday
// to Friday.
func SetProviderDefaults(x *domain.Provider) {
	x.Timezone = cmp.Or(x.Timezone, "UTC")
	x.SlotMinutes = cmp.Or(x.SlotMinutes, DefaultSlot)
	if x.Hours == nil {
		x.Hours = make(map[string][]domain.OpenSpan)
		for _, d := range weekdays()[1:6] {
			x.Hours[d] = []domain.OpenSpan{{Start: defaultOpen, End: defaultClose}}
		}
	}
	if x.ExcludedDates == nil {
		x.ExcludedDates = []string{}
	}
	if x.Reminders == nil {
		x.Reminders = []domain.Reminder{}
	}
}

// Hours holds the parsed opening hours and excluded dates of a provider.
type Hours struct {
	zone   *time.Location
	open   [7][]secondsSpan // by time.Weekday
	closed map[string]bool
	slot   time.Duration
}

// secondsSpan is a span in seconds since midnight.
type secondsSpan struct{ from, to int64 }

// ParseHours parses the opening hours of a provider. The error lists all invalid fields.
func ParseHours(x *domain.Provider) (Hours, error) {
	var p domain.Problems
	h := parseHours(x, &p)
	return h, p.Err()
}

// ValidateProvider adds all problems with the opening hours of a provider to p.
func ValidateProvider(x *domain.Provider, p *domain.Problems) {
	parseHours(x, p)
	ValidateReminderHours(x.ReminderHours, p)
}

func parseHours(x *domain.Provider, p *domain.Problems) Hours {
	h := Hours{zone: calendar.NewZones().Load(x.Timezone), closed: make(map[string]bool), slot: time.Duration(x.SlotMinutes) * time.Minute}
	if h.zone == nil {
		p.Add("timezone", domain.CodeValidation, "must be a time zone like Europe/Berlin")
		h.zone = time.UTC
	}
	if x.SlotMinutes < MinMinutes || x.SlotMinutes > MaxMinutes {
		p.Add("slot_minutes", domain.CodeValidation, "must be between %d and %d", MinMinutes, MaxMinutes)
	}
	for name := range x.Hours {
		if !slices.Contains(weekdays(), name) {
			p.Add("hours", domain.CodeValidation, "must be keyed by lowercase names of weekdays, monday to sunday")
			break
		}
	}
	for day, name := range weekdays() {
		h.open[day] = parseDay("hours."+name, x.Hours[name], p)
	}
	if len(x.ExcludedDates) > maxExcluded {
		p.Add("excluded_dates", domain.CodeValidation, "has %d entries; %d at most", len(x.ExcludedDates), maxExcluded)
		return h
	}
	for _, d := range x.ExcludedDates {
		if _, err := time.Parse(time.DateOnly, d); err != nil {
			p.Add("excluded_dates", domain.CodeValidation, "must be dates YYYY-MM-DD")
			break
		}
		h.closed[d] = true
	}
	return h
}

func parseDay(param string, spans []domain.OpenSpan, p *domain.Problems) []secondsSpan {
	if len(spans) > maxSpans {
		p.Add(param, domain.CodeValidation, "has %d entries; %d at most", len(spans), maxSpans)
		return nil
	}
	out := make([]secondsSpan, 0, len(spans))
	for _, s := range spans {
		from, okFrom := parseMinutes(s.Start)
		to, okTo := parseMinutes(s.End)
		switch {
		case !okFrom || !okTo || from == minutesADay:
			p.Add(param, domain.CodeValidation, "must hold times HH:MM, the end up to 24:00")
			return nil
		case to <= from:
			p.Add(param, domain.CodeValidation, "must hold spans that end after they start; what runs over midnight takes two days")
			return nil
		}
		out = append(out, secondsSpan{int64(from) * 60, int64(to) * 60})
	}
	slices.SortFunc(out, func(a, b secondsSpan) int { return cmp.Compare(a.from, b.from) })
	for i := range out[:max(0, len(out)-1)] {
		if out[i+1].from < out[i].to {
			p.Add(param, domain.CodeValidation, "must hold spans that do not overlap")
			return nil
		}
	}
	return out
}

// parseMinutes parses HH:MM from 00:00 to 24:00 as minutes since midnight.
func parseMinutes(text string) (int, bool) {
	hh, mm, ok := strings.Cut(text, ":")
	h, errHour := strconv.ParseUint(hh, 10, 8)
	m, errMinute := strconv.ParseUint(mm, 10, 8)
	if !ok || len(hh) != 2 || len(mm) != 2 || errHour != nil || errMinute != nil || m > 59 || h*60+m > minutesADay {
		return 0, false
	}
	return int(h*60 + m), true
}

// Zone returns the time zone of the provider.
func (h Hours) Zone() *time.Location { return h.zone }

// openPiece is an opening span, or a part of one if a change of the clocks splits it. day and from identify the opening
// span to which the part belongs.
type openPiece struct {
	Span
	day  string
	from int64
}

// openPieces returns the parts of the opening hours between two times, in order. It splits them at changes of the clocks,
// so that each part has one UTC offset.
func (h Hours) openPieces(from, to time.Time) []openPiece {
	var out []openPiece
	for from.Before(to) {
		in := from.In(h.zone)
		_, offset := in.Zone()
		end := to
		if _, change := in.ZoneBounds(); !change.IsZero() && change.Before(to) {
			end = change
		}
		local := from.Unix() + int64(offset)
		for midnight := local - modulo(local, secondsADay); midnight < end.Unix()+int64(offset); midnight += secondsADay {
			day := time.Unix(midnight, 0).UTC()
			name := day.Format(time.DateOnly)
			if h.closed[name] {
				continue
			}
			for _, s := range h.open[day.Weekday()] {
				p := openPiece{Span{time.Unix(midnight+s.from-int64(offset), 0), time.Unix(midnight+s.to-int64(offset), 0)}, name, s.from}
				p.Start, p.End = latest(p.Start, from), earliest(p.End, end)
				if p.Start.Before(p.End) {
					out = append(out, p)
				}
			}
		}
		from = end
	}
	return out
}

func modulo(a, b int64) int64 { return (a%b + b) % b }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// IsOpen reports whether a whole span lies within opening hours.
func (h Hours) IsOpen(s Span) bool {
	at := s.Start
	for _, p := range h.openPieces(s.Start, s.End) {
		if !p.Start.Equal(at) {
			return false
		}
		at = p.End
	}
	return at.Equal(s.End) && s.Start.Before(s.End)
}

// FindSlots returns at most most free spans of a length that start within [from, to). Each lies within one opening
// span and overlaps no booked span. Slots start at multiples of the slot length from the start of the opening span. more
// reports whether further slots exist.
func (h Hours) FindSlots(from, to time.Time, length time.Duration, booked []domain.Booked, most int) (out []Span, more bool) {
	for _, p := range h.openSpans(from, to.Add(length)) {
		for at := p.Start; !at.Add(length).After(p.End) && at.Before(to); at = at.Add(h.slot) {
			s := Span{at, at.Add(length)}
			if at.Before(from) || !IsFree(booked, s, "") {
				continue
			}
			if len(out) == most {
				return out, true
			}
			out = append(out, s)
		}
	}
	return out, false
}

// openSpans returns the complete opening spans that overlap a range. Adjacent pieces of a span are joined.
func (h Hours) openSpans(from, to time.Time) []openPiece {
	var out []openPiece
	for _, p := range h.openPieces(from.Add(-2*24*time.Hour), to.Add(2*24*time.Hour)) {
		if last := len(out) - 1; last >= 0 && out[last].day == p.day && out[last].from == p.from && out[last].End.Equal(p.Start) {
			out[last].End = p.End
			continue
		}
		out = append(out, p)
	}
	return slices.DeleteFunc(out, func(p openPiece) bool { return !p.End.After(from) || !p.Start.Before(to) })
}

// IsFree reports whether a span overlaps no booked span. It ignores the booked span of the appointment but.
func IsFree(booked []domain.Booked, s Span, but string) bool {
	return !slices.ContainsFunc(booked, func(b domain.Booked) bool {
		return b.AppointmentID != but && b.Start.Before(s.End) && s.Start.Before(b.End)
	})
}

// UTCDays returns the UTC days that a span overlaps.
func UTCDays(s Span) []string {
	var out []string
	for at := s.Start.UTC().Truncate(24 * time.Hour); at.Before(s.End); at = at.Add(24 * time.Hour) {
		out = append(out, at.Format(time.DateOnly))
	}
	return out
}
