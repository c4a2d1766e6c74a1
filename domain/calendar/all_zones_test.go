package calendar_test

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// quarter is the time resolution of the comparison in seconds. All zone offsets and all tested hours are multiples of it.
const quarter = 15 * 60

// pattern describes calling hours and a schedule as plain numbers, for a calculation that is independent of package
// calendar.
type pattern struct {
	name       string
	from, to   int64 // quarters of the day
	days       string
	excluded   []string
	start, end string
	also       []string // further zones that must allow the call
	elsewhere  bool     // days count in another zone than the hours

	closed       map[int64]bool // days since 1970; below 7: weekdays
	first, after int64
}

// ready precomputes the fields that allows needs.
func (p pattern) ready() pattern {
	p.closed, p.first, p.after = make(map[int64]bool), 0, 1<<62
	for i, name := range []string{"thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"} {
		if p.days != "" && !strings.Contains(p.days, name) {
			p.closed[int64(i)] = true
		}
	}
	for _, text := range p.excluded {
		p.closed[unix(text+"T00:00:00Z")/86400] = true
	}
	if p.start != "" {
		p.first, p.after = unix(p.start), unix(p.end)
	}
	return p
}

func patterns() []pattern {
	return []pattern{
		{name: "the default", from: 8 * 4, to: 21 * 4},
		{name: "office hours", from: 9 * 4, to: 17*4 + 2, days: "monday tuesday wednesday thursday friday", excluded: []string{"2026-12-25", "2027-01-01"}},
		{name: "over midnight", from: 22*4 + 1, to: 6*4 + 2, days: "friday saturday"},
		{name: "within a gap of most zones", from: 2*4 + 1, to: 3 * 4},
		{name: "at the edge of gaps at midnight", from: 0, to: 1 * 4, days: "sunday saturday", elsewhere: true},
		{name: "to the end of the day", from: 18 * 4, to: 24 * 4, excluded: []string{"2026-03-29", "2026-10-25", "2027-03-14"}},
		{name: "the whole day", from: 0, to: 24 * 4, days: "sunday monday"},
		{name: "three zones at once", from: 8 * 4, to: 21 * 4, also: []string{"Europe/London", "Africa/Casablanca"}},
		{name: "begins and ends", from: 1 * 4, to: 2*4 + 2, start: "2026-04-01T00:45:00Z", end: "2027-11-01T06:15:00Z"},
	}
}

// allows calculates independently of package calendar whether calls are allowed at a Unix time. It uses only zone offsets
// and divisions.
func (p pattern) allows(at int64, dayZone *time.Location, zones []*time.Location) bool {
	local := at + offset(at, dayZone)
	day := floor(local, 86400)
	if p.closed[day] || p.closed[((day%7)+7)%7] || at < p.first || at >= p.after {
		return false
	}
	for _, z := range zones {
		local := at + offset(at, z)
		q := (local - 86400*floor(local, 86400)) / quarter
		for q < p.from { // a window over midnight continues on the next day
			q += 96
		}
		length := p.to - p.from
		if length <= 0 {
			length += 96
		}
		if q-p.from >= length {
			return false
		}
	}
	return true
}

func offset(at int64, z *time.Location) int64 {
	_, off := time.Unix(at, 0).In(z).Zone()
	return int64(off)
}

func floor(x, by int64) int64 {
	if x < 0 {
		return -((-x + by - 1) / by)
	}
	return x / by
}

func unix(text string) int64 {
	t, _ := time.Parse(time.RFC3339, text)
	return t.Unix()
}

func clockOf(q int64) string { return fmt.Sprintf("%02d:%02d", q/4, q%4*15) }

func (p pattern) rules(t *testing.T, dayZone string, cache *calendar.Zones) calendar.Rules {
	t.Helper()
	s := domain.Schedule{Timezone: dayZone, Days: strings.Fields(p.days), ExcludedDates: p.excluded}
	for _, edge := range []struct {
		text string
		into **time.Time
	}{{p.start, &s.Start}, {p.end, &s.End}} {
		if edge.text != "" {
			v := parseTime(t, edge.text)
			*edge.into = &v
		}
	}
	r, err := calendar.New(s, domain.CallingHours{Start: clockOf(p.from), End: clockOf(p.to), Timezone: "local"}, cache)
	require.NoError(t, err)
	return r
}

