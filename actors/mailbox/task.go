package mailbox

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// TaskPanicked is sent to an actor when a task that it started with RunTask has panicked.
type TaskPanicked struct { //nolint:errname // a message to an actor, named after the event
	Value any
	Stack string
}

// Control implements Control: a full mailbox accepts this message.
func (TaskPanicked) Control() {}

// RunTask runs f in a goroutine and sends its result to the actor. The result must be a Control message. It should carry a
// generation, by which the actor recognizes stale results. The context of f ends after limit, and 0 means no limit. RunTask
// sends nothing for a nil result, and TaskPanicked if f panics.
func RunTask(ctx actor.Context, limit time.Duration, f func(context.Context) any) {
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
				message = TaskPanicked{Value: v, Stack: string(debug.Stack())}
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

func (c TaskPanicked) Error() string { return fmt.Sprintf("task panicked: %v", c.Value) }

// SendAfter sends msg, which must be a Control message, to the actor after d. Calling cancel earlier stops the timer.
func SendAfter(ctx actor.Context, d time.Duration, msg any) (cancel func()) {
	self, root := ctx.Self(), ctx.ActorSystem().Root
	t := time.AfterFunc(d, func() { root.Send(self, msg) })
	return func() { t.Stop() }
}
