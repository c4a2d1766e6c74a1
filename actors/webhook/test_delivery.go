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

// testRequest is a SendTestEvent message with the actor that gets the reply.
type testRequest struct {
	test   SendTestEvent
	sender *actor.PID
}

// testRequests holds the requests for test events of an endpoint. Each request gets one reply.
type testRequests struct {
	running int
	waiting []testRequest // requests that wait until the endpoint's row is read
}

func (t *testRequests) isFull() bool { return t.running+len(t.waiting) >= maxTests }

// takeWaiting removes and returns all test requests that wait for the endpoint's row.
func (t *testRequests) takeWaiting() []testRequest {
	waiting := t.waiting
	t.waiting = nil
	return waiting
}

// refuse replies with an error to all test requests that wait for the endpoint's row.
func (t *testRequests) refuse(ctx actor.Context, err *domain.Error) {
	for _, r := range t.takeWaiting() {
		ctx.Send(r.sender, err)
	}
}

// onTest sends a test event. If the endpoint's row has not been read yet, the request waits until it is.
func (e *endpoint) onTest(ctx actor.Context, r testRequest) {
	if r.sender == nil {
		return
	}
	name := r.test.EventType
	typ := event.WebhookTest
	if name != "" {
		var known bool
		if typ, known = event.ParseType(name); !known {
			err := domain.Errorf(domain.CodeValidation, "unknown event type")
			err.Param = "event_type"
			ctx.Send(r.sender, err)
			return
		}
	}
	switch {
	case e.stopped:
		ctx.Send(r.sender, domain.Errorf(domain.CodeNotFound, "there is no such webhook"))
	case e.tests.isFull():
		ctx.Send(r.sender, domain.Errorf(domain.CodeUnavailable, "%d tests of this endpoint are under way", maxTests).With("retry_after", 1))
	case e.webhook == nil:
		e.tests.waiting = append(e.tests.waiting, r)
	case !e.sends.slots.takeFree(e.firstKind()):
		ctx.Send(r.sender, domain.Errorf(domain.CodeUnavailable, "the limit of concurrent webhook requests is reached; try again").With("retry_after", 1))
	default:
		e.tests.running++
		e.sendTest(ctx, r.sender, typ, name)
	}
}

func (e *endpoint) startWaitingTests(ctx actor.Context) {
	for _, r := range e.tests.takeWaiting() {
		e.onTest(ctx, r)
	}
}

func (e *endpoint) sendTest(ctx actor.Context, to *actor.PID, typ event.Type, name string) {
	a, slots, k := attempt{cfg: e.cfg, webhook: e.webhook, signers: e.signers}, e.sends.slots, e.firstKind()
	if as, subscribed := event.MatchSubscription(e.webhook.Events, typ); subscribed && name == string(typ) {
		name = as // the alias, if the endpoint subscribes only to that
	}
	e.runTask(ctx, testTimeout, func(c context.Context) any {
		defer slots.giveBack(k)
		now := time.Now().UTC()
		ev := webhook.SampleEvent(typ, a.webhook, mailbox.NewID(domain.PrefixEvent), now)
		got := a.send(c, &ev, &domain.Delivery{EventType: name, Attempts: 1, FirstAttemptAt: &now}, now)
		delivered := webhook.EvaluateAttempt(1, got.Status, now, 1).State == domain.DeliveryDelivered
		if !delivered && got.Error == "" {
			got.Error = fmt.Sprintf("the endpoint answered %d", got.Status)
		}
		return testDone{endpoint: e, to: to, answer: TestResult{
			EventID: ev.ID, Delivered: delivered, ResponseStatus: got.Status, ResponseTimeMs: got.Duration.Milliseconds(), Error: got.Error,
		}}
	})
}

// onTestDone sends the result of a test event to the requester. It does so even if an earlier incarnation started the
// test, because the requester still waits.
func (e *endpoint) onTestDone(ctx actor.Context, m testDone) {
	if m.endpoint == e {
		e.tests.running--
	}
	ctx.Send(m.to, m.answer)
}
