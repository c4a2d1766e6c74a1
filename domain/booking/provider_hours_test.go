package booking_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
)

func zoned(t require.TestingT, name string) *time.Location {
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func provider(zone string, spans ...domain.OpenSpan) *domain.Provider {
	x := &domain.Provider{Name: "x", Timezone: zone, Hours: map[string][]domain.OpenSpan{}}
	for _, d := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		x.Hours[d] = spans
	}
	booking.SetProviderDefaults(x)
	return x
}

// For any zone, hours and bookings, a time must be open exactly if the local clock shows a time within the hours. Each
// slot must be open and free for its whole length, and no two slots may start at the same time.
func TestSlotsLieWithinLocalHours(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata", "Africa/Casablanca"}
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, 1380).Draw(t, "from")
		to := rapid.IntRange(from+15, 1440).Draw(t, "to")
		clock := func(m int) string { return time.Unix(int64(m)*60, 0).UTC().Format("15:04") }
		end := clock(to)
		if to == 1440 {
			end = "24:00"
		}
		x := provider(rapid.SampledFrom(zones).Draw(t, "zone"), domain.OpenSpan{Start: clock(from), End: end})
		x.SlotMinutes = rapid.SampledFrom([]int{5, 20, 30, 45}).Draw(t, "slot")
		h, err := booking.ParseHours(x)
		require.NoError(t, err)
		begin := time.Date(2026, time.Month(rapid.IntRange(1, 12).Draw(t, "month")), rapid.IntRange(1, 28).Draw(t, "day"), rapid.IntRange(0, 23).Draw(t, "hour"), 0, 0, 0, time.UTC)
		length := time.Duration(rapid.SampledFrom([]int{5, 30, 60}).Draw(t, "length")) * time.Minute
		taken := booking.Span{Start: begin.Add(3 * time.Hour), End: begin.Add(5 * time.Hour)}
		booked := []domain.Booked{{Start: taken.Start, End: taken.End, AppointmentID: "a"}}
		within := func(at time.Time) bool {
			hour, minute, _ := at.In(h.Zone()).Clock()
			m := hour*60 + minute
			return m >= from && m < to
		}
		slots, _ := h.FindSlots(begin, begin.Add(48*time.Hour), length, booked, 1000)
		for i, s := range slots {
			if s.End.Sub(s.Start) != length || s.Start.Before(begin) || !h.IsOpen(s) || s.Start.Before(taken.End) && taken.Start.Before(s.End) || i > 0 && !s.Start.After(slots[i-1].Start) {
				t.Fatalf("slot %d: %v", i, s)
			}
			for at := s.Start; at.Before(s.End); at = at.Add(time.Minute) {
				if !within(at) {
					t.Fatalf("%s is not within the hours", at.In(h.Zone()))
				}
			}
		}
		for range 20 {
			at := begin.Add(time.Duration(rapid.IntRange(0, 2880).Draw(t, "minute")) * time.Minute)
			if h.IsOpen(booking.Span{Start: at, End: at.Add(time.Minute)}) != within(at) {
				t.Fatalf("%s: open is %t", at.In(h.Zone()), !within(at))
			}
		}
	})
}

func TestHoursFollowClockChanges(t *testing.T) {
	t.Parallel()
	h, err := booking.ParseHours(provider("Europe/Berlin", domain.OpenSpan{Start: "01:00", End: "04:00"}))
	require.NoError(t, err)
	for day, want := range map[string]int{"2026-03-29": 4, "2026-10-25": 8, "2026-06-01": 6} { // number of half hours
		from, err := booking.ParseRangeBound(day, h.Zone())
		require.NoError(t, err)
		slots, more := h.FindSlots(from, from.Add(20*time.Hour), 30*time.Minute, nil, 100)
		assert.Len(t, slots, want, day)
		assert.False(t, more)
	}
}

func TestTimeWithoutOffsetIsInProviderZone(t *testing.T) {
	t.Parallel()
	berlin := zoned(t, "Europe/Berlin")
	for text, want := range map[string]string{
		"2026-04-01T09:30": "2026-04-01T07:30:00Z", "2026-01-01 09:30": "2026-01-01T08:30:00Z", "2026-04-01T09:30:00-04:00": "2026-04-01T13:30:00Z",
		"2026-03-29T02:30": "does not exist", "2026-10-25T02:30": "comes twice", "2026-10-25T02:30:00+01:00": "2026-10-25T01:30:00Z",
		"2026-04-01T09:30:30": "on the minute", "tomorrow": "must be a time", "": "must be a time", "2026-04-31T09:00": "must be a time",
	} {
		at, err := booking.ParseLocalTime(text, berlin)
		if strings.HasSuffix(want, "Z") {
			require.NoError(t, err, text)
			assert.Equal(t, want, at.Format(time.RFC3339), text)
			continue
		}
		require.ErrorContains(t, err, want, text)
	}
}

func TestInvalidHours(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*domain.Provider)
		param  string
	}{
		"zone":     {func(x *domain.Provider) { x.Timezone = "Mars" }, "timezone"},
		"slot":     {func(x *domain.Provider) { x.SlotMinutes = 1 }, "slot_minutes"},
		"day":      {func(x *domain.Provider) { x.Hours["noday"] = nil }, "hours"},
		"backward": {func(x *domain.Provider) { x.Hours["monday"] = []domain.OpenSpan{{Start: "17:00", End: "09:00"}} }, "hours.monday"},
		"overlap": {func(x *domain.Provider) {
			x.Hours["monday"] = []domain.OpenSpan{{Start: "09:00", End: "12:00"}, {Start: "11:00", End: "13:00"}}
		}, "hours.monday"},
		"clock": {func(x *domain.Provider) { x.Hours["monday"] = []domain.OpenSpan{{Start: "9", End: "12:00"}} }, "hours.monday"},
		"date":  {func(x *domain.Provider) { x.ExcludedDates = []string{"soon"} }, "excluded_dates"},
	} {
		x := provider("UTC", domain.OpenSpan{Start: "09:00", End: "17:00"})
		c.change(x)
		var p domain.Problems
		booking.ValidateProvider(x, &p)
		require.Len(t, p, 1, name)
		assert.Equal(t, c.param, p[0].Param)
	}
}

func TestCalendarFileFoldsAndEscapesLines(t *testing.T) {
	t.Parallel()
	a := &domain.Appointment{Provider: "Dr. Ángel, MD", Type: "check; up", Notes: strings.Repeat("ä", 60) + "\nline", Status: domain.AppointmentCancelled, Moves: 2, Sequence: 3}
	a.ID, a.Datetime = "appt_1", time.Date(2026, 4, 1, 9, 30, 0, 0, time.UTC)
	a.EndsAt = a.Datetime.Add(time.Hour)
	text := booking.FormatICS(a, a.Datetime)
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\r\n"), "\r\n") {
		assert.LessOrEqual(t, len(line), 75)
		assert.NotContains(t, line, "\n")
	}
	whole := strings.ReplaceAll(text, "\r\n ", "")
	for _, want := range []string{"SUMMARY:check\\; up: Dr. Ángel\\, MD\r\n", "DTSTART:20260401T093000Z\r\n", "STATUS:CANCELLED\r\n", "SEQUENCE:3\r\n", "ää\\nline\r\n"} {
		assert.Contains(t, whole, want)
	}
}
