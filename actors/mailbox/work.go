package mailbox

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Crashed is what an actor hears when its Work panicked.
type Crashed struct { //nolint:errname // a message, named by what happened
	Value any
	Stack string
}

// Control admits it always.
func (Crashed) Control() {}

// Work runs f beside the actor, with a deadline and a recover, and sends what
// it returns to the actor: a Control message that carries a generation, so
// that the actor can tell stale results. A nil result sends nothing; a panic
// sends Crashed. Without a limit f has no deadline but its own.
func Work(ctx actor.Context, limit time.Duration, f func(context.Context) any) {
	self, root := ctx.Self(), ctx.ActorSystem().Root
	work := func() (message any) {
		bound := context.Background()
		if limit > 0 {
			var cancel context.CancelFunc
			bound, cancel = context.WithTimeout(bound, limit)
			defer cancel()
		}
		defer func() {
			if v := recover(); v != nil {
				message = Crashed{Value: v, Stack: string(debug.Stack())}
			}
		}()
		return f(bound)
	}
	go func() {
		if message := work(); message != nil {
			root.Send(self, message)
		}
	}()
}

func (c Crashed) Error() string { return fmt.Sprintf("work panicked: %v", c.Value) }

// After sends msg, a Control message, to the actor once d has passed, unless
// it is cancelled before.
func After(ctx actor.Context, d time.Duration, msg any) (cancel func()) {
	self, root := ctx.Self(), ctx.ActorSystem().Root
	t := time.AfterFunc(d, func() { root.Send(self, msg) })
	return func() { t.Stop() }
}
