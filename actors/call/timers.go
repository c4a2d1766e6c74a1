package call

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// timers holds the functions that cancel the running timers of a call.
type timers struct {
	stopClock  func() // of the maximum duration; nil: the call was not answered
	stopRepeat func() // of the next notification of the owner
	cancels    []func()
}

// schedule sends msg to the actor after d. The timer is cancelled when the end of the call is acknowledged.
func (t *timers) schedule(ctx actor.Context, d time.Duration, msg any) {
	t.cancels = append(t.cancels, mailbox.SendAfter(ctx, d, msg))
}

// stopAll cancels all timers of a call whose end is acknowledged.
func (t *timers) stopAll() {
	t.stopRepeat()
	for _, stop := range t.cancels {
		stop()
	}
}
