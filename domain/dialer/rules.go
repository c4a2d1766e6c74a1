package dialer

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// ContactTransition is the state of a contact after an attempt.
type ContactTransition struct {
	State   domain.ContactState
	RetryAt time.Time // if State is ContactRetryWait
}

// TransitionAfter returns the state of a contact whose attempt ended at now. spent counts the contact's attempts,
// including this one if it counts. An attempt that does not count returns the contact to its earlier state.
func TransitionAfter(v domain.Verdict, spent int, r domain.Retry, now time.Time) ContactTransition {
	switch {
	case !v.SpendsAttempt() && spent == 0:
		return ContactTransition{State: domain.ContactPending}
	case !v.SpendsAttempt():
		return ContactTransition{State: domain.ContactRetryWait, RetryAt: now}
	case r.Enabled && v.RetryOn != "" && spent < r.MaxAttempts && slices.Contains(r.RetryOn, v.RetryOn):
		return ContactTransition{State: domain.ContactRetryWait, RetryAt: now.Add(time.Duration(r.IntervalHours * float64(time.Hour)))}
	}
	return ContactTransition{State: domain.ContactStateOf(v.Outcome)}
}

// Limits of the circuit breaker that pauses a campaign with a failing trunk.
const (
	breakerWindow   = 120 * time.Second
	breakerMinCalls = 5
)

// CircuitBreaker records how the calls of the last two minutes ended.
type CircuitBreaker struct {
	ends     []callEnd // in order of time
	failures int       // trunk failures in ends
}

type callEnd struct {
	at     time.Time
	failed bool
}

// AddCall adds the end of a call. Ends that say nothing about the trunk are ignored: busy, no answer, invalid
// number, throttled by the carrier, interrupted, cancelled, or failed by the agent's engines.
func (t *CircuitBreaker) AddCall(v domain.Verdict, now time.Time) {
	if v.Throttled {
		return
	}
	switch v.Reason {
	case domain.ReasonInterrupted, domain.ReasonBusy, domain.ReasonNoAnswer, domain.ReasonInvalidNumber,
		domain.ReasonThrottled, domain.ReasonNotSent, domain.ReasonCancelled, domain.ReasonAgentUnavailable:
		return
	case domain.ReasonTrunkError:
		t.ends = append(t.ends, callEnd{now, true})
		t.failures++
	case domain.ReasonCompleted, domain.ReasonRemoteHangup, domain.ReasonHangup, domain.ReasonMaxDuration,
		domain.ReasonMediaLost, domain.ReasonTrunkRejected, domain.ReasonRejected, domain.ReasonBlocked,
		domain.ReasonMediaRefused, domain.ReasonIdentity, domain.ReasonRedirected, domain.ReasonInternal,
		domain.ReasonConcurrency, domain.ReasonNumberUnknown, domain.ReasonProtocol, domain.ReasonRemoved, domain.ReasonTransferred,
		domain.ReasonSpendCap:
		t.ends = append(t.ends, callEnd{now, false})
	default: // sip_<code>: the carrier answered
		t.ends = append(t.ends, callEnd{now, false})
	}
}

// IsTripped reports whether at least half of at least five calls within 120 s failed by the trunk.
func (t *CircuitBreaker) IsTripped(now time.Time) bool {
	for len(t.ends) > 0 && now.Sub(t.ends[0].at) > breakerWindow {
		if t.ends[0].failed {
			t.failures--
		}
		t.ends = t.ends[1:]
	}
	return len(t.ends) >= breakerMinCalls && 2*t.failures >= len(t.ends)
}

// Reset forgets all calls: after a pause the trunk starts anew.
func (t *CircuitBreaker) Reset() { t.ends, t.failures = nil, 0 }

// Intervals of the event campaign.progress.
const (
	progressInterval = time.Minute
	progressStep     = 5 // percent
)

// CheckProgressReport returns whether campaign.progress is due: after each 5 %, and each minute if something has
// changed. nextCheck is when it will be due without further changes; zero: never.
func CheckProgressReport(p *domain.Progress, changed bool, now time.Time) (due bool, nextCheck time.Time) {
	if int(p.Percent())/progressStep > p.ReportedPercent/progressStep {
		return true, time.Time{}
	}
	if !changed {
		return false, time.Time{}
	}
	at := p.ReportedAt.Add(progressInterval)
	return !now.Before(at), at
}