// compareHours compares a calling window with the independent calculation at every hour between from and to. At some hours it
// also compares a time a few seconds or minutes later. It returns the number of comparisons.
func compareHours(t *testing.T, p pattern, w calendar.Window, name string, dayZone *time.Location, zones []*time.Location, from, to, ahead int64) int {
	t.Helper()
	n := int((ahead - from) / quarter)
	allowed := make([]bool, n)
	next := make([]int64, n+1) // first allowed quarter from here on; 0: after the period
	for i := n - 1; i >= 0; i-- {
		at := from + int64(i)*quarter
		allowed[i], next[i] = p.allows(at, dayZone, zones), next[i+1]
		if allowed[i] {
			next[i] = at
		}
	}
	checked := 0
	for at := from; at < to; at += 3600 {
		for _, seconds := range []int64{0, 1 + (at/3600)%897}[:1+(at/3600)%3%2] {
			i := int((at - from) / quarter)
			now := time.Unix(at+seconds, 0)
			want := next[i]
			if allowed[i] {
				want = at + seconds
			}
			if got := w.Allows(now); got != allowed[i] {
				t.Fatalf("%s, %s: Allows(%s) = %v", name, p.name, now.UTC(), got)
			}
			got, ok := w.NextOpen(now)
			switch {
			case want != 0 && (!ok || got.Unix() != want || got.Nanosecond() != 0):
				t.Fatalf("%s, %s: Next(%s) = %s, %v; it opens at %s", name, p.name, now.UTC(), got.UTC(), ok, time.Unix(want, 0).UTC())
			case want == 0 && ok && got.Unix() < ahead:
				t.Fatalf("%s, %s: Next(%s) = %s; nothing opens before %s", name, p.name, now.UTC(), got.UTC(), time.Unix(ahead, 0).UTC())
			}
			checked++
		}
	}
	return checked
}

// everyZone returns the names in the time-zone database of the toolchain.
func everyZone(t *testing.T) []string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	z, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	require.NoError(t, err)
	defer func() { _ = z.Close() }()
	var names []string
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	require.Greater(t, len(names), 400)
	return names
}

// Calling windows must equal an independent calculation in every time zone. With NIGHTLY the test compares every hour of
// two years. Otherwise it compares three days around each change of the clocks and some other days.
func TestEveryZoneOpensAsReferenceCalculation(t *testing.T) {
	t.Parallel()
	const begin, years = 1767225600, 2 * 365 * 86400 // from 2026-01-01
	const day, ahead = 86400, 4 * 86400
	whole := os.Getenv("NIGHTLY") != ""
	names := everyZone(t)
	cache := calendar.NewZones()
	checked, changes := 0, 0
	for i, name := range names {
		zone := cache.Load(name)
		require.NotNil(t, zone, name)
		for k, p := range patterns() {
			p = p.ready()
			dayName := name
			if p.elsewhere {
				dayName = names[(i*7+k)%len(names)]
			}
			zones := []*time.Location{zone}
			for _, also := range p.also {
				zones = append(zones, cache.Load(also))
			}
			w := p.rules(t, dayName, cache).WindowForZones(zones)
			look := func(from, to int64) {
				checked += compareHours(t, p, w, name, cache.Load(dayName), zones, from, to, to+ahead)
			}
			if whole {
				for from := int64(begin); from < begin+years; from += 73 * day {
					look(from, from+73*day)
				}
				continue
			}
			for at := time.Unix(begin, 0).In(zone); k == i%len(patterns()); {
				_, change := at.ZoneBounds()
				if change.IsZero() || change.Unix() >= begin+years {
					break
				}
				at = change
				changes++
				from := change.Unix() - change.Unix()%3600 - 36*3600
				look(from, from+72*3600)
			}
			if (i+k)%4 == 0 {
				from := begin + int64((i*131+k*977)%729)*day
				look(from, from+6*3600)
			}
		}
	}
	if !whole {
		require.Greater(t, changes, 500, "the clocks of about two hundred zones are changed four times")
	}
	t.Logf("%d moments in %d zones agree", checked, len(names))
}

func TestZonesDoNotDependOnMachine(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "github.com/callboard/callboard/cmd/callboard").Output()
	require.NoError(t, err)
	require.True(t, slices.Contains(strings.Split(string(out), "\n"), "time/tzdata"), "the binary must carry the time-zone database")
}
