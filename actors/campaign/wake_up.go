package campaign

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// wakeUp is the only timer of a campaign. It is set to the earliest time at which any action is due.
type wakeUp struct {
	cancel func()    // nil: no timer is set
	due    time.Time // when the timer expires
	number uint64    // number of the last timer; messages of earlier timers are ignored
}

// set sets the timer to at, or stops it if at is zero. A running timer that expires earlier stays, because most messages
// only postpone the next action.
func (w *wakeUp) set(ctx actor.Context, at, now time.Time) {
	if at.IsZero() {
		w.stop()
		return
	}
	wait := max(0, at.Sub(now))
	due := now.Add(wait) // now has a monotonic clock reading
	if w.cancel != nil && !due.Before(w.due) {
		return
	}
	w.stop()
	w.number++
	w.cancel, w.due = mailbox.SendAfter(ctx, wait, wakeUpDue{w.number}), due
}

// onWakeUpDue records that the timer has expired. It ignores the message of a timer that was replaced.
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
