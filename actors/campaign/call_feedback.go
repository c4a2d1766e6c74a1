package campaign

import (
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
)

// maxNoTarget is the maximum of consecutive calls to a number, refused by every trunk target, that do not count as
// attempts while the trunks are healthy. Some carriers refuse single numbers.
const maxNoTarget = 3

// callFeedback adapts the campaign to the results of its calls: it slows the campaign down or pauses it.
type callFeedback struct {
	trunkFailures dialer.CircuitBreaker
	pace          dialer.AdaptivePacing // adaptive pacing
	engines       engineOutage
	noTarget      map[string]int // by number: consecutive calls that every trunk target refused
}

// callEnded records the end of a call after its commit.
func (f *callFeedback) callEnded(e *call.Ended, now time.Time) {
	f.trunkFailures.AddCall(e.Verdict, now)
	f.engines.callEnded(e, now)
	f.pace.AddResult(dialer.ResultOf(&e.Call, e.Verdict), now)
}

// isUncounted reports whether an attempt does not count, because every trunk target refused its call while the
// trunks are out of service.
func (f *callFeedback) isUncounted(e *call.Ended) bool {
	if !e.Verdict.NoTarget {
		delete(f.noTarget, e.Call.To)
		return false
	}
	if e.Verdict.TrunkOut {
		return true
	}
	if f.noTarget == nil {
		f.noTarget = make(map[string]int)
	}
	f.noTarget[e.Call.To]++
	return f.noTarget[e.Call.To] <= maxNoTarget
}

// interval returns the least time between two calls.
func (f *callFeedback) interval(c *domain.Campaign) time.Duration {
	return dialer.Interval(f.pacing(c))
}

// pacing returns the campaign's pacing, reduced by adaptive pacing.
func (f *callFeedback) pacing(c *domain.Campaign) domain.Pacing {
	return f.pace.Adapt(c.RealTimePacing())
}
