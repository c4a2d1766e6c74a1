package campaign

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
)

// What falls due by itself is looked through when the first of it does, not
// with each message: a message costs the same however many attempts are on
// their way. A bound may be too early, because what it was of is gone; it is
// never too late.

// due is when a try has to be looked at.
func (t *try) due() time.Time {
	if t.asked {
		return earlier(t.permit.Expires, t.questionAt.Add(mayAgain))
	}
	return t.permit.Expires
}

// await notes an attempt that waits for an answer.
func (a *Campaign) await(t *try) {
	a.tries[t.id] = t
	a.triesDue = earlier(a.triesDue, t.due())
}

// gather notes one that waits for its commit.
func (a *Campaign) gather(t *try) {
	a.made = append(a.made, t)
	a.madeDue = earlier(a.madeDue, t.permit.Expires)
}

// sweep gives up tries whose permit has run out and asks those again that may
// have forgotten.
func (a *Campaign) sweep(ctx actor.Context, now time.Time) {
	if past(a.triesDue, now) {
		a.triesDue = time.Time{}
		for id, t := range a.tries {
			a.looks.Add(1)
			if !now.Before(t.permit.Expires) {
				delete(a.tries, id)
				a.putBack(ctx, t, now)
				continue
			}
			if !now.Before(t.due()) {
				a.askNumber(ctx, t)
			}
			a.triesDue = earlier(a.triesDue, t.due())
		}
	}
	a.sweepMade(ctx, now)
	if a.asked > 0 && !now.Before(a.askedAt.Add(askAgain)) {
		a.askedAt = now
		a.wants++ // permits that are on their way may be lost: none is counted on
		a.come = 0
		a.want(ctx)
	}
}

// sweepMade gives up those whose permit is not worth a commit any more.
func (a *Campaign) sweepMade(ctx actor.Context, now time.Time) {
	worth := now.Add(leaseMargin / 2)
	if a.madeDue.IsZero() || !a.madeDue.Before(worth) {
		return
	}
	a.madeDue = time.Time{}
	a.made = slices.DeleteFunc(a.made, func(t *try) bool {
		a.looks.Add(1)
		if !t.permit.Expires.Before(worth) {
			a.madeDue = earlier(a.madeDue, t.permit.Expires)
			return false
		}
		a.putBack(ctx, t, now)
		return true
	})
}

// past says whether a bound was reached; there may be none.
func past(bound, now time.Time) bool { return !bound.IsZero() && !now.Before(bound) }

// hold counts a call of an earlier process as live, unless it is known to be
// over.
func (a *Campaign) hold(callID string, until time.Time) {
	if !a.gone[callID] {
		a.held[callID] = until
		a.heldDue = earlier(a.heldDue, until)
	}
}

// letGo forgets dialogs that have had their time.
func (a *Campaign) letGo(now time.Time) {
	if !past(a.heldDue, now) {
		return
	}
	a.heldDue = time.Time{}
	for id, until := range a.held {
		a.looks.Add(1)
		if now.Before(until) {
			a.heldDue = earlier(a.heldDue, until)
			continue
		}
		delete(a.held, id)
	}
}

// lose notes an attempt whose call nobody knows.
func (a *Campaign) lose(t *attempt, until time.Time) {
	t.lostAt, a.lost[t.row.ID] = until, t
	a.lostDue = earlier(a.lostDue, until)
}

// giveUpLost closes attempts that were opened and whose calls nobody knows: no
// INVITE was sent.
func (a *Campaign) giveUpLost(now time.Time) {
	if !past(a.lostDue, now) {
		return
	}
	a.lostDue = time.Time{}
	for id, t := range a.lost {
		a.looks.Add(1)
		switch {
		case a.closing[id] || a.open[id] != t:
			delete(a.lost, id)
		case !now.Before(t.lostAt):
			delete(a.lost, id)
			a.closing[id] = true
			a.ends = append(a.ends, call.NotStarted(t.call, t.row, now.UTC()))
		default:
			a.lostDue = earlier(a.lostDue, t.lostAt)
		}
	}
}

// queued are the calls that wait at the gate.
func (a *Campaign) queued() map[string]bool {
	calls := make(map[string]bool, len(a.gate))
	for _, p := range a.gate {
		calls[p.id] = true
	}
	return calls
}
