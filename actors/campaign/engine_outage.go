package campaign

import (
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
)

// The times between the calls that try whether agents can speak again.
const (
	firstEngineProbe = 10 * time.Second
	maxEngineProbe   = 2 * time.Minute
)

// engineOutage remembers that the agents of the campaign could not speak, hear
// or think. Until one can, one call at a time tries.
type engineOutage struct {
	failures int       // calls in a row that failed so, those that were live together counted once
	until    time.Time // nobody is rung before
}

// ended notes the end of a call.
func (o *engineOutage) ended(e *call.Ended, now time.Time) {
	switch {
	case e.Verdict.Reason == domain.ReasonAgent:
		if o.until.After(now) {
			return
		}
		o.until = now.Add(min(firstEngineProbe<<min(o.failures, 8), maxEngineProbe))
		o.failures++
	case e.Call.AnsweredAt != nil && e.Verdict.Spent():
		*o = engineOutage{}
	}
}
