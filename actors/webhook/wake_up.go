package webhook

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

// wakeUp is the timer of an endpoint. An endpoint has only one timer.
type wakeUp struct {
	at     time.Time // time of the timer; zero: no timer is set
	cancel func()
	number int // number of the last timer; messages of earlier timers are ignored
}

// set replaces the timer by one that fires at the time at. If at is zero, no timer runs.
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
	w.cancel = mailbox.SendAfter(ctx, max(at.Sub(now), time.Microsecond), wakeUpDue{endpoint: of, number: w.number})
}

func (w *wakeUp) stop() {
	if w.cancel != nil {
		w.cancel()
		w.cancel = nil
	}
}

func (e *endpoint) onWakeUp(m wakeUpDue) {
	if m.endpoint == e && m.number == e.wakeUp.number {
		e.wakeUp.at = time.Time{}
	}
}

// nextWakeUp returns the earliest time at which the endpoint has work to do without receiving a message. It is zero if
// there is no such time.
func (e *endpoint) nextWakeUp(now time.Time) (at time.Time) {
	if e.backoff.isActive(now) {
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
	soonest(e.reader.rereadAt)
	if e.results.writing == nil {
		soonest(e.results.writeAt)
	}
	switch {
	case e.webhook == nil:
		return at
	case !e.isActive():
		if e.webhook.Status != domain.WebhookActive { // otherwise the endpoint is about to be disabled
			soonest(e.expireAt)
		}
		return at
	}
	if !e.results.isFull() && e.sends.retries < maxPerKind && !e.sends.waiting[sendRetry] {
		soonest(e.queue.nextDue())
	}
	if e.queue.parkedUntil.After(now) {
		soonest(e.queue.parkedUntil)
	}
	if e.areFirstsHeld() && e.sends.firsts == 0 && e.queue.hasFirstAttempt() && !e.sends.waiting[e.firstKind()] {
		soonest(e.sends.probeAt)
	}
	return at
}
