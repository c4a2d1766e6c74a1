package campaign

import (
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
)

// lostLimit is how long an attempt may lack a call actor. After that it is closed as never sent. A live call would have
// reported its end by then, because it repeats the report every 2 s.
const lostLimit = 5 * time.Second

// attemptRows are the attempt record and the call record as stored when the attempt was opened. They never change.
type attemptRows struct {
	row  domain.Attempt
	call domain.Call
}

// openAttempt is a stored attempt whose end is not committed yet.
type openAttempt struct {
	*attemptRows
	zone      *zone     // nil: the zone is unknown
	lostUntil time.Time // when a lost attempt is closed as never sent
}

// openAttempts holds the attempts that are open in the store, and the ends of calls that wait for their commit. Only the
// first end of an attempt counts.
type openAttempts struct {
	attempts map[string]*openAttempt // by attempt ID
	lost     map[string]*openAttempt // of these, attempts without a call actor
	lostDue  time.Time               // no lost attempt is closed before this time
	ends     []call.Ended            // ends that are not committed yet
	closing  map[string]bool         // attempts whose end is in ends or being committed
}

func newOpenAttempts() openAttempts {
	return openAttempts{attempts: make(map[string]*openAttempt), closing: make(map[string]bool)}
}

// adopt replaces the attempts by the stored ones. It queues the end of attempts from processes other than boot, and watches
// attempts whose calls are not live. It returns the calls of interrupted attempts and of ends that are already stored.
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

// dropCommittedEnds removes the ends of attempts that are not open in the store any more, and returns their calls. Their
// commit was durable although it returned an error.
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

// has reports whether the attempt is open and belongs to this call.
func (o *openAttempts) has(attemptID, callID string) bool {
	t := o.attempts[attemptID]
	return t != nil && t.row.CallID == callID
}

// add records an attempt whose opening is durable.
func (o *openAttempts) add(rows *attemptRows, z *zone) {
	o.attempts[rows.row.ID] = &openAttempt{attemptRows: rows, zone: z}
}

// remove removes an attempt whose end is durable.
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

// takeEnds removes up to most ends from the queue and returns them for a commit.
func (o *openAttempts) takeEnds(most int) []call.Ended {
	n := min(len(o.ends), most)
	ends := o.ends[:n:n]
	o.ends = o.ends[n:]
	return ends
}

// returnEnds puts the ends of a failed commit back at the front of the queue.
func (o *openAttempts) returnEnds(ends []call.Ended) { o.ends = append(ends, o.ends...) }

// addLost records an open attempt whose call has no actor. The attempt is closed at the time until.
func (o *openAttempts) addLost(t *openAttempt, until time.Time) {
	t.lostUntil, o.lost[t.row.ID] = until, t
	o.lostDue = earlier(o.lostDue, until)
}

// closeLost queues the ends of attempts that lacked a call actor until their time limit. Their INVITE was never sent.
// checked is the number of attempts that it examined.
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

// live returns the calls of open attempts whose end was not reported yet.
func (o *openAttempts) live() (callIDs []string) {
	for id, t := range o.attempts {
		if !o.closing[id] {
			callIDs = append(callIDs, t.row.CallID)
		}
	}
	return callIDs
}

// countByZone counts the open attempts by zone and attempt number.
func (o *openAttempts) countByZone() map[*zone][]int {
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
