package campaign

import (
	"slices"
	"time"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
)

// leaseMargin is the least remaining validity of a permit when its attempt is opened.
const leaseMargin = 2 * time.Second

// pendingAttempt is an attempt before its INVITE. It has a permit and then waits for a trunk slot, for a grant of
// its number and for its commit, which adds its rows.
type pendingAttempt struct {
	callID    string
	candidate candidate
	permit    lines.Permit
	slot      trunk.Slot
	hasSlot   bool

	numberRequested   bool // a grant for the number is held or requested
	numberRequest     int  // number of the last request; replies to earlier ones are ignored
	numberRequestedAt time.Time
	grant             numbers.NumberGranted

	*attemptRows
}

// checkAt returns when a waiting attempt needs attention: its permit expires or its request is repeated.
func (t *pendingAttempt) checkAt() time.Time {
	if t.numberRequested {
		return earlier(t.permit.Expires, t.numberRequestedAt.Add(numberRepeat))
	}
	return t.permit.Expires
}

// pendingAttempts holds attempts from their permit to their commit. Time limits are checked only when the earliest
// one passes, so the cost of a message does not grow with the number of attempts. The bounds may be too early but
// never too late.
type pendingAttempts struct {
	waiting    map[string]*pendingAttempt // for a slot or a grant, by call ID
	waitingDue time.Time                  // no waiting attempt needs attention before this time
	granted    []*pendingAttempt          // complete, waiting for their commit, in order
	grantedDue time.Time                  // no permit in granted expires before this time
}

func newPendingAttempts() pendingAttempts {
	return pendingAttempts{waiting: make(map[string]*pendingAttempt)}
}

// count returns the number of all pending attempts.
func (p *pendingAttempts) count() int { return len(p.waiting) + len(p.granted) }

// addWaiting adds an attempt that waits for a reply.
func (p *pendingAttempts) addWaiting(t *pendingAttempt) {
	p.waiting[t.callID] = t
	p.waitingDue = earlier(p.waitingDue, t.checkAt())
}

// takeWaiting removes and returns the waiting attempt of a call; nil: there is none.
func (p *pendingAttempts) takeWaiting(callID string) *pendingAttempt {
	t := p.waiting[callID]
	delete(p.waiting, callID)
	return t
}

// takeRequested removes and returns the attempt that waits for the reply to this request. Otherwise known reports
// whether it waits for the reply to a later request.
func (p *pendingAttempts) takeRequested(callID string, request int) (t *pendingAttempt, known bool) {
	t, known = p.waiting[callID]
	if !known || t.numberRequest != request {
		return nil, known
	}
	return p.takeWaiting(callID), true
}

// addGranted adds an attempt that waits for its commit.
func (p *pendingAttempts) addGranted(t *pendingAttempt) {
	p.granted = append(p.granted, t)
	p.grantedDue = earlier(p.grantedDue, t.permit.Expires)
}

// takeGranted removes and returns the first attempts for a commit, at most so many.
func (p *pendingAttempts) takeGranted(most int) []*pendingAttempt {
	n := min(len(p.granted), most)
	taken := p.granted[:n:n]
	p.granted = p.granted[n:]
	return taken
}

// checkWaiting calls expire for waiting attempts with an expired permit, and repeat for those with an unanswered
// request. checked is the number of entries examined.
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

// checkGranted calls expire for granted attempts whose permit would expire during a commit. checked is the number
// of entries examined.
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

// dropGranted removes the granted attempts for which drop returns true.
func (p *pendingAttempts) dropGranted(drop func(*pendingAttempt) bool) {
	p.granted = slices.DeleteFunc(p.granted, drop)
}

// takeAll removes and returns all pending attempts.
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

// ordinals returns the contacts of all pending attempts.
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
