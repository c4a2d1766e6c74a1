// Package alert decides when an operator is told that something is wrong, and
// that it is well again. It knows no clock, no store and no mail server: it is
// told what was read, and it answers.
package alert

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Reading is what one look found at one subject of a rule.
type Reading struct {
	Of      string // which workspace it is about; "": all together
	Subject string // id of the trunk, endpoint or workspace; All
	Name    string // of the subject, as somebody has named it
	Known   bool   // false: too little is known to say whether it is bad
	Bad     bool
	Value   float64
	Bound   float64
	Count   int
}

// All is the subject of a rule that takes all workspaces together.
const All = "all"

// How long it must be well again until that is told, and how long nothing may be
// known until an alert is taken back: what comes and goes is told once.
const (
	Rest  = 5 * time.Minute
	Stale = time.Hour
)

// Told is what somebody is to be told.
type Told uint8

// What somebody may be told.
const (
	Nothing Told = iota
	Firing
	Resolved
)

// Next is what becomes of an alert by a reading; nil: there is none. What is
// given is not changed. now must not be from another clock than that of the
// alert; one that was set back lets it wait.
func Next(r *domain.AlertRule, before *domain.Alert, in Reading, now time.Time) (after *domain.Alert, told Told) {
	if before == nil {
		if !in.Known || !in.Bad {
			return nil, Nothing
		}
		before = &domain.Alert{RuleID: r.ID, Kind: r.Kind, Of: in.Of, Subject: in.Subject, Status: domain.AlertPending, Since: now}
	}
	a := *before
	a.RuleName, a.Name = r.Name, in.Name
	if in.Known {
		a.Value, a.Bound, a.Count = in.Value, in.Bound, in.Count
	}
	if a.Status == domain.AlertPending {
		return pending(r, &a, in, now)
	}
	return firing(r, &a, in, now)
}

func pending(r *domain.AlertRule, a *domain.Alert, in Reading, now time.Time) (*domain.Alert, Told) {
	switch {
	case !in.Known:
		return a, Nothing
	case !in.Bad:
		return nil, Nothing
	case now.Sub(a.Since) < hold(r):
		return a, Nothing
	}
	a.Status, a.FiredAt = domain.AlertFiring, &now
	return a, Firing
}

func firing(r *domain.AlertRule, a *domain.Alert, in Reading, now time.Time) (*domain.Alert, Told) {
	if in.Known && in.Bad {
		a.WellSince = nil
		return a, Nothing
	}
	if a.WellSince == nil {
		a.WellSince = &now
	}
	wait := rest(r)
	if !in.Known {
		wait = Stale
	}
	if now.Sub(*a.WellSince) < wait {
		return a, Nothing
	}
	return a, Resolved
}

// hold is how long it must be so before somebody is told.
func hold(r *domain.AlertRule) time.Duration {
	if r.Kind == domain.AlertTrunkDown {
		return time.Duration(r.Minutes) * time.Minute
	}
	return 0
}

// rest is how long it must be well. What somebody has to do by hand, and what
// changes with the day, does not come and go.
func rest(r *domain.AlertRule) time.Duration {
	if r.Kind == domain.AlertSpend || r.Kind == domain.AlertEndpointDisabled {
		return 0
	}
	return Rest
}

// Moved says whether an alert has come further than it was: values alone move
// nothing.
func Moved(before, after *domain.Alert) bool {
	if before == nil || after == nil {
		return before != after
	}
	return before.Status != after.Status || (before.WellSince == nil) != (after.WellSince == nil)
}

// AnswerRate reads how many of some calls were answered.
func AnswerRate(r *domain.AlertRule, of, subject, name string, attempts, answered int) Reading {
	in := Reading{Of: of, Subject: subject, Name: name, Bound: r.Below, Count: attempts, Known: attempts > 0 && attempts >= r.MinCalls}
	if attempts > 0 {
		in.Value = float64(answered) / float64(attempts)
	}
	in.Bad = in.Known && in.Value < r.Below
	return in
}

// Spend reads how much of a cap is used up; a cap of 0 is none, and never used up.
func Spend(r *domain.AlertRule, of, subject, name string, spent, most domain.Amount) Reading {
	in := Reading{Of: of, Subject: subject, Name: name, Bound: r.Share, Known: true}
	if most > 0 {
		in.Value = float64(spent) / float64(most)
		in.Bad = in.Value >= r.Share
	}
	return in
}

// Again is how long to wait after so many tries of a mail.
func Again(tries int) time.Duration {
	waits := []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}
	if tries >= 1 && tries <= len(waits) {
		return waits[tries-1]
	}
	return time.Hour
}
