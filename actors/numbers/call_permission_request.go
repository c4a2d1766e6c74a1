package numbers

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// repeatAfter is the time after which an unanswered request is sent again.
const repeatAfter = 500 * time.Millisecond

// RequestPermission sends RequestNumber for callers that are not actors and waits for NumberGranted or
// NumberDenied. It repeats the request until ctx ends, because a restarted actor has lost the requests that it got
// earlier.
func RequestPermission(ctx context.Context, system *actor.ActorSystem, owner *actor.PID, m RequestNumber) (any, error) {
	for {
		m.Generation++
		bound, stop := context.WithTimeout(ctx, repeatAfter)
		got, err := mailbox.Ask[any](bound, system, owner, m)
		unanswered := bound.Err() != nil
		stop()
		if err == nil || !unanswered || ctx.Err() != nil {
			return got, err
		}
	}
}
