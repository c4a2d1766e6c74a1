// Package dialer decides when a campaign may start calls and when to decide again.
//
// Its functions depend only on their arguments: they use no clock, network or actor.
package dialer

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// Action is the result of a decision: the step that the campaign takes now.
type Action uint8

// The actions of a campaign.
const (
	Wait              Action = iota // start no call until NextCheck or the next change of the CampaignView
	Dial                            // prepare up to Count attempts
	StartRunning                    // the schedule has started: change to running
	CompleteExhausted               // no contact is left: complete the campaign
	CompleteExpired                 // the schedule has ended: complete the campaign
)

// The values of domain.Waiting.Reason: why a campaign starts no calls.
const (
	ReasonCallingHours = "calling_hours"
	ReasonSchedule     = "schedule"
	ReasonLine         = "line"
	ReasonPacing       = "pacing"
	ReasonTrunk        = "trunk"
	ReasonSpendCap     = "spend_cap"     // the workspace's daily_spend_cap is spent or reserved
	ReasonEngine       = "engine"        // speech engines or the language model fail
	ReasonFrequencyCap = "frequency_cap" // all remaining contacts have reached their daily limit
	ReasonRetry        = "retry"         // all remaining contacts wait for a retry
	ReasonNoContacts   = "no_contacts"
	ReasonStore        = "store"
	ReasonDialStop     = "dialling_stopped" // an operator stopped all dialing
	ReasonDraining     = "draining"         // an operator drains the node
	// ReasonQuarantine means that the store was restored from a backup, and that no operator has allowed calls since.
	ReasonQuarantine = "quarantine"
)

// CampaignView is the state of a campaign on which a decision is based. Its size does not depend on the number of contacts.
type CampaignView struct {
	Status                     domain.CampaignStatus
	ScheduleStart, ScheduleEnd time.Time       // zero: no limit
	Schedule, OpenHours        calendar.Window // Schedule alone; OpenHours also includes calling hours if all contacts share them
	Pacing                     domain.Pacing
	AutoComplete               bool
	HasRun                     bool // the campaign has been running before

	LastSent         time.Time     // time of the latest INVITE
	Lookahead        time.Duration // how long before its INVITE an attempt may be prepared
	OpenAttempts     int           // attempts open in the store
	UnsentAttempts   int           // of OpenAttempts, those without an INVITE so far
	AbandonedDialogs int           // dialogs of an ended process that may still be live; they count for MaxConcurrent only
	PendingAttempts  int           // attempts being prepared
	PermitRequests   int           // of PendingAttempts, those that wait for a permit

	Remaining     int       // contacts that are neither final nor in a call
	ReadyContacts int       // contacts in memory that may be called now
	DueRetries    int       // of ReadyContacts, those whose retry is due
	HasUnread     bool      // the store has contacts that were not read and may be ready
	NextRetry     time.Time // earliest retry that is not due yet
	NextDay       time.Time // when the first contact at its daily limit may be called again
	NextOpening   time.Time // when the calling hours start in the first time zone with waiting contacts

	TrunkUntil   time.Time // trunks grant no slot before this time
	SpendCap     bool      // the daily_spend_cap is the reason for TrunkUntil
	EngineUntil  time.Time // the engines failed: no call before this time
	EngineFailed bool      // the last call failed by its engines: one call at a time until one succeeds
	StoreDown    bool
	Draining     bool
	DialStop     string // ReasonDialStop, ReasonDraining or ReasonQuarantine while an operator forbids calls; else ""
}

// Decision is the action that the campaign takes now. If the campaign waits, Waiting is the reason. NextCheck is the
// time of the next decision if the View does not change. If it is zero, only a change requires a new decision.
type Decision struct {
	Action     Action
	Count      int
	HasRetries bool // the attempts include due retries, which come first
	Waiting    *domain.Waiting
	NextCheck  time.Time
}

// IsReady reports whether contacts can be called now, or are delayed only by concurrent call limits, pacing, trunks,
// speech engines or the spend cap.
func (d Decision) IsReady() bool {
	if d.Action == Dial {
		return true
	}
	if d.Waiting == nil {
		return false
	}
	switch d.Waiting.Reason {
	case ReasonLine, ReasonPacing, ReasonTrunk, ReasonSpendCap, ReasonEngine:
		return true
	}
	return false
}

// Interval returns the minimum time between two INVITEs, or 0 if the pace is unlimited. The additional 250 ms per
// minute keep the campaign within calls_per_minute even if some INVITEs are sent late.
func Interval(p domain.Pacing) time.Duration {
	if p.CallsPerMinute <= 0 {
		return 0
	}
	const minute = time.Minute + 250*time.Millisecond
	n := time.Duration(p.CallsPerMinute)
	return (minute + n - 1) / n
}

// Next returns the decision of a campaign in the state v at the time now.
func Next(v CampaignView, now time.Time) Decision {
	switch v.Status {
	case domain.CampaignScheduled:
		return decideScheduled(v, now)
	case domain.CampaignRunning:
		return decideRunning(v, now)
	case domain.CampaignPaused:
		return decidePaused(v, now)
	case domain.CampaignDraft, domain.CampaignCompleted, domain.CampaignCancelled:
		return Decision{}
	}
	return Decision{}
}

// decidePaused decides for a paused campaign, which starts no call. The campaign completes when its schedule ends, or
// when its last call ends and no contact is left.
func decidePaused(v CampaignView, now time.Time) Decision {
	switch {
	case v.StoreDown || v.OpenAttempts+v.PendingAttempts > 0:
		return Decision{}
	case isPast(v.ScheduleEnd, now):
		return Decision{Action: CompleteExpired}
	case v.HasRun && v.AutoComplete && v.Remaining <= 0:
		return Decision{Action: CompleteExhausted}
	}
	return Decision{NextCheck: v.ScheduleEnd}
}

