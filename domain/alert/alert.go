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
	WorkspaceID string // which workspace it is about; "": all together
	Subject     string // id of the trunk, endpoint or workspace; All
	Name        string // of the subject, as somebody has named it
	Known       bool   // false: too little is known to say whether it is bad
	Bad         bool
	Value       float64
	Bound       float64
	Count       int
}

// All is the subject of a rule that takes all workspaces together.
const AllWorkspaces = "all"

// How long it must be well again until that is told, and how long nothing may be
// known until an alert is taken back: what comes and goes is told once.
const (
	ResolveAfter = 5 * time.Minute
	StaleAfter   = time.Hour
)

// Notification is what somebody is to be told.
type Notification uint8

// What somebody may be told.
const (
	NoNotification Notification = iota
	NotifyFiring
	NotifyResolved
)

// ApplyReading is what becomes of an alert by a reading; nil: there is none. What is
// given is not changed. now must not be from another clock than that of the
// alert; one that was set back lets it wait.
func ApplyReading(r *domain.AlertRule, before *domain.Alert, in Reading, now time.Time) (after *domain.Alert, told Notification) {
	if before == nil {
		if !in.Known || !in.Bad {
			return nil, NoNotification
		}
		before = &domain.Alert{RuleID: r.ID, Kind: r.Kind, OfWorkspaceID: in.WorkspaceID, Subject: in.Subject, Status: domain.AlertPending, Since: now}
	}
	a := *before
	a.RuleName, a.Name = r.Name, in.Name
	if in.Known {
		a.Value, a.Bound, a.Count = in.Value, in.Bound, in.Count
	}
	if a.Status == domain.AlertPending {
		return applyToPending(r, &a, in, now)
	}
	return applyToFiring(r, &a, in, now)
}

func applyToPending(r *domain.AlertRule, a *domain.Alert, in Reading, now time.Time) (*domain.Alert, Notification) {
	switch {
	case !in.Known:
		return a, NoNotification
	case !in.Bad:
		return nil, NoNotification
	case now.Sub(a.Since) < firingDelay(r):
		return a, NoNotification
	}
	a.Status, a.FiredAt = domain.AlertFiring, &now
	return a, NotifyFiring
}

func applyToFiring(r *domain.AlertRule, a *domain.Alert, in Reading, now time.Time) (*domain.Alert, Notification) {
	if in.Known && in.Bad {
		a.WellSince = nil
		return a, NoNotification
	}
	if a.WellSince == nil {
		a.WellSince = &now
	}
	wait := resolveDelay(r)
	if !in.Known {
		wait = StaleAfter
	}
	if now.Sub(*a.WellSince) < wait {
		return a, NoNotification
	}
	return a, NotifyResolved
}

// firingDelay is how long it must be so before somebody is told.
func firingDelay(r *domain.AlertRule) time.Duration {
	if r.Kind == domain.AlertTrunkDown {
		return time.Duration(r.Minutes) * time.Minute
	}
	return 0
}

// resolveDelay is how long it must be well. What somebody has to do by hand, and what
// changes with the day, does not come and go.
func resolveDelay(r *domain.AlertRule) time.Duration {
	if r.Kind == domain.AlertSpend || r.Kind == domain.AlertEndpointDisabled {
		return 0
	}
	return ResolveAfter
}

// HasChangedState says whether an alert has come further than it was: values alone move
// nothing.
func HasChangedState(before, after *domain.Alert) bool {
	if before == nil || after == nil {
		return before != after
	}
	return before.Status != after.Status || (before.WellSince == nil) != (after.WellSince == nil)
}

// AnswerRateReading reads how many of some calls were answered.
func AnswerRateReading(r *domain.AlertRule, of, subject, name string, attempts, answered int) Reading {
	in := Reading{WorkspaceID: of, Subject: subject, Name: name, Bound: r.Below, Count: attempts, Known: attempts > 0 && attempts >= r.MinCalls}
	if attempts > 0 {
		in.Value = float64(answered) / float64(attempts)
	}
	in.Bad = in.Known && in.Value < r.Below
	return in
}

// SpendReading reads how much of a cap is used up; a cap of 0 is none, and never used up.
func SpendReading(r *domain.AlertRule, of, subject, name string, spent, most domain.Amount) Reading {
	in := Reading{WorkspaceID: of, Subject: subject, Name: name, Bound: r.Share, Known: true}
	if most > 0 {
		in.Value = float64(spent) / float64(most)
		in.Bad = in.Value >= r.Share
	}
	return in
}

// MailRetryDelay is how long to wait after so many tries of a mail.
func MailRetryDelay(tries int) time.Duration {
	waits := []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}
	if tries >= 1 && tries <= len(waits) {
		return waits[tries-1]
	}
	return time.Hour
}
