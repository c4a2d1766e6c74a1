package campaign

import (
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
)

// lostLimit is how long a call may be unknown before its attempt is closed: a call repeats its end every 2 s.
const lostLimit = 5 * time.Second

// attemptRows are the rows of an attempt as it was opened; they never change.
type attemptRows struct {
	row  domain.Attempt
	call domain.Call
}

// openAttempt is an attempt in the store whose end is not committed yet.
type openAttempt struct {
	*attemptRows
	zone      *zone     // nil: not known
	lostUntil time.Time // of a lost attempt: then it counts as never placed
}

// openAttempts are the attempts that are open in the store, and the ends that wait for their commit. Each attempt
// has one end: the first one counts.
type openAttempts struct {
	attempts map[string]*openAttempt // by attempt
	lost     map[string]*openAttempt // of these, the attempts whose calls no actor knows
	lostDue  time.Time               // no lost attempt is closed before
	ends     []call.Ended            // not committed yet
	closing  map[string]bool         // attempts whose end is in ends or in flight
}

func newOpenAttempts() openAttempts {
	return openAttempts{attempts: make(map[string]*openAttempt), closing: make(map[string]bool)}
}

// adopt replaces the attempts by those of the store. It queues the end of attempts of another process (boot) and
// keeps an eye on those whose calls isLive does not know. The calls of both groups are returned: interrupted ones,
// and committed ones, whose end is in the store already.
func (o *openAttempts) adopt(stored []*openAttempt, boot string, isLive func(callID string) bool, now time.Time) (interrupted, committed []string) {
	known := o.lost
	o.attempts, o.lost, o.lostDue = make(map[string]*openAttempt, len(stored)), make(map[string]*openAttempt), time.Time{}
	for _, t := range stored {
		o.attempts[t.row.ID] = t
		switch old := known[t.row.ID]; {
		case o.closing[t.row.ID]:
		case t.row.Boot != boot:
			interrupted = append(interrupted, t.row.CallID)
			o.ends = append(o.ends, call.EndAsInterrupted(t.call, t.row, now))
		case isLive(t.row.CallID):
		case old != nil && old.row.CallID == t.row.CallID:
			o.addLost(t, old.lostUntil)
		default:
			o.addLost(t, now.Add(lostLimit))
		}
	}
	return interrupted, o.dropCommittedEnds()
}

// dropCommittedEnds removes ends whose commit was durable although it failed, and returns their calls.
func (o *openAttempts) dropCommittedEnds() (callIDs []string) {
	ends := o.ends[:0]
	o.closing = make(map[string]bool)
	for _, e := range o.ends {
		if !o.has(e.AttemptID, e.CallID) {
			callIDs = append(callIDs, e.CallID)
			continue
		}
		if !o.closing[e.AttemptID] {
			o.closing[e.AttemptID] = true
			ends = append(ends, e)
		}
	}
	o.ends = ends
	return callIDs
}

// has says whether an attempt is open with this call.
func (o *openAttempts) has(attemptID, callID string) bool {
	t := o.attempts[attemptID]
	return t != nil && t.row.CallID == callID
}

// add notes an attempt whose opening is durable.
func (o *openAttempts) add(rows *attemptRows, z *zone) {
	o.attempts[rows.row.ID] = &openAttempt{attemptRows: rows, zone: z}
}

// remove forgets an attempt whose end is durable.
func (o *openAttempts) remove(attemptID string) {
	delete(o.attempts, attemptID)
	delete(o.closing, attemptID)
}

// queueEnd queues the end of an attempt for the next commit.
func (o *openAttempts) queueEnd(e call.Ended) {
	o.closing[e.AttemptID] = true
	o.ends = append(o.ends, e)
}

// closeUnsent queues the end of an attempt whose INVITE was never sent.
func (o *openAttempts) closeUnsent(rows *attemptRows, now time.Time) {
	o.queueEnd(call.EndAsNotStarted(rows.call, rows.row, now.UTC()))
}

// takeEnds takes out at most so many ends for a commit.
func (o *openAttempts) takeEnds(most int) []call.Ended {
	n := min(len(o.ends), most)
	ends := o.ends[:n:n]
	o.ends = o.ends[n:]
	return ends
}

// returnEnds puts the ends of a failed commit back in front.
func (o *openAttempts) returnEnds(ends []call.Ended) { o.ends = append(ends, o.ends...) }

// addLost notes an attempt whose call no actor knows.
func (o *openAttempts) addLost(t *openAttempt, until time.Time) {
	t.lostUntil, o.lost[t.row.ID] = until, t
	o.lostDue = earlier(o.lostDue, until)
}

// closeLost queues the ends of lost attempts whose time is over: their INVITE was never sent. checked are the entries
// that it looked at.
func (o *openAttempts) closeLost(now time.Time) (checked int) {
	if !isReached(o.lostDue, now) {
		return 0
	}
	o.lostDue = time.Time{}
	for id, t := range o.lost {
		checked++
		switch {
		case o.closing[id] || o.attempts[id] != t:
			delete(o.lost, id)
		case !now.Before(t.lostUntil):
			delete(o.lost, id)
			o.closeUnsent(t.attemptRows, now)
		default:
			o.lostDue = earlier(o.lostDue, t.lostUntil)
		}
	}
	return checked
}

// live are the calls of open attempts whose end is not known.
func (o *openAttempts) live() (callIDs []string) {
	for id, t := range o.attempts {
		if !o.closing[id] {
			callIDs = append(callIDs, t.row.CallID)
		}
	}
	return callIDs
}

// byZone counts the open attempts of each zone by their numbers.
func (o *openAttempts) byZone() map[*zone][]int {
	counts := make(map[*zone][]int)
	for _, t := range o.attempts {
		n := counts[t.zone]
		for len(n) <= t.row.Number {
			n = append(n, 0)
		}
		n[t.row.Number]++
		counts[t.zone] = n
	}
	return counts
}
