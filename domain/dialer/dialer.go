// Package dialer decides whom to ring now and when to look again. It knows
// no clock, no socket and no actor: it is told, and it answers.
package dialer

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// Action is what is to be done now.
type Action uint8

// The actions.
const (
	Wait    Action = iota // nothing until LookAt, or until something happens
	Dial                  // begin up to Count attempts
	Begin                 // the start of the schedule has come
	Exhaust               // nobody is left: complete
	Expire                // the end of the schedule has passed: complete
)

// The reasons of domain.Waiting.
const (
	ForHours     = "calling_hours"
	ForSchedule  = "schedule"
	ForLine      = "line"
	ForPacing    = "pacing"
	ForTrunk     = "trunk"
	ForSpendCap  = "spend_cap"     // the daily_spend_cap of the workspace is spent or reserved
	ForEngine    = "engine"        // agents cannot speak, hear or think
	ForFrequency = "frequency_cap" // all contacts that are left were rung often enough today
	ForRetry     = "retry"         // all contacts that are left wait to be tried again
	ForContacts  = "no_contacts"
	ForStore     = "store"
	ForDialling  = "dialling_stopped" // an operator has stopped all dialling
	ForDrain     = "draining"         // an operator has drained the node
	// ForQuarantine: the store was restored from a backup, and no operator has released it.
	ForQuarantine = "quarantine"
)

// View is all that the decision depends on. Its size does not depend on the
// number of contacts: those who wait for a zone to open stand in buckets.
type View struct {
	Status         domain.CampaignStatus
	Begins, Ends   time.Time       // of the schedule; zero: open
	Schedule, Open calendar.Window // the schedule alone; with the calling hours of one zone
	Pacing         domain.Pacing
	AutoComplete   bool
	Begun          bool // it has been running

	LastSent time.Time     // of the latest attempt
	Ahead    time.Duration // how far an attempt may be prepared before it is due
	Live     int           // attempts that are open in the store
	Queued   int           // of these, not sent yet
	Held     int           // dialogs of a process that ended which may still ring: they count for MaxConcurrent alone
	Making   int           // attempts on their way to be opened
	Asked    int           // of these, without a contact yet

	Idle        int       // contacts that are not final and not live, by the counters
	Ready       int       // contacts at hand that may be rung now
	Retries     int       // of these, due retries
	Unread      bool      // more may be ready once it has been read
	NextRetry   time.Time // the earliest retry that is not due
	NextDay     time.Time // when the first number may be rung again that was rung often enough today
	NextOpening time.Time // when the first zone opens in which contacts wait

	TrunkUntil  time.Time // the trunks grant no slot before then
	SpendCap    bool      // they refuse it because of the daily_spend_cap
	EngineUntil time.Time // agents were of no use: nobody is rung before then
	EngineOut   bool      // the last agent was of no use: one call at a time tries whether the next one is
	StoreDown   bool
	Draining    bool
	Stopped     string // ForDialling or ForDrain: nobody may be rung, until somebody says otherwise; ""
}

// Decision is what to do, why nothing rings if so, and when to look again if
// nothing happens before; zero: then only.
type Decision struct {
	Do      Action
	Count   int
	Retry   bool // due retries are among them: they come first
	Waiting *domain.Waiting
	LookAt  time.Time
}

// Able says whether somebody is at hand who may be rung, and only lines, pace,
// trunks or the spend cap hold it back.
func (d Decision) Able() bool {
	if d.Do == Dial {
		return true
	}
	if d.Waiting == nil {
		return false
	}
	switch d.Waiting.Reason {
	case ForLine, ForPacing, ForTrunk, ForSpendCap, ForEngine:
		return true
	}
	return false
}

// Interval is the least time between two attempts: no burst, and never more
// than the pace within any minute, not even where the wire is late by some
// milliseconds. Zero where there is no pace.
func Interval(p domain.Pacing) time.Duration {
	if p.CallsPerMinute <= 0 {
		return 0
	}
	const minute = time.Minute + 250*time.Millisecond
	n := time.Duration(p.CallsPerMinute)
	return (minute + n - 1) / n
}

// Next decides.
func Next(v View, now time.Time) Decision {
	switch v.Status {
	case domain.CampaignScheduled:
		return scheduled(v, now)
	case domain.CampaignRunning:
		return running(v, now)
	case domain.CampaignPaused:
		return paused(v, now)
	case domain.CampaignDraft, domain.CampaignCompleted, domain.CampaignCancelled:
		return Decision{}
	}
	return Decision{}
}

