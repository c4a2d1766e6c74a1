package numbers

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// requestAgainAfter is how long a request may stay unanswered until it is sent again.
const requestAgainAfter = 500 * time.Millisecond

// RequestPermission sends May on behalf of code that is no actor, again and again
// until the answer comes or ctx ends: an actor that restarts has lost its requests.
// The answer is Granted or Denied.
func RequestPermission(ctx context.Context, system *actor.ActorSystem, owner *actor.PID, m May) (any, error) {
	for {
		m.Generation++
		bound, stop := context.WithTimeout(ctx, requestAgainAfter)
		got, err := mailbox.Ask[any](bound, system, owner, m)
		unanswered := bound.Err() != nil
		stop()
		if err == nil || !unanswered || ctx.Err() != nil {
			return got, err
		}
	}
}
