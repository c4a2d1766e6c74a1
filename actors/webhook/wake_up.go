package webhook

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

// wakeUp is the one timer of an endpoint.
type wakeUp struct {
	at     time.Time // zero: no timer is set
	cancel func()
	number int // of the last timer; messages of earlier timers are ignored
}

// set sets the timer; zero: none.
func (w *wakeUp) set(ctx actor.Context, at, now time.Time, of *endpoint) {
	if at.Equal(w.at) {
		return
	}
	w.stop()
	w.at = at
	if at.IsZero() {
		return
	}
	w.number++
	w.cancel = mailbox.SendAfter(ctx, max(at.Sub(now), time.Microsecond), wakeUpDue{of: of, number: w.number})
}

func (w *wakeUp) stop() {
	if w.cancel != nil {
		w.cancel()
		w.cancel = nil
	}
}

func (e *endpoint) onWakeUp(m wakeUpDue) {
	if m.of == e && m.number == e.wakeUp.number {
		e.wakeUp.at = time.Time{}
	}
}

// nextWakeUp is the earliest time at which anything can happen by itself; zero: never.
func (e *endpoint) nextWakeUp(now time.Time) (at time.Time) {
	if e.backoff.active(now) {
		return e.backoff.until
	}
	soonest := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if e.health.unsaved && !e.health.saving {
		soonest(e.health.saveAt)
	}
	soonest(e.reader.readAt)
	if e.results.writing == nil {
		soonest(e.results.writeAt)
	}
	switch {
	case e.hook == nil:
		return at
	case !e.active():
		if e.hook.Status != domain.WebhookActive { // otherwise it is only being disabled
			soonest(e.expireAt)
		}
		return at
	}
	if !e.results.full() && e.sends.retries < oneKindMost && !e.sends.waiting[sendAgain] {
		soonest(e.queue.nextDue())
	}
	if e.queue.parkedUntil.After(now) {
		soonest(e.queue.parkedUntil)
	}
	if e.firstsHeld() && e.sends.firsts == 0 && e.queue.hasFirst() && !e.sends.waiting[e.firstKind()] {
		soonest(e.sends.probeAt)
	}
	return at
}