// paused rings nobody, but ends as if it ran: when its schedule does, and when
// its last calls have left nobody to ring.
func paused(v View, now time.Time) Decision {
	switch {
	case v.StoreDown || v.Live+v.Making > 0:
		return Decision{}
	case past(v.Ends, now):
		return Decision{Do: Expire}
	case v.Begun && v.AutoComplete && v.Idle <= 0:
		return Decision{Do: Exhaust}
	}
	return Decision{LookAt: v.Ends}
}

func scheduled(v View, now time.Time) Decision {
	switch {
	case v.StoreDown:
		return wait(ForStore, time.Time{})
	case past(v.Ends, now):
		return Decision{Do: Expire}
	case v.Draining:
		return wait(ForSchedule, v.Begins)
	case !v.Begins.After(now):
		return Decision{Do: Begin}
	}
	return wait(ForSchedule, v.Begins)
}

func running(v View, now time.Time) Decision {
	busy := v.Live + v.Making
	switch {
	case v.StoreDown:
		return wait(ForStore, time.Time{})
	case past(v.Ends, now):
		if busy > 0 {
			return wait(ForSchedule, time.Time{})
		}
		return Decision{Do: Expire}
	case v.Idle <= 0 && busy == 0:
		if v.AutoComplete {
			return Decision{Do: Exhaust}
		}
		return until(wait(ForContacts, time.Time{}), v.Ends)
	case v.Draining:
		return Decision{}
	case v.Stopped != "":
		return until(wait(v.Stopped, time.Time{}), v.Ends)
	case !v.Open.Allows(now):
		return until(closed(v, now), v.Ends)
	case v.TrunkUntil.After(now):
		reason := ForTrunk
		if v.SpendCap {
			reason = ForSpendCap
		}
		return until(wait(reason, v.TrunkUntil), v.Ends)
	case v.EngineUntil.After(now):
		return until(wait(ForEngine, v.EngineUntil), v.Ends)
	case v.EngineOut && busy > 0:
		return until(wait(ForEngine, time.Time{}), v.Ends)
	}
	return until(dial(v, now), v.Ends)
}

// closed tells whether schedule or calling hours forbid it now, and until when.
func closed(v View, now time.Time) Decision {
	reason := ForHours
	if !v.Schedule.Allows(now) {
		reason = ForSchedule
	}
	opens, _ := v.Open.Next(now)
	return wait(reason, opens)
}

func dial(v View, now time.Time) Decision {
	room := v.Ready - v.Asked
	if room <= 0 {
		return nobody(v)
	}
	if v.Pacing.MaxConcurrent > 0 {
		room = min(room, v.Pacing.MaxConcurrent-v.Live-v.Held-v.Making)
		if room <= 0 {
			return wait(ForLine, time.Time{})
		}
	}
	if v.EngineOut {
		room = 1
	}
	interval := Interval(v.Pacing)
	if interval == 0 {
		return Decision{Do: Dial, Count: room, Retry: v.Retries > 0}
	}
	due := v.LastSent.Add(interval) // of the first that is under way already, or of the next
	late := due.Before(now)
	if late {
		due = now
	}
	due = due.Add(interval * time.Duration(v.Making+v.Queued))
	early := now.Add(v.Ahead).Sub(due)
	if early < 0 {
		d := wait(ForPacing, due)
		d.LookAt = due.Add(-v.Ahead)
		if late { // time alone changes nothing: the one that is under way has to be sent
			d.LookAt = time.Time{}
		}
		return d
	}
	return Decision{Do: Dial, Count: min(room, int(early/interval)+1), Retry: v.Retries > 0}
}

// nobody is at hand: is somebody due later?
func nobody(v View) Decision {
	switch {
	case v.Asked > 0:
		return wait(ForLine, time.Time{})
	case v.Unread:
		return Decision{}
	}
	d := wait(ForContacts, time.Time{})
	for _, next := range []struct {
		reason string
		at     time.Time
	}{{ForRetry, v.NextRetry}, {ForHours, v.NextOpening}, {ForFrequency, v.NextDay}} {
		if !next.at.IsZero() && (d.LookAt.IsZero() || next.at.Before(d.LookAt)) {
			d = wait(next.reason, next.at)
		}
	}
	return d
}

func past(end, now time.Time) bool { return !end.IsZero() && !now.Before(end) }

func wait(reason string, t time.Time) Decision {
	d := Decision{Waiting: &domain.Waiting{Reason: reason}, LookAt: t}
	if !t.IsZero() {
		d.Waiting.Until = &t
	}
	return d
}

// until looks again at the end of the schedule at the latest.
func until(d Decision, end time.Time) Decision {
	if d.Do == Wait && !end.IsZero() && (d.LookAt.IsZero() || end.Before(d.LookAt)) {
		d.LookAt = end
	}
	return d
}
