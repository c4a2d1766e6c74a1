package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

// testRequest is a Test and its sender.
type testRequest struct {
	test SendTestEvent
	from *actor.PID
}

// testRequests are the tests of an endpoint; each gets one answer.
type testRequests struct {
	running int
	waiting []testRequest // for the endpoint's row
}

func (t *testRequests) full() bool { return t.running+len(t.waiting) >= maxTests }

// take takes out all that wait.
func (t *testRequests) take() []testRequest {
	waiting := t.waiting
	t.waiting = nil
	return waiting
}

// refuse answers all that wait with an error.
func (t *testRequests) refuse(ctx actor.Context, err *domain.Error) {
	for _, r := range t.take() {
		ctx.Send(r.from, err)
	}
}

// onTest starts a test, or keeps it until the endpoint's row is read.
func (e *endpoint) onTest(ctx actor.Context, r testRequest) {
	if r.from == nil {
		return
	}
	name := r.test.EventType
	typ := event.WebhookTest
	if name != "" {
		var known bool
		if typ, known = event.Canonical(name); !known {
			err := domain.Errorf(domain.CodeValidation, "this is not the name of an event")
			err.Param = "event_type"
			ctx.Send(r.from, err)
			return
		}
	}
	switch {
	case e.over:
		ctx.Send(r.from, domain.Errorf(domain.CodeNotFound, "there is no such webhook"))
	case e.tests.full():
		ctx.Send(r.from, domain.Errorf(domain.CodeUnavailable, "%d tests of this endpoint are under way", maxTests).With("retry_after", 1))
	case e.hook == nil:
		e.tests.waiting = append(e.tests.waiting, r)
	case !e.sends.slots.takeFree(e.firstKind()):
		ctx.Send(r.from, domain.Errorf(domain.CodeUnavailable, "as much is being sent as may be at once").With("retry_after", 1))
	default:
		e.tests.running++
		e.sendTest(ctx, r.from, typ, name)
	}
}

func (e *endpoint) startWaitingTests(ctx actor.Context) {
	for _, r := range e.tests.take() {
		e.onTest(ctx, r)
	}
}

func (e *endpoint) sendTest(ctx actor.Context, to *actor.PID, typ event.Type, name string) {
	a, slots, k := attempt{cfg: e.cfg, hook: e.hook, signers: e.signers}, e.sends.slots, e.firstKind()
	if as, subscribed := event.Match(e.hook.Events, typ); subscribed && name == string(typ) {
		name = as // the twin, where the endpoint knows only that
	}
	e.work(ctx, testLimit, func(c context.Context) any {
		defer slots.give(k)
		now := time.Now().UTC()
		ev := webhook.Sample(typ, a.hook, mailbox.NewID(domain.PrefixEvent), now)
		got := a.send(c, &ev, &domain.Delivery{EventType: name, Attempts: 1, FirstAttemptAt: &now}, now)
		delivered := webhook.After(1, got.Status, now, 1).State == domain.DeliveryDelivered
		if !delivered && got.Error == "" {
			got.Error = fmt.Sprintf("the endpoint answered %d", got.Status)
		}
		return tested{of: e, to: to, answer: TestResult{
			EventID: ev.ID, Delivered: delivered, ResponseStatus: got.Status, ResponseTimeMs: got.Duration.Milliseconds(), Error: got.Error,
		}}
	})
}

// onTested answers for an earlier incarnation as well: the sender still waits.
func (e *endpoint) onTested(ctx actor.Context, m tested) {
	if m.of == e {
		e.tests.running--
	}
	ctx.Send(m.to, m.answer)
}
