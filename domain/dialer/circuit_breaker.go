package dialer

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Limits of the circuit breaker, which pauses a campaign when calls over its trunks fail.
const (
	breakerWindow   = 120 * time.Second
	breakerMinCalls = 5
)

// CircuitBreaker records which calls of the last two minutes failed because of the trunk.
type CircuitBreaker struct {
	ends     []callEnd // ends of the last two minutes, in order of time
	failures int       // number of trunk failures in ends
}

type callEnd struct {
	at     time.Time
	failed bool
}

// AddCall adds the result of an ended call. It ignores results that say nothing about the trunk: busy, no answer,
// invalid number, throttled by the carrier, interrupted, cancelled, or failed by the agent's speech engines.
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

// IsTripped reports whether at least five calls ended within 120 s and at least half of them failed in the trunk.
func (t *CircuitBreaker) IsTripped(now time.Time) bool {
	for len(t.ends) > 0 && now.Sub(t.ends[0].at) > breakerWindow {
		if t.ends[0].failed {
			t.failures--
		}
		t.ends = t.ends[1:]
	}
	return len(t.ends) >= breakerMinCalls && 2*t.failures >= len(t.ends)
}

// Reset discards all recorded calls, so that failures from before a pause do not pause the campaign again.
func (t *CircuitBreaker) Reset() { t.ends, t.failures = nil, 0 }
