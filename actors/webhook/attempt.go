package webhook

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/engines/tracing"
)

// attempt is one request with a delivery, as values: it runs outside of the actor.
type attempt struct {
	cfg     Config
	hook    *domain.Webhook
	row     *domain.Delivery
	event   *event.Event
	signers *webhook.Signers
}

// result is the row after an attempt; err: no attempt was made.
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

// send formats, signs and sends an event. A panic counts as a failed attempt.
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
	h := webhook.Attempt{TraceParent: tracing.FormatTraceParent(span), EventID: ev.ID, Number: row.Attempts, First: *row.FirstAttemptAt, At: at, Secret: secret, Next: next, Replay: row.Replay, Signers: a.signers}
	return a.cfg.Sender.Send(ctx, Request{URL: a.hook.URL, Header: h.Headers(body), Body: body})
}
