package campaign

import (
	"slices"
	"time"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
)

// leaseMargin is the minimum remaining validity of a permit at the time when its attempt is committed.
const leaseMargin = 2 * time.Second

// pendingAttempt is a call attempt before its INVITE. It has a permit and then waits for a trunk slot, for the grant of its
// number, and for its commit. The commit adds attemptRows.
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

// checkAt returns the time at which a waiting attempt needs attention. At that time its permit expires or its number request
// is repeated.
func (t *pendingAttempt) checkAt() time.Time {
	if t.numberRequested {
		return earlier(t.permit.Expires, t.numberRequestedAt.Add(numberRepeat))
	}
	return t.permit.Expires
}

// pendingAttempts holds attempts from their permit to their commit. It checks time limits only when the earliest one passes,
// so the cost of a message does not grow with the number of attempts. That earliest time may be too early but never too late.
type pendingAttempts struct {
	waiting    map[string]*pendingAttempt // for a slot or a grant, by call ID
	waitingDue time.Time                  // no waiting attempt needs attention before this time
	granted    []*pendingAttempt          // attempts with all grants that wait for their commit, oldest first
	grantedDue time.Time                  // no permit in granted expires before this time
}

func newPendingAttempts() pendingAttempts {
	return pendingAttempts{waiting: make(map[string]*pendingAttempt)}
}

// count returns the number of all pending attempts.
func (p *pendingAttempts) count() int { return len(p.waiting) + len(p.granted) }

// addWaiting adds an attempt that waits for its trunk slot or for the grant of its number.
func (p *pendingAttempts) addWaiting(t *pendingAttempt) {
	p.waiting[t.callID] = t
	p.waitingDue = earlier(p.waitingDue, t.checkAt())
}

// takeWaiting removes and returns the waiting attempt of a call, or nil if there is none.
func (p *pendingAttempts) takeWaiting(callID string) *pendingAttempt {
	t := p.waiting[callID]
	delete(p.waiting, callID)
	return t
}

// takeRequested removes and returns the attempt that waits for the reply to this number request. If the attempt waits for
// the reply to a later request, takeRequested returns nil and true.
func (p *pendingAttempts) takeRequested(callID string, request int) (t *pendingAttempt, known bool) {
	t, known = p.waiting[callID]
	if !known || t.numberRequest != request {
		return nil, known
	}
	return p.takeWaiting(callID), true
}

// addGranted adds an attempt that has all grants and waits for its commit.
func (p *pendingAttempts) addGranted(t *pendingAttempt) {
	p.granted = append(p.granted, t)
	p.grantedDue = earlier(p.grantedDue, t.permit.Expires)
}

// takeGranted removes and returns up to most attempts for a commit, the oldest first.
func (p *pendingAttempts) takeGranted(most int) []*pendingAttempt {
	n := min(len(p.granted), most)
	taken := p.granted[:n:n]
	p.granted = p.granted[n:]
	return taken
}

// checkWaiting calls expire for waiting attempts with an expired permit, and repeat for those whose number request is
// unanswered. checked is the number of attempts that it examined.
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

// checkGranted calls expire for attempts that wait for their commit and whose permit would expire during it. checked is the
// number of attempts that it examined.
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

// dropGranted removes those attempts waiting for their commit for which drop returns true.
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

// ordinals returns the positions of the contacts of all pending attempts in the campaign's contact list.
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
