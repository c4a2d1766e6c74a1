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
	"github.com/callboard/callboard/engines/tracing"
)

// attempt is one sending, as values: it runs beside the actor.
type attempt struct {
	cfg   Config
	hook  *domain.Webhook
	row   *domain.Delivery
	event *event.Event
	signs *webhook.Signers
}

// result is the row after an attempt; err tells that none was made.
type result struct {
	row *domain.Delivery
	err error
}

func (a attempt) run(ctx context.Context) result {
	ev := a.event
	if ev == nil {
		read, cancel := context.WithTimeout(ctx, workLimit)
		got, err := a.cfg.Store.Events(read, a.cfg.Workspace, max(a.row.EventOffset, 1)-1, 1)
		cancel()
		if err != nil {
			return result{err: err}
		}
		if len(got) == 0 || got[0].ID != a.row.EventID {
			row := *a.row
			row.State, row.DueAt, row.Error = domain.DeliveryFailed, nil, "the event is no longer kept"
			return result{row: &row}
		}
		ev = &got[0]
	}
	row := *a.row
	row.Attempts++
	row.TraceParent = ev.TraceParent()
	start := time.Now().UTC()
	if row.FirstAttemptAt == nil {
		row.FirstAttemptAt = &start
	}
	row.LastAttemptAt = &start
	answer := a.send(ctx, ev, &row, start)
	if ctx.Err() != nil && answer.Status == 0 {
		return result{err: ctx.Err()} // the actor ends: its next incarnation sends again
	}
	ended := time.Now().UTC()
	verdict := webhook.After(row.Attempts, answer.Status, ended, retryTimeFactor(a.cfg, a.hook))
	row.State, row.DueAt, row.DeliveredAt = verdict.State, nil, nil
	row.ResponseStatus, row.ResponseTimeMs, row.Error = answer.Status, answer.Took.Milliseconds(), answer.Error
	switch verdict.State {
	case domain.DeliveryDelivered:
		row.DeliveredAt, row.Error = &ended, ""
	case domain.DeliveryRetrying:
		row.DueAt = &verdict.DueAt
	case domain.DeliveryQueued, domain.DeliveryFailed:
	}
	return result{row: &row}
}

// retryTimeFactor divides the delays before the retries of an endpoint.
func retryTimeFactor(cfg Config, w *domain.Webhook) int { return max(cfg.Hurry, w.TimeFactor()) }

// send renders, signs and sends. A panic on the way is a failed attempt.
func (a attempt) send(ctx context.Context, ev *event.Event, row *domain.Delivery, at time.Time) (answer Answer) {
	defer func() {
		if v := recover(); v != nil {
			answer = Answer{Error: "the service failed to send"}
		}
	}()
	body, err := webhook.Body(*ev, row.EventType)
	if err != nil {
		return Answer{Error: "the event could not be written as JSON"}
	}
	secret, next := a.hook.Secrets(at)
	_, span := a.cfg.TraceContexts.Delivery(row)
	h := webhook.Attempt{TraceParent: tracing.FormatTraceParent(span), EventID: ev.ID, Number: row.Attempts, First: *row.FirstAttemptAt, At: at, Secret: secret, Next: next, Replay: row.Replay, Signers: a.signs}
	return a.cfg.Sender.Send(ctx, Request{URL: a.hook.URL, Header: h.Headers(body), Body: body})
}

// ask starts a test, or keeps it until the endpoint's row is read.
func (e *endpoint) ask(ctx actor.Context, q question) {
	if q.from == nil {
		return
	}
	name := q.test.EventType
	typ := event.WebhookTest
	if name != "" {
		var known bool
		if typ, known = event.Canonical(name); !known {
			err := domain.Errorf(domain.CodeValidation, "this is not the name of an event")
			err.Param = "event_type"
			ctx.Send(q.from, err)
			return
		}
	}
	switch {
	case e.over:
		ctx.Send(q.from, domain.Errorf(domain.CodeNotFound, "there is no such webhook"))
	case e.tests+len(e.asked) >= maxTests:
		ctx.Send(q.from, domain.Errorf(domain.CodeUnavailable, "%d tests of this endpoint are under way", maxTests).With("retry_after", 1))
	case e.hook == nil:
		e.asked = append(e.asked, q)
	case !e.slots.try(e.kind()):
		ctx.Send(q.from, domain.Errorf(domain.CodeUnavailable, "as much is being sent as may be at once").With("retry_after", 1))
	default:
		e.tests++
		e.try(ctx, q.from, typ, name)
	}
}

func (e *endpoint) answerQuestions(ctx actor.Context) {
	asked := e.asked
	e.asked = nil
	for _, q := range asked {
		e.ask(ctx, q)
	}
}

func (e *endpoint) try(ctx actor.Context, to *actor.PID, typ event.Type, name string) {
	a, slots, k := attempt{cfg: e.cfg, hook: e.hook, signs: e.signs}, e.slots, e.kind()
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
		return tested{of: e, to: to, answer: Tested{
			EventID: ev.ID, Delivered: delivered, ResponseStatus: got.Status, ResponseTimeMs: got.Took.Milliseconds(), Error: got.Error,
		}}
	})
}

// onTested answers even for an earlier incarnation: whoever asked still waits.
func (e *endpoint) onTested(ctx actor.Context, m tested) {
	if m.of == e {
		e.tests--
	}
	ctx.Send(m.to, m.answer)
}
