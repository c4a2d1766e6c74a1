// Package calendar says whether a telephone may ring at a moment, and if not,
// when next: the schedule of a campaign with its days and excluded dates, the
// calling hours, and the zone of a number. It knows no clock: it is told the
// time.
package calendar

import (
	"time"

	"github.com/callboard/callboard/domain"
)

const (
	day = 24 * 60 * 60 // seconds
	// horizon is how far ahead Next looks: longer than a year, so that every
	// yearly pattern of days and clock changes has shown itself.
	horizon = 400 * 24 * time.Hour
)

// Rules are the parsed calendar of a campaign.
type Rules struct {
	schedule Window
	from, to int // calling hours in seconds of the day; equal: no restriction
	local    bool
	zone     *time.Location // of the calling hours, unless local
}

// New parses a campaign's calendar. Empty calling hours restrict nothing.
func New(s domain.Schedule, h domain.CallingHours, z *Zones) (Rules, error) {
	var p domain.Problems
	r := parseRules(s, h, z, &p)
	return r, p.Err()
}

// HasLocalHours says whether the calling hours depend on the zone of each contact.
func (r Rules) HasLocalHours() bool { return r.local && r.from != r.to }

// ScheduleWindow is the schedule alone, without calling hours.
func (r Rules) ScheduleWindow() Window { return r.schedule }

// WithClock are the same rules by another clock: what is asked and answered is the
// time of ours.
func (r Rules) WithClock(c domain.Clock) Rules {
	r.schedule.clock = c
	return r
}

// GlobalWindow is what holds for every contact: the schedule, and the calling hours
// where they are those of one zone.
func (r Rules) GlobalWindow() Window {
	w := r.schedule
	if !r.local && r.from != r.to {
		w.hours = []dailyHours{{from: r.from, to: r.to, zone: r.zone}}
	}
	return w
}

// WindowForZones is what holds for a contact that may be in any of the zones: all of them
// must allow. A contact without a zone is never called by local hours.
func (r Rules) WindowForZones(zones []*time.Location) Window {
	w := r.GlobalWindow()
	if !r.HasLocalHours() {
		return w
	}
	if len(zones) == 0 {
		w.neverOpen = true
	}
	for _, z := range zones {
		w.hours = append(w.hours, dailyHours{from: r.from, to: r.to, zone: z})
	}
	return w
}

// Window says when it may ring. The zero Window always allows.
type Window struct {
	start, end    time.Time // zero: open
	zone          *time.Location
	days          [7]bool // by time.Weekday
	restrictsDays bool    // days restricts
	excluded      map[date]bool
	hours         []dailyHours // all must allow
	neverOpen     bool
	clock         domain.Clock
}

type date struct {
	year  int
	month time.Month
	day   int
}

type dailyHours struct {
	from, to int // seconds of the day, to is exclusive; over midnight if to < from
	zone     *time.Location
}

// Allows says whether it may ring at t.
func (w Window) Allows(t time.Time) bool { return w.isOpen(w.clock.CampaignTime(t)) }

func (w Window) isOpen(t time.Time) bool {
	if w.neverOpen || t.Before(w.start) || !w.end.IsZero() && !t.Before(w.end) || !w.allowsDay(t) {
		return false
	}
	for _, h := range w.hours {
		if !h.allows(t) {
			return false
		}
	}
	return true
}

// NextOpen is the first moment from t on at which it may ring; false where there
// is none within the next 400 days.
func (w Window) NextOpen(t time.Time) (time.Time, bool) {
	next, ok := w.nextOpen(w.clock.CampaignTime(t))
	if !ok {
		return time.Time{}, false
	}
	if next = w.clock.RealTime(next); next.Before(t) { // between two ticks of ours
		next = t
	}
	return next, true
}

func (w Window) nextOpen(t time.Time) (time.Time, bool) {
	if w.neverOpen {
		return time.Time{}, false
	}
	if t.Before(w.start) {
		t = w.start
	}
	for last := t.Add(horizon); t.Before(last); {
		if !w.end.IsZero() && !t.Before(w.end) {
			return time.Time{}, false
		}
		at := t
		if !w.allowsDay(at) {
			at = nextClockTime(at, w.zone, 0, w.allowsDay)
		}
		for _, h := range w.hours {
			if !h.allows(at) {
				at = nextClockTime(at, h.zone, h.from, h.allows)
			}
		}
		if at.Equal(t) {
			return t, true
		}
		t = at
	}
	return time.Time{}, false
}

// NextClose is the first moment from t on at which it may not ring; false where
// there is none within the next 400 days.
func (w Window) NextClose(t time.Time) (time.Time, bool) {
	closes, ok := w.nextClose(w.clock.CampaignTime(t))
	if !ok {
		return time.Time{}, false
	}
	if closes = w.clock.RealTime(closes); closes.Before(t) { // between two ticks of ours
		closes = t
	}
	return closes, true
}

func (w Window) nextClose(t time.Time) (time.Time, bool) {
	for last := t.Add(horizon); t.Before(last); {
		if !w.isOpen(t) {
			return t, true
		}
		soon := last
		if !w.end.IsZero() && w.end.Before(soon) {
			soon = w.end
		}
		if w.zone != nil && (w.restrictsDays || len(w.excluded) > 0) {
			soon = earlier(soon, nextClockTime(t, w.zone, 0, func(at time.Time) bool { return !w.allowsDay(at) }))
		}
		for _, h := range w.hours {
			soon = earlier(soon, nextClockTime(t, h.zone, h.to, func(at time.Time) bool { return !h.allows(at) }))
		}
		t = soon
	}
	return time.Time{}, false
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// HasEnded says whether the end of the schedule has passed.
func (w Window) HasEnded(t time.Time) bool {
	return !w.end.IsZero() && !w.clock.CampaignTime(t).Before(w.end)
}

func (w Window) allowsDay(t time.Time) bool {
	if w.zone == nil {
		return true
	}
	t = t.In(w.zone)
	if w.restrictsDays && !w.days[t.Weekday()] {
		return false
	}
	if len(w.excluded) == 0 {
		return true
	}
	y, m, d := t.Date()
	return !w.excluded[date{y, m, d}]
}

func (h dailyHours) allows(t time.Time) bool {
	hour, minute, second := t.In(h.zone).Clock()
	s := hour*3600 + minute*60 + second
	if h.from < h.to {
		return s >= h.from && s < h.to
	}
	return s >= h.from || s < h.to
}

// nextClockTime is the first moment after t at which a clock in the zone shows the
// second of the day, or at which the clock is changed into a moment that
// allow takes: 02:30 may not exist, and 03:00 then follows 01:59.
func nextClockTime(t time.Time, zone *time.Location, second int, allow func(time.Time) bool) time.Time {
	for range 4 {
		in := t.In(zone)
		_, offset := in.Zone()
		now := int((in.Unix()+int64(offset))%day+day) % day
		wait := time.Duration((second-now+day-1)%day+1) * time.Second
		next := t.Truncate(time.Second).Add(wait)
		_, change := in.ZoneBounds()
		if change.IsZero() || next.Before(change) {
			return next
		}
		if allow(change) {
			return change
		}
		t = change
	}
	return t
}
