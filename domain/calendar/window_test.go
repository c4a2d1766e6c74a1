package calendar_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return v
}

// isAllowedSlowly calculates independently whether a call is allowed at t, by comparing formatted dates and times.
func isAllowedSlowly(load func(string) *time.Location, s domain.Schedule, h domain.CallingHours, zones []string, t time.Time) bool {
	if s.Start != nil && t.Before(*s.Start) || s.End != nil && !t.Before(*s.End) {
		return false
	}
	name := s.Timezone
	if name == "" {
		name = "UTC"
	}
	local := t.In(load(name))
	if len(s.Days) > 0 && !slices.Contains(s.Days, strings.ToLower(local.Format("Monday"))) {
		return false
	}
	if slices.Contains(s.ExcludedDates, local.Format("2006-01-02")) {
		return false
	}
	if h.Start == "" {
		return true
	}
	if h.Timezone != "local" {
		zones = []string{h.Timezone}
	}
	for _, name := range zones {
		clock := t.In(load(name)).Format("15:04")
		if h.Start < h.End && (clock < h.Start || clock >= h.End) {
			return false
		}
		if h.Start > h.End && clock < h.Start && clock >= h.End {
			return false
		}
	}
	return len(zones) > 0
}

func TestWindowOpeningEqualsReferenceCalculation(t *testing.T) {
	t.Parallel()
	zones := []string{
		"UTC", "Europe/Berlin", "America/New_York", "America/Los_Angeles", "Asia/Kolkata", "Australia/Lord_Howe",
		"Pacific/Apia", "America/Havana", "Africa/Casablanca", "Pacific/Chatham", "America/St_Johns",
	}
	days := []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	clocks := []string{"00:00", "00:30", "01:59", "02:00", "02:30", "03:00", "08:00", "12:15", "17:00", "21:00", "23:59", "24:00"}
	// Clock changes of these zones are near these dates.
	dates := []string{
		"2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01", "2026-02-15", "2026-03-22",
		"2026-07-01", "2026-12-31", "2028-02-28",
	}
	cache := calendar.NewZones()
	rapid.Check(t, func(t *rapid.T) {
		base, _ := time.Parse(time.DateOnly, rapid.SampledFrom(dates).Draw(t, "date"))
		from := base.Add(time.Duration(rapid.IntRange(-36*60, 36*60).Draw(t, "minutes")) * time.Minute)
		s := domain.Schedule{
			Timezone:      rapid.SampledFrom(zones).Draw(t, "zone"),
			Days:          rapid.SliceOfNDistinct(rapid.SampledFrom(days), 0, 7, rapid.ID[string]).Draw(t, "days"),
			ExcludedDates: rapid.SliceOfN(rapid.SampledFrom(dates), 0, 3).Draw(t, "excluded"),
		}
		if rapid.Bool().Draw(t, "starts") {
			v := from.Add(time.Duration(rapid.IntRange(-600, 3000).Draw(t, "start")) * time.Minute)
			s.Start = &v
		}
		if rapid.Bool().Draw(t, "ends") {
			v := from.Add(time.Duration(rapid.IntRange(3001, 6000).Draw(t, "end")) * time.Minute)
			s.End = &v
		}
		h := domain.CallingHours{
			Start:    rapid.SampledFrom(clocks[:len(clocks)-1]).Draw(t, "open"),
			End:      rapid.SampledFrom(clocks).Draw(t, "close"),
			Timezone: rapid.SampledFrom(append([]string{"local"}, zones...)).Draw(t, "hours in"),
		}
		if h.Start == h.End {
			t.Skip("refused")
		}
		r, err := calendar.New(s, h, cache)
		require.NoError(t, err)
		var names []string
		var locations []*time.Location
		for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom(zones), 1, 3, rapid.ID[string]).Draw(t, "contact in") {
			names, locations = append(names, n), append(locations, cache.Load(n))
		}
		w := r.WindowForZones(locations)
		const look = 54 * 60
		want, found := time.Time{}, false
		shut, shuts := time.Time{}, false
		for i := range look {
			m := from.Add(time.Duration(i) * time.Minute)
			ok := isAllowedSlowly(cache.Load, s, h, names, m)
			if ok != w.Allows(m) {
				t.Fatalf("%s: Allows says %v", m, !ok)
			}
			if ok && !found {
				want, found = m, true
			}
			if !ok && !shuts {
				shut, shuts = m, true
			}
		}
		got, ok := w.NextOpen(from)
		switch {
		case found && (!ok || !got.Equal(want)):
			t.Fatalf("Next(%s) = %s, %v; the slow way finds %s", from, got, ok, want)
		case !found && ok && got.Before(from.Add(look*time.Minute)):
			t.Fatalf("Next(%s) = %s; the slow way finds nothing", from, got)
		case ok && !w.Allows(got):
			t.Fatalf("Next(%s) = %s is not allowed", from, got)
		}
		got, ok = w.NextClose(from)
		switch {
		case shuts && (!ok || !got.Equal(shut)):
			t.Fatalf("Closes(%s) = %s, %v; the slow way finds %s", from, got, ok, shut)
		case !shuts && ok && got.Before(from.Add(look*time.Minute)):
			t.Fatalf("Closes(%s) = %s; the slow way finds nothing", from, got)
		}
	})
}

