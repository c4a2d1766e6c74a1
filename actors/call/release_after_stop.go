package call

import (
	"cmp"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// callResources are the dialog, the media session, the transfer legs and the final result of a call. Calls releases
// them after the actor has stopped. The lock is never held during blocking work.
type callResources struct {
	*leg.Resources
	mu           sync.Mutex
	call         domain.Call
	attempt      domain.Attempt
	reached      bool
	ended        *Ended
	acknowledged bool
	stored       bool // the store may hold a checkpoint
	ending       bool // the call gets its BYE or has ended: no other process may resume it
	busy         bool // a hand-over should wait a moment for the conversation
	transferLegs []transferLegResources
}

// transferLegResources are the dialog and the media session of a transfer leg, with its actor and its permit key.
type transferLegResources struct {
	*leg.Resources
	key string // ID under which the leg holds its permit
	pid *actor.PID
}

func newCallResources(c domain.Call, a domain.Attempt, in *sip.Incoming) *callResources {
	return &callResources{Resources: leg.NewResources(in), call: c, attempt: a, stored: a.ResumeState != nil}
}

// addTransferLeg adds the resources of a transfer leg, which are released together with the call's.
func (r *callResources) addTransferLeg(t transferLegResources) {
	r.mu.Lock()
	r.transferLegs = append(r.transferLegs, t)
	r.mu.Unlock()
	if r.Released() {
		t.Release()
	}
}

// liveTransferLegs returns the transfer legs for LiveCalls. A leg that has just ended may be included.
func (r *callResources) liveTransferLegs(env domain.Environment) []LiveCall {
	r.mu.Lock()
	legs := r.transferLegs
	r.mu.Unlock()
	var out []LiveCall
	for _, t := range legs {
		if !t.Released() {
			out = append(out, LiveCall{CallID: t.key, Direction: domain.Outbound, Environment: env, PID: t.pid})
		}
	}
	return out
}

// setRecord stores copies of the current call record and call attempt, for use after the actor has stopped.
func (r *callResources) setRecord(c *domain.Call, a *domain.Attempt, reached bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.call, r.attempt, r.reached = *c, *a, reached
}

func (r *callResources) setEnded(e *Ended) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.call = e, e.Call
}

func (r *callResources) setAcknowledged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acknowledged = true
}

// abandon releases all resources after the call actor has stopped. It returns the Ended message that the actor made, or
// one with an internal error. done reports that the owner has already acknowledged the end.
func (r *callResources) abandon(now time.Time) (e *Ended, recording <-chan media.Recording, done bool) {
	stats, had := r.Release()
	r.mu.Lock()
	legs := r.transferLegs
	r.mu.Unlock()
	for _, t := range legs {
		t.Release()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		c := r.call
		if had && c.AnsweredAt != nil {
			c.Quality = qualityOf(stats)
			c.MediaIssue = cmp.Or(c.MediaIssue, stats.AudioIssue)
		}
		e := conclude(c, &r.attempt, conclusion{
			verdict: domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonInternal, RetryOn: "failed"},
			by:      byService, at: now, reached: r.reached,
		})
		r.ended = &e
	}
	return r.ended, r.Recording(), r.acknowledged
}

// setEnding marks the call as ending. From then on no other process may resume it.
func (r *callResources) setEnding() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending = true
}

// canMove reports whether another process could resume the call as it is now.
func (r *callResources) canMove() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stored && !r.ending
}

// setStored records whether the store may contain a checkpoint of the call.
func (r *callResources) setStored(stored bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stored = stored
}

// isStored reports whether the store may contain a checkpoint of the call. Another process may then resume the call.
func (r *callResources) isStored() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stored
}

// setBusy records whether the conversation is busy, so that a hand-over should wait a moment for it.
func (r *callResources) setBusy(busy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = busy
}

func (r *callResources) isBusy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy
}
