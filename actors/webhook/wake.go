package webhook

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

func (e *endpoint) onWake(m wake) {
	if m.of == e && m.n == e.wakes {
		e.wakeAt = time.Time{}
	}
}

// lookAt is the earliest moment at which anything can happen by itself; zero:
// never.
func (e *endpoint) lookAt(now time.Time) (at time.Time) {
	if e.retryAt.After(now) {
		return e.retryAt
	}
	soonest := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if e.unsaved && !e.saving {
		soonest(e.statsAt)
	}
	soonest(e.again)
	if e.writing == nil {
		soonest(e.writeAt)
	}
	switch {
	case e.hook == nil:
		return at
	case !e.active():
		if e.hook.Status != domain.WebhookActive { // else it is only being disabled
			soonest(e.expireAt)
		}
		return at
	}
	if len(e.results) < maxResults && e.resent < oneKindMost && !e.wants[sendAgain] {
		soonest(e.q.nextDue())
	}
	if e.parked.After(now) {
		soonest(e.parked)
	}
	if e.held() && e.firsts == 0 && e.q.waits() && !e.wants[e.kind()] {
		soonest(e.probeAt)
	}
	return at
}

// arm sets the one wake-up.
func (e *endpoint) arm(ctx actor.Context, now time.Time) {
	at := e.lookAt(now)
	if at.Equal(e.wakeAt) {
		return
	}
	if e.cancelWake != nil {
		e.cancelWake()
		e.cancelWake = nil
	}
	e.wakeAt = at
	if at.IsZero() {
		return
	}
	e.wakes++
	e.cancelWake = mailbox.After(ctx, max(at.Sub(now), time.Microsecond), wake{of: e, n: e.wakes})
}

// storeFailed waits longer and longer before the store is asked again.
func (e *endpoint) storeFailed(what string, err error) {
	e.pause = min(max(2*e.pause, firstWait), longestWait)
	e.retryAt = time.Now().Add(e.pause)
	e.log.Warn("the store failed a webhook", slog.String("what", what), slog.Any("error", err), slog.Duration("again_in", e.pause))
}
