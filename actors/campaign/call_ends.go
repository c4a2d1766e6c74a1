package campaign

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
)

// ended: a call is over. It says so until its end is in the store.
func (a *Campaign) ended(ctx actor.Context, m call.Ended) {
	if a.phase == gone {
		return
	}
	if a.phase == ready {
		if t := a.open[m.AttemptID]; t == nil || t.row.CallID != m.CallID {
			a.ack(ctx, m.CallID)
			return
		}
	}
	if a.closing[m.AttemptID] {
		return
	}
	a.closing[m.AttemptID] = true
	m.Verdict.Throttled = m.Verdict.Throttled || a.noTarget(&m)
	a.ends = append(a.ends, m)
}

// noTarget says whether no target took a call because the trunks are out, so that its attempt does not count.
func (a *Campaign) noTarget(m *call.Ended) bool {
	if !m.Verdict.NoTarget {
		delete(a.untaken, m.Call.To)
		return false
	}
	if m.Verdict.TrunkOut {
		return true
	}
	if a.untaken == nil {
		a.untaken = make(map[string]int)
	}
	a.untaken[m.Call.To]++
	return a.untaken[m.Call.To] <= maxUntaken
}

func (a *Campaign) ack(ctx actor.Context, callID string) {
	ctx.Send(a.cfg.Calls, call.Ack{CallID: callID})
}
