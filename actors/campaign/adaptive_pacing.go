package campaign

import (
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
)

// maxNoTarget limits the consecutive calls to one number that do not count as attempts because every trunk target refused
// them. It applies while the trunks are healthy, because some carriers refuse single numbers.
const maxNoTarget = 3

// callFeedback evaluates the results of the campaign's calls. Depending on them it slows the campaign down or pauses it.
type callFeedback struct {
	trunkFailures dialer.CircuitBreaker
	pace          dialer.AdaptivePacing
	engines       engineOutage
	noTarget      map[string]int // by number: consecutive calls that every trunk target refused
}

// callEnded records the result of a call whose end is committed.
func (f *callFeedback) callEnded(e *call.Ended, now time.Time) {
	f.trunkFailures.AddCall(e.Verdict, now)
	f.engines.callEnded(e, now)
	f.pace.AddResult(dialer.ResultOf(&e.Call, e.Verdict), now)
}

// isUncounted reports whether a call that every trunk target refused does not count as an attempt. It never counts while
// the trunks are out of service. Otherwise it counts after maxNoTarget such calls in a row.
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

// interval returns the minimum time between the starts of two calls.
func (f *callFeedback) interval(c *domain.Campaign) time.Duration {
	return dialer.Interval(f.pacing(c))
}

// pacing returns the campaign's pacing, reduced by adaptive pacing.
func (f *callFeedback) pacing(c *domain.Campaign) domain.Pacing {
	return f.pace.Adapt(c.RealTimePacing())
}
