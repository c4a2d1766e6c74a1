package campaign

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// wakeUp is the one timer of a campaign: the earliest time at which anything can happen by itself.
type wakeUp struct {
	cancel func()    // nil: no timer is set
	due    time.Time // of that timer
	number uint64    // of the last timer; messages of earlier timers are ignored
}

// set sets the timer; zero: none. A timer that is due sooner stays: each message moves the time, mostly to later.
func (w *wakeUp) set(ctx actor.Context, at, now time.Time) {
	if at.IsZero() {
		w.stop()
		return
	}
	wait := max(0, at.Sub(now))
	due := now.Add(wait) // by the monotonic clock
	if w.cancel != nil && !due.Before(w.due) {
		return
	}
	w.stop()
	w.number++
	w.cancel, w.due = mailbox.SendAfter(ctx, wait, wakeUpDue{w.number}), due
}

// onWakeUpDue notes that the timer is over, unless another one was set meanwhile.
func (w *wakeUp) onWakeUpDue(m wakeUpDue) {
	if m.number == w.number {
		w.cancel = nil
	}
}

func (w *wakeUp) stop() {
	if w.cancel != nil {
		w.cancel()
		w.cancel = nil
	}
}
