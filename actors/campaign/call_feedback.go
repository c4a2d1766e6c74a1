package campaign

import (
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
)

// maxNoTarget is the number of calls in a row that find no target for a number before their attempts count, while
// the trunks are not known to be out: some carriers do not answer for single numbers.
const maxNoTarget = 3

// callFeedback is what the results of calls say about trunks and engines: they slow the campaign down, or pause it.
type callFeedback struct {
	trunkFailures dialer.CircuitBreaker
	pace          dialer.AdaptivePacing // adaptive pacing
	engines       engineOutage
	noTarget      map[string]int // calls in a row that no target of a trunk took, by number
}

// callEnded learns from an end that is durable.
func (f *callFeedback) callEnded(e *call.Ended, now time.Time) {
	f.trunkFailures.AddCall(e.Verdict, now)
	f.engines.callEnded(e, now)
	f.pace.AddResult(dialer.ResultOf(&e.Call, e.Verdict), now)
}

// isUncounted says whether an attempt does not count, because no target took its call while the trunks are out.
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

// interval is the time between two calls.
func (f *callFeedback) interval(c *domain.Campaign) time.Duration {
	return dialer.Interval(f.pacing(c))
}

// pacing is the campaign's pacing as adapted to its trunk.
func (f *callFeedback) pacing(c *domain.Campaign) domain.Pacing { return f.pace.Adapt(c.Paced()) }
