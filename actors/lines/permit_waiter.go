package lines

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// askAnew is how often a Waiter asks again: lines that restarted have
// forgotten who waits.
const askAnew = 5 * time.Second

// PermitWaiter waits for permits on behalf of code that is no actor: it stands in
// the row of the campaigns, with their weight. It serves one at a time.
type PermitWaiter struct {
	sys   *actor.ActorSystem
	lines *actor.PID
	self  *actor.PID
	asked int
	got   chan Permit
}

// NewPermitWaiter makes one; Close ends it.
func NewPermitWaiter(sys *actor.ActorSystem, lines *actor.PID) *PermitWaiter {
	w := &PermitWaiter{sys: sys, lines: lines, got: make(chan Permit, 64)}
	w.self = sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		p, ok := ctx.Message().(Permit)
		if !ok {
			return
		}
		select {
		case w.got <- p:
		default: // nobody takes them: the lease ends by itself
		}
	}))
	return w
}

// WaitForPermit waits until a line is free and its turn has come.
func (w *PermitWaiter) WaitForPermit(ctx context.Context) (Permit, error) {
	w.asked++
	again := time.NewTicker(askAnew)
	defer again.Stop()
	w.sys.Root.RequestWithCustomSender(w.lines, RequestPermits{Count: 1, Generation: w.asked}, w.self)
	for {
		select {
		case p := <-w.got:
			if p.Generation == w.asked && time.Now().Before(p.Expires) {
				return p, nil
			}
			w.sys.Root.Send(w.lines, ReturnPermit{Permit: p})
		case <-again.C:
			w.asked++ // what is on its way is given back above
			w.sys.Root.RequestWithCustomSender(w.lines, RequestPermits{Count: 1, Generation: w.asked}, w.self)
		case <-ctx.Done():
			w.sys.Root.RequestWithCustomSender(w.lines, CancelRequest{}, w.self)
			return Permit{}, ctx.Err()
		}
	}
}

// Close leaves the row and gives back what came too late.
func (w *PermitWaiter) Close() {
	w.sys.Root.Poison(w.self)
	for {
		select {
		case p := <-w.got:
			w.sys.Root.Send(w.lines, ReturnPermit{Permit: p})
		default:
			return
		}
	}
}
