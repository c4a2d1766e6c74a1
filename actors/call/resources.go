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

// callResources are the dialog and the media session of a call, its transfer legs,
// and what is known of its end. Calls releases them after the actor's death. The
// lock is held for moments only, never while anything waits.
type callResources struct {
	*leg.Resources
	mu           sync.Mutex
	call         domain.Call
	attempt      domain.Attempt
	reached      bool
	ended        *Ended
	acknowledged bool
	stored       bool // the store may hold a checkpoint
	ending       bool // it has a BYE, or is over: no other process goes on with it
	busy         bool // its conversation is in the middle of something
	transferLegs []transferLegResources
}

// transferLegResources are those of a transfer leg.
type transferLegResources struct {
	*leg.Resources
	key string // of its permit
	pid *actor.PID
}

func newCallResources(c domain.Call, a domain.Attempt, in *sip.Incoming) *callResources {
	return &callResources{Resources: leg.NewResources(in), call: c, attempt: a, stored: a.ResumeState != nil}
}

// addTransferLeg takes the resources of a transfer leg: they are released with these.
func (r *callResources) addTransferLeg(t transferLegResources) {
	r.mu.Lock()
	r.transferLegs = append(r.transferLegs, t)
	r.mu.Unlock()
	if r.Released() {
		t.Release()
	}
}

// liveTransferLegs are the transfer legs as a census counts them. One that is over may be
// among them.
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

// setRecord notes the call and its attempt as they are now.
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

// abandon releases everything after the actor's death. It returns how the call
// ended: as the actor has said, or by an internal error. done: the owner has
// acknowledged the end already.
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

// setEnding says that the end is about to be stored: no other process goes on with
// the call.
func (r *callResources) setEnding() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending = true
}

// canMove reports whether another process can go on with the call as it is.
func (r *callResources) canMove() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stored && !r.ending
}

// setStored says whether the store may hold a checkpoint.
func (r *callResources) setStored(stored bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stored = stored
}

// isStored reports whether another process may go on with the call.
func (r *callResources) isStored() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stored
}

// setBusy says whether the conversation is in the middle of something.
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