func TestHoursOfDayExamples(t *testing.T) {
	t.Parallel()
	z := calendar.NewZones()
	berlin := domain.CallingHours{Start: "02:30", End: "03:00", Timezone: "Europe/Berlin"}
	r, err := calendar.New(domain.Schedule{}, berlin, z)
	require.NoError(t, err)
	next, ok := r.GlobalWindow().NextOpen(parseTime(t, "2026-03-28T12:00:00Z"))
	assert.True(t, ok)
	assert.Equal(t, parseTime(t, "2026-03-30T00:30:00Z"), next.UTC(), "02:30 does not exist on the 29th")

	night, err := calendar.New(domain.Schedule{}, domain.CallingHours{Start: "22:00", End: "06:00", Timezone: "UTC"}, z)
	require.NoError(t, err)
	w := night.GlobalWindow()
	assert.True(t, w.Allows(parseTime(t, "2026-01-01T05:59:59Z")))
	assert.False(t, w.Allows(parseTime(t, "2026-01-01T06:00:00Z")))
	next, _ = w.NextOpen(parseTime(t, "2026-01-01T06:00:00Z"))
	assert.Equal(t, parseTime(t, "2026-01-01T22:00:00Z"), next.UTC())

	evening, err := calendar.New(domain.Schedule{}, domain.CallingHours{Start: "18:00", End: "24:00", Timezone: "UTC"}, z)
	require.NoError(t, err)
	assert.True(t, evening.GlobalWindow().Allows(parseTime(t, "2026-01-01T23:59:59Z")))
	assert.False(t, evening.GlobalWindow().Allows(parseTime(t, "2026-01-02T00:00:00Z")))

	whole, err := calendar.New(domain.Schedule{}, domain.CallingHours{Start: "00:00", End: "24:00", Timezone: "local"}, z)
	require.NoError(t, err)
	assert.False(t, whole.HasLocalHours(), "the whole day is the same everywhere")
	assert.True(t, whole.WindowForZones(nil).Allows(parseTime(t, "2026-01-02T00:00:00Z")))
}

func TestContactWithoutZoneIsNotCalledByLocalHours(t *testing.T) {
	t.Parallel()
	r, err := calendar.New(domain.Schedule{}, domain.CallingHours{Start: "08:00", End: "21:00", Timezone: "local"}, calendar.NewZones())
	require.NoError(t, err)
	w := r.WindowForZones(nil)
	assert.False(t, w.Allows(parseTime(t, "2026-01-01T12:00:00Z")))
	_, ok := w.NextOpen(parseTime(t, "2026-01-01T12:00:00Z"))
	assert.False(t, ok)
}

func TestWindowThatNeverOpensIsReported(t *testing.T) {
	t.Parallel()
	z := calendar.NewZones()
	r, err := calendar.New(domain.Schedule{}, domain.CallingHours{Start: "08:00", End: "10:00", Timezone: "local"}, z)
	require.NoError(t, err)
	_, ok := r.WindowForZones([]*time.Location{z.Load("Asia/Tokyo"), z.Load("America/New_York")}).NextOpen(parseTime(t, "2026-01-01T12:00:00Z"))
	assert.False(t, ok)
}

