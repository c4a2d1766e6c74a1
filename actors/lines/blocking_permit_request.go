package lines

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// requestInterval is how often a PermitWaiter repeats its request, because a restarted Lines actor has lost it.
const requestInterval = 5 * time.Second

// PermitWaiter requests permits from a Lines actor, in turn with campaigns, for code that is not an actor. Only one caller
// may wait at a time.
type PermitWaiter struct {
	sys        *actor.ActorSystem
	lines      *actor.PID
	pid        *actor.PID
	generation int
	permits    chan Permit
}

// NewPermitWaiter returns a PermitWaiter. Close releases it.
func NewPermitWaiter(sys *actor.ActorSystem, lines *actor.PID) *PermitWaiter {
	w := &PermitWaiter{sys: sys, lines: lines, permits: make(chan Permit, 64)}
	w.pid = sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		p, ok := ctx.Message().(Permit)
		if !ok {
			return
		}
		select {
		case w.permits <- p:
		default: // the lease of an unused permit expires
		}
	}))
	return w
}

// WaitForPermit waits until the Lines actor grants a permit or ctx is done.
func (w *PermitWaiter) WaitForPermit(ctx context.Context) (Permit, error) {
	w.generation++
	again := time.NewTicker(requestInterval)
	defer again.Stop()
	w.sys.Root.RequestWithCustomSender(w.lines, RequestPermits{Count: 1, Generation: w.generation}, w.pid)
	for {
		select {
		case p := <-w.permits:
			if p.Generation == w.generation && time.Now().Before(p.Expires) {
				return p, nil
			}
			w.sys.Root.Send(w.lines, ReturnPermit{Permit: p})
		case <-again.C:
			w.generation++ // permits of the former request are returned above
			w.sys.Root.RequestWithCustomSender(w.lines, RequestPermits{Count: 1, Generation: w.generation}, w.pid)
		case <-ctx.Done():
			w.sys.Root.RequestWithCustomSender(w.lines, CancelRequest{}, w.pid)
			return Permit{}, ctx.Err()
		}
	}
}

// Close cancels the request and returns permits that arrive afterwards.
func (w *PermitWaiter) Close() {
	w.sys.Root.Poison(w.pid)
	for {
		select {
		case p := <-w.permits:
			w.sys.Root.Send(w.lines, ReturnPermit{Permit: p})
		default:
			return
		}
	}
}
