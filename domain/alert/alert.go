// Package alert decides when an alert fires and when it is resolved, and formats notifications. Callers pass the time
// and the measurements.
package alert

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Reading is the measurement of an alert rule for one subject, such as a trunk or a workspace.
type Reading struct {
	WorkspaceID string // workspace of the subject; empty: all workspaces together
	Subject     string // ID of the trunk, endpoint or workspace, or AllWorkspaces
	Name        string // name of the subject
	Known       bool   // false: there is not enough data for a decision
	Bad         bool
	Value       float64
	Bound       float64
	Count       int
}

// AllWorkspaces is the subject of a rule that combines all workspaces.
const AllWorkspaces = "all"

// ResolveAfter is how long the condition of a firing alert must be absent before the alert is resolved. StaleAfter is how
// long its measurements may be missing before it is resolved. Both prevent repeated notifications.
const (
	ResolveAfter = 5 * time.Minute
	StaleAfter   = time.Hour
)

// Notification is the notification that must be sent after a reading, if any.
type Notification uint8

// The kinds of notifications.
const (
	NoNotification Notification = iota
	NotifyFiring
	NotifyResolved
)

// ApplyReading returns the state of an alert after a reading, and the notification to send. before is the previous state,
// or nil without an alert, and is not modified. after is nil if there is no alert. If the clock is set back, the alert
// does not change until the time is reached again.
func ApplyReading(r *domain.AlertRule, before *domain.Alert, in Reading, now time.Time) (after *domain.Alert, notification Notification) {
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

// firingDelay returns how long the condition must hold before the alert fires.
func firingDelay(r *domain.AlertRule) time.Duration {
	if r.Kind == domain.AlertTrunkDown {
		return time.Duration(r.Minutes) * time.Minute
	}
	return 0
}

// resolveDelay returns how long the condition must be absent before the alert is resolved. Spend alerts and
// disabled endpoints do not fluctuate and need no delay.
func resolveDelay(r *domain.AlertRule) time.Duration {
	if r.Kind == domain.AlertSpend || r.Kind == domain.AlertEndpointDisabled {
		return 0
	}
	return ResolveAfter
}

// HasChangedState reports whether the status of an alert has changed, or whether its condition has begun or ceased to be
// absent. A changed measurement alone does not count.
func HasChangedState(before, after *domain.Alert) bool {
	if before == nil || after == nil {
		return before != after
	}
	return before.Status != after.Status || (before.WellSince == nil) != (after.WellSince == nil)
}

// AnswerRateReading returns the reading of a rule about the share of answered calls. With too few attempts the reading is
// not known.
func AnswerRateReading(r *domain.AlertRule, of, subject, name string, attempts, answered int) Reading {
	in := Reading{WorkspaceID: of, Subject: subject, Name: name, Bound: r.Below, Count: attempts, Known: attempts > 0 && attempts >= r.MinCalls}
	if attempts > 0 {
		in.Value = float64(answered) / float64(attempts)
	}
	in.Bad = in.Known && in.Value < r.Below
	return in
}

// SpendReading returns the reading of a rule about the used share of a spend cap. most is the cap. 0 means no cap.
func SpendReading(r *domain.AlertRule, of, subject, name string, spent, most domain.Amount) Reading {
	in := Reading{WorkspaceID: of, Subject: subject, Name: name, Bound: r.Share, Known: true}
	if most > 0 {
		in.Value = float64(spent) / float64(most)
		in.Bad = in.Value >= r.Share
	}
	return in
}

// MailRetryDelay returns how long to wait before the next attempt to send an alert mail. tries is the number of failed
// attempts.
func MailRetryDelay(tries int) time.Duration {
	waits := []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}
	if tries >= 1 && tries <= len(waits) {
		return waits[tries-1]
	}
	return time.Hour
}
