// Package calendar decides whether a number may be called at a time and, if not, when next. It combines the schedule of
// a campaign, calling hours and the time zones of phone numbers. Callers pass the time.
package calendar

import (
	"time"

	"github.com/callboard/callboard/domain"
)

const (
	day = 24 * 60 * 60 // seconds
	// horizon limits how far NextOpen searches. It is longer than a year, so that all yearly patterns are covered.
	horizon = 400 * 24 * time.Hour
)

// Rules holds the parsed schedule and calling hours of a campaign.
type Rules struct {
	schedule Window
	from, to int // calling hours in seconds of the day; equal: no restriction
	local    bool
	zone     *time.Location // zone of the calling hours, unless local
}

// New parses the schedule and the calling hours of a campaign. Empty calling hours mean no restriction.
func New(s domain.Schedule, h domain.CallingHours, z *Zones) (Rules, error) {
	var p domain.Problems
	r := parseRules(s, h, z, &p)
	return r, p.Err()
}

// HasLocalHours reports whether the calling hours apply in the time zone of each contact.
func (r Rules) HasLocalHours() bool { return r.local && r.from != r.to }

// ScheduleWindow returns the times that the schedule allows, without the restriction of calling hours.
func (r Rules) ScheduleWindow() Window { return r.schedule }

// WithClock returns the rules for a campaign whose clock runs faster than real time. Arguments and results of their
// methods remain real times.
func (r Rules) WithClock(c domain.Clock) Rules {
	r.schedule.clock = c
	return r
}

// GlobalWindow returns the times that are allowed for all contacts: those of the schedule and of calling hours in a fixed
// zone. It ignores calling hours that apply in the zone of each contact.
func (r Rules) GlobalWindow() Window {
	w := r.schedule
	if !r.local && r.from != r.to {
		w.hours = []dailyHours{{from: r.from, to: r.to, zone: r.zone}}
	}
	return w
}

// WindowForZones returns the times that are allowed for a contact who may be in any of the zones. Calling hours in the
// contact's zone must then allow the time in all zones. Without a zone such hours never allow a call.
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

// Window is a set of times at which calls are allowed. The zero Window allows all times.
type Window struct {
	start, end    time.Time // zero: unlimited
	zone          *time.Location
	days          [7]bool // by time.Weekday
	restrictsDays bool    // days is set
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

// Allows reports whether calls are allowed at t.
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

// NextOpen returns the first time from t on at which calls are allowed. ok is false if there is none within 400
// days.
func (w Window) NextOpen(t time.Time) (time.Time, bool) {
	next, ok := w.nextOpen(w.clock.CampaignTime(t))
	if !ok {
		return time.Time{}, false
	}
	if next = w.clock.RealTime(next); next.Before(t) { // rounding of the accelerated clock
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

// NextClose returns the first time from t on at which calls are not allowed. ok is false if there is none within
// 400 days.
func (w Window) NextClose(t time.Time) (time.Time, bool) {
	closes, ok := w.nextClose(w.clock.CampaignTime(t))
	if !ok {
		return time.Time{}, false
	}
	if closes = w.clock.RealTime(closes); closes.Before(t) { // rounding of the accelerated clock
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

// HasEnded reports whether the end of the schedule is at or before t.
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

// nextClockTime returns the first time after t at which the clock in a zone shows second, in seconds of the day. If a
// change of the clocks comes first and allow accepts its time, it returns that time, because the clock may skip second.
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
