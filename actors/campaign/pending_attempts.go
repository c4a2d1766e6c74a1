package campaign

import (
	"slices"
	"time"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
)

// leaseMargin is the least time that a permit must still be valid when its attempt is opened.
const leaseMargin = 2 * time.Second

// pendingAttempt is an attempt before its INVITE. It has a permit, then waits for a trunk slot, for its number and
// for its commit; the commit gives it its rows.
type pendingAttempt struct {
	callID    string
	candidate candidate
	permit    lines.Permit
	slot      trunk.Slot
	hasSlot   bool

	numberRequested   bool // the number is granted, or requested
	numberRequest     int  // number of the last request; the answer to an earlier one is ignored
	numberRequestedAt time.Time
	grant             numbers.NumberGranted

	*attemptRows
}

// checkAt is when a waiting attempt has to be looked at: its permit expires, or the numbers actor is asked again.
func (t *pendingAttempt) checkAt() time.Time {
	if t.numberRequested {
		return earlier(t.permit.Expires, t.numberRequestedAt.Add(numberRepeat))
	}
	return t.permit.Expires
}

// pendingAttempts are the attempts from their permit to their commit. Time limits are checked when the first of them
// is reached, not with each message: a message costs the same however many attempts wait. The bounds may be too
// early, never too late.
type pendingAttempts struct {
	waiting    map[string]*pendingAttempt // for a slot or their number, by call
	waitingDue time.Time                  // no waiting attempt has to be looked at before
	granted    []*pendingAttempt          // have all they need and wait for their commit, in order
	grantedDue time.Time                  // no permit of granted expires before
}

func newPendingAttempts() pendingAttempts {
	return pendingAttempts{waiting: make(map[string]*pendingAttempt)}
}

// count is the number of all pending attempts.
func (p *pendingAttempts) count() int { return len(p.waiting) + len(p.granted) }

// addWaiting notes an attempt that waits for an answer.
func (p *pendingAttempts) addWaiting(t *pendingAttempt) {
	p.waiting[t.callID] = t
	p.waitingDue = earlier(p.waitingDue, t.checkAt())
}

// takeWaiting takes out the attempt that waits for an answer about a call; nil: none does any more.
func (p *pendingAttempts) takeWaiting(callID string) *pendingAttempt {
	t := p.waiting[callID]
	delete(p.waiting, callID)
	return t
}

// takeRequested takes out an attempt that waits for the answer to this request for its number. Without one, known
// says whether the attempt waits for the answer to a later request.
func (p *pendingAttempts) takeRequested(callID string, request int) (t *pendingAttempt, known bool) {
	t, known = p.waiting[callID]
	if !known || t.numberRequest != request {
		return nil, known
	}
	return p.takeWaiting(callID), true
}

// addGranted notes an attempt that waits for its commit.
func (p *pendingAttempts) addGranted(t *pendingAttempt) {
	p.granted = append(p.granted, t)
	p.grantedDue = earlier(p.grantedDue, t.permit.Expires)
}

// takeGranted takes out the first attempts for a commit, at most so many.
func (p *pendingAttempts) takeGranted(most int) []*pendingAttempt {
	n := min(len(p.granted), most)
	taken := p.granted[:n:n]
	p.granted = p.granted[n:]
	return taken
}

// checkWaiting hands the waiting attempts whose permit has expired to expire, and those whose number is to be
// requested again to repeat. checked are the entries that it looked at.
func (p *pendingAttempts) checkWaiting(now time.Time, expire, repeat func(*pendingAttempt)) (checked int) {
	if !isReached(p.waitingDue, now) {
		return 0
	}
	p.waitingDue = time.Time{}
	for id, t := range p.waiting {
		checked++
		if !now.Before(t.permit.Expires) {
			delete(p.waiting, id)
			expire(t)
			continue
		}
		if !now.Before(t.checkAt()) {
			repeat(t)
		}
		p.waitingDue = earlier(p.waitingDue, t.checkAt())
	}
	return checked
}

// checkGranted hands the granted attempts whose permit would expire during a commit to expire. checked are the
// entries that it looked at.
func (p *pendingAttempts) checkGranted(now time.Time, expire func(*pendingAttempt)) (checked int) {
	limit := now.Add(leaseMargin / 2)
	if p.grantedDue.IsZero() || !p.grantedDue.Before(limit) {
		return 0
	}
	p.grantedDue = time.Time{}
	p.dropGranted(func(t *pendingAttempt) bool {
		checked++
		if !t.permit.Expires.Before(limit) {
			p.grantedDue = earlier(p.grantedDue, t.permit.Expires)
			return false
		}
		expire(t)
		return true
	})
	return checked
}

// dropGranted removes the granted attempts for which drop is true.
func (p *pendingAttempts) dropGranted(drop func(*pendingAttempt) bool) {
	p.granted = slices.DeleteFunc(p.granted, drop)
}

// takeAll empties the component.
func (p *pendingAttempts) takeAll() []*pendingAttempt {
	all := make([]*pendingAttempt, 0, p.count())
	for id, t := range p.waiting {
		delete(p.waiting, id)
		all = append(all, t)
	}
	all = append(all, p.granted...)
	p.granted, p.grantedDue, p.waitingDue = nil, time.Time{}, time.Time{}
	return all
}

// ordinals are the contacts of all pending attempts.
func (p *pendingAttempts) ordinals() map[int]bool {
	ordinals := make(map[int]bool, p.count())
	for _, t := range p.waiting {
		ordinals[t.candidate.ordinal] = true
	}
	for _, t := range p.granted {
		ordinals[t.candidate.ordinal] = true
	}
	return ordinals
}
