package campaign

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// wakeUp is the one timer of a campaign. It is set to the earliest time at which something is due.
type wakeUp struct {
	cancel func()    // nil: no timer is set
	due    time.Time // when the timer expires
	number uint64    // number of the last timer; messages of earlier timers are ignored
}

// set sets the timer to at; zero: no timer. A timer that expires earlier stays, because most messages only move the
// time later.
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

// onWakeUpDue records that the timer has expired, unless a later timer was set.
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