func TestZoneOfNumber(t *testing.T) {
	t.Parallel()
	z := calendar.NewZones()
	want := map[string]string{
		"+12125551234":   "America/New_York",
		"+493012345678":  "Europe/Berlin",
		"+4915123456789": "Europe/Berlin",
		"+442071838750":  "Europe/London",
		"+447400123456":  "Europe/London",
		"+61491570156": "Australia/Adelaide Australia/Brisbane Australia/Darwin Australia/Eucla Australia/Lord_Howe " +
			"Australia/Perth Australia/Sydney",
		"+61291234567": "Australia/Lord_Howe Australia/Sydney", // the area code has both
		"+18005551234": "America/Adak America/Anchorage America/Chicago America/Denver America/Los_Angeles " +
			"America/New_York America/Phoenix Pacific/Honolulu",
		"+17875551234":   "America/Puerto_Rico",
		"+18124064001":   "America/Chicago America/New_York",   // exchange is not in the table
		"+18502064001":   "America/Chicago America/New_York",   // exchange in the Eastern part of the area
		"+19304324001":   "America/Chicago America/New_York",   // overlay area codes
		"+14589994001":   "America/Denver America/Los_Angeles", // overlay
		"+17784064001":   "America/Edmonton America/Vancouver", // overlay
		"+14744064001":   "America/Regina",                     // overlay
		"+12084064001":   "America/Boise America/Denver America/Los_Angeles",
		"+18074064001":   "America/Toronto America/Winnipeg",
		"+551131234567":  "America/Sao_Paulo",
		"+525512345678":  "America/Mexico_City",
		"+34612345678":   "Atlantic/Canary Europe/Madrid",
		"+870773111111":  "",
		"+8821612345678": "",
		"nonsense":       "",
	}
	got := make(map[string]string, len(want))
	for n := range want {
		got[n], _ = z.ContactZones(domain.Contact{Phone: n})
	}
	assert.Equal(t, want, got)
	key, zones := z.ContactZones(domain.Contact{Phone: "+12125551234", Timezone: "Asia/Tokyo"})
	assert.Equal(t, "Asia/Tokyo", key)
	assert.Len(t, zones, 1)
	key, zones = z.ContactZones(domain.Contact{Phone: "+12125551234", Timezone: "Mars/Olympus"})
	assert.Empty(t, key)
	assert.Empty(t, zones)
	again, _ := z.ContactZones(domain.Contact{Phone: "+18005551234"})
	assert.Equal(t, want["+18005551234"], again, "the tables are not changed by use")
}

func TestEveryZoneOfTablesExists(t *testing.T) {
	t.Parallel()
	z := calendar.NewZones()
	// The list has a mobile or service number of each country that shares its calling code with another country.
	for _, n := range []string{
		"+18005551234", "+79161234567", "+77011234567", "+61491570156", "+5212221234567", "+447911123456", "+447781123456",
		"+353850123456", "+262692123456", "+262639012345", "+358412345678", "+4740612345", "+393123456789", "+5511961234567",
		"+6281234567890", "+5939912345678", "+34612345678", "+351912345678", "+56221234567", "+64211234567",
	} {
		key, zones := z.ContactZones(domain.Contact{Phone: n})
		assert.NotEmpty(t, zones, "%s: %s", n, key)
	}
}

// problems returns all problems that calendar.New reports.
func problems(s domain.Schedule, h domain.CallingHours) []domain.Detail {
	_, err := calendar.New(s, h, calendar.NewZones())
	if e, is := errors.AsType[*domain.Error](err); is {
		return e.Details
	}
	return nil
}

func TestAllProblemsOfCalendarAreReported(t *testing.T) {
	t.Parallel()
	start, end := parseTime(t, "2026-02-01T00:00:00Z"), parseTime(t, "2026-01-01T00:00:00Z")
	p := problems(domain.Schedule{
		Start: &start, End: &end, Timezone: "Local", Days: []string{"Monday"}, ExcludedDates: []string{"2026-02-30"},
	}, domain.CallingHours{Start: "24:00", End: "9:00", Timezone: "CEST+1"})
	got := make([]string, 0, len(p))
	for _, d := range p {
		got = append(got, d.Param)
	}
	assert.Equal(t, []string{
		"schedule.end", "schedule.timezone", "schedule.days", "schedule.excluded_dates",
		"compliance.calling_hours.start", "compliance.calling_hours.end", "compliance.calling_hours.timezone",
	}, got)

	assert.Empty(t, problems(domain.Schedule{Timezone: "Europe/Berlin", Days: []string{"monday"}, ExcludedDates: []string{"2028-02-29"}},
		domain.CallingHours{Start: "08:00", End: "24:00", Timezone: "local"}))
	assert.Len(t, problems(domain.Schedule{}, domain.CallingHours{Start: "08:00", End: "08:00", Timezone: "UTC"}), 1)
}