func decideScheduled(v CampaignView, now time.Time) Decision {
	switch {
	case v.StoreDown:
		return waitFor(ReasonStore, time.Time{})
	case isPast(v.ScheduleEnd, now):
		return Decision{Action: CompleteExpired}
	case v.Draining:
		return waitFor(ReasonSchedule, v.ScheduleStart)
	case !v.ScheduleStart.After(now):
		return Decision{Action: StartRunning}
	}
	return waitFor(ReasonSchedule, v.ScheduleStart)
}

func decideRunning(v CampaignView, now time.Time) Decision {
	busy := v.OpenAttempts + v.PendingAttempts
	switch {
	case v.StoreDown:
		return waitFor(ReasonStore, time.Time{})
	case isPast(v.ScheduleEnd, now):
		if busy > 0 {
			return waitFor(ReasonSchedule, time.Time{})
		}
		return Decision{Action: CompleteExpired}
	case v.Remaining <= 0 && busy == 0:
		if v.AutoComplete {
			return Decision{Action: CompleteExhausted}
		}
		return limitNextCheck(waitFor(ReasonNoContacts, time.Time{}), v.ScheduleEnd)
	case v.Draining:
		return Decision{}
	case v.DialStop != "":
		return limitNextCheck(waitFor(v.DialStop, time.Time{}), v.ScheduleEnd)
	case !v.OpenHours.Allows(now):
		return limitNextCheck(waitForOpening(v, now), v.ScheduleEnd)
	case v.TrunkUntil.After(now):
		reason := ReasonTrunk
		if v.SpendCap {
			reason = ReasonSpendCap
		}
		return limitNextCheck(waitFor(reason, v.TrunkUntil), v.ScheduleEnd)
	case v.EngineUntil.After(now):
		return limitNextCheck(waitFor(ReasonEngine, v.EngineUntil), v.ScheduleEnd)
	case v.EngineFailed && busy > 0:
		return limitNextCheck(waitFor(ReasonEngine, time.Time{}), v.ScheduleEnd)
	}
	return limitNextCheck(decideDial(v, now), v.ScheduleEnd)
}

// waitForOpening returns a Decision to wait until the schedule and the calling hours allow calls. The reason is the
// schedule if it forbids calls now, and otherwise the calling hours.
func waitForOpening(v CampaignView, now time.Time) Decision {
	reason := ReasonCallingHours
	if !v.Schedule.Allows(now) {
		reason = ReasonSchedule
	}
	opens, _ := v.OpenHours.NextOpen(now)
	return waitFor(reason, opens)
}

func decideDial(v CampaignView, now time.Time) Decision {
	room := v.ReadyContacts - v.PermitRequests
	if room <= 0 {
		return waitForContacts(v)
	}
	if v.Pacing.MaxConcurrent > 0 {
		room = min(room, v.Pacing.MaxConcurrent-v.OpenAttempts-v.AbandonedDialogs-v.PendingAttempts)
		if room <= 0 {
			return waitFor(ReasonLine, time.Time{})
		}
	}
	if v.EngineFailed {
		room = 1
	}
	interval := Interval(v.Pacing)
	if interval == 0 {
		return Decision{Action: Dial, Count: room, HasRetries: v.DueRetries > 0}
	}
	due := v.LastSent.Add(interval) // due time of the first attempt in preparation, or of the next one
	late := due.Before(now)
	if late {
		due = now
	}
	due = due.Add(interval * time.Duration(v.PendingAttempts+v.UnsentAttempts))
	early := now.Add(v.Lookahead).Sub(due)
	if early < 0 {
		d := waitFor(ReasonPacing, due)
		d.NextCheck = due.Add(-v.Lookahead)
		if late { // an attempt in preparation has to be sent first; time alone changes nothing
			d.NextCheck = time.Time{}
		}
		return d
	}
	return Decision{Action: Dial, Count: min(room, int(early/interval)+1), HasRetries: v.DueRetries > 0}
}

// waitForContacts returns a Decision to wait when no contact can be called now. The wait ends at the earliest of the
// next retry, the next opening of calling hours and the next day of a contact at its daily limit.
func waitForContacts(v CampaignView) Decision {
	switch {
	case v.PermitRequests > 0:
		return waitFor(ReasonLine, time.Time{})
	case v.HasUnread:
		return Decision{}
	}
	d := waitFor(ReasonNoContacts, time.Time{})
	for _, next := range []struct {
		reason string
		at     time.Time
	}{{ReasonRetry, v.NextRetry}, {ReasonCallingHours, v.NextOpening}, {ReasonFrequencyCap, v.NextDay}} {
		if !next.at.IsZero() && (d.NextCheck.IsZero() || next.at.Before(d.NextCheck)) {
			d = waitFor(next.reason, next.at)
		}
	}
	return d
}

func isPast(end, now time.Time) bool { return !end.IsZero() && !now.Before(end) }

func waitFor(reason string, t time.Time) Decision {
	d := Decision{Waiting: &domain.Waiting{Reason: reason}, NextCheck: t}
	if !t.IsZero() {
		d.Waiting.Until = &t
	}
	return d
}

// limitNextCheck moves NextCheck of a waiting Decision forward to the end of the schedule if NextCheck is later or zero.
func limitNextCheck(d Decision, end time.Time) Decision {
	if d.Action == Wait && !end.IsZero() && (d.NextCheck.IsZero() || end.Before(d.NextCheck)) {
		d.NextCheck = end
	}
	return d
}
