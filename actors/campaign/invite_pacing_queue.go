package campaign

import (
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// dialQueue holds committed attempts that wait for their INVITE. The INVITEs are sent at least the pacing interval apart,
// so a slow commit causes no burst of calls.
type dialQueue struct {
	attempts []*pendingAttempt
	lastSent time.Time
	timerSet bool
	timer    uint64 // number of the last timer; earlier timers are ignored
}

func newDialQueue() dialQueue {
	return dialQueue{timer: rand.Uint64()} //nolint:gosec // no secret; timers of a predecessor carry another number
}

func (q *dialQueue) push(t *pendingAttempt) { q.attempts = append(q.attempts, t) }

// next removes and returns the next attempt that may be sent. If none may be sent yet, wait is the time until then. wait
// is 0 if the queue is empty or its timer is already running.
func (q *dialQueue) next(interval time.Duration, now time.Time) (t *pendingAttempt, wait time.Duration) {
	if len(q.attempts) == 0 || q.timerSet {
		return nil, 0
	}
	if due := q.lastSent.Add(interval); due.After(now) {
		return nil, due.Sub(now)
	}
	t = q.attempts[0]
	q.attempts = q.attempts[1:]
	return t, 0
}

// sendTime returns the time at which an attempt that is committed now can be sent, after all attempts in the queue.
func (q *dialQueue) sendTime(interval time.Duration, now time.Time) time.Time {
	return later(q.lastSent.Add(interval*time.Duration(len(q.attempts)+1)), now)
}

func (q *dialQueue) startTimer(ctx actor.Context, wait time.Duration) {
	q.timerSet = true
	q.timer++
	mailbox.SendAfter(ctx, wait, sendDue{q.timer})
}

func (q *dialQueue) onSendDue(m sendDue) {
	if m.timer == q.timer {
		q.timerSet = false
	}
}

// takeAll empties the queue and returns its attempts.
func (q *dialQueue) takeAll() []*pendingAttempt {
	all := q.attempts
	q.attempts = nil
	return all
}

// callIDs returns the call IDs of the attempts in the queue.
func (q *dialQueue) callIDs() map[string]bool {
	calls := make(map[string]bool, len(q.attempts))
	for _, t := range q.attempts {
		calls[t.callID] = true
	}
	return calls
}

// adopt sets lastSent from lastOpen, the time at which the last stored attempt was opened. After a restart the time of its
// INVITE is unknown, so adopt assumes the latest possible one: commitLimit after lastOpen, or now.
func (q *dialQueue) adopt(lastOpen time.Time, openAttempts bool, now time.Time) {
	first := q.lastSent.IsZero()
	if lastOpen.Before(now.Add(commitLimit)) {
		q.lastSent = later(q.lastSent, lastOpen)
	} else { // the stored time lies in the future, so the clock was set back
		q.lastSent = later(q.lastSent, now)
	}
	if first && openAttempts {
		q.lastSent = later(q.lastSent, earlier(now, q.lastSent.Add(commitLimit)))
	}
}
