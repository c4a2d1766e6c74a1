package dialer

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Limits of the circuit breaker that pauses a campaign with a failing trunk.
const (
	breakerWindow   = 120 * time.Second
	breakerMinCalls = 5
)

// CircuitBreaker records how the calls of the last two minutes ended.
type CircuitBreaker struct {
	ends     []callEnd // ends of the last two minutes, in order of time
	failures int       // number of trunk failures in ends
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
