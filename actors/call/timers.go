package call

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// timers stop the timers of a call.
type timers struct {
	stopClock  func() // of the longest duration; nil: the call was not answered
	stopRepeat func() // of the end's next notification
	stops      []func()
}

// after sends msg, a Control message, to the actor once d has passed, unless the
// call is over by then: most timers wait for what comes much sooner.
func (t *timers) after(ctx actor.Context, d time.Duration, msg any) {
	t.stops = append(t.stops, mailbox.SendAfter(ctx, d, msg))
}

// stopAll stops all timers of a call whose end is acknowledged.
func (t *timers) stopAll() {
	t.stopRepeat()
	for _, stop := range t.stops {
		stop()
	}
}
