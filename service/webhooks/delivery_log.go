package webhooks

import (
	"context"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// WebhookLog returns a page of an endpoint's deliveries that were attempted at least once, newest first.
func (s *Service) WebhookLog(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.Delivery], error) {
	return s.deliveries(ctx, p, id, "log=", q)
}

// FailedDeliveries returns a page of the deliveries whose last retry failed.
func (s *Service) FailedDeliveries(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.Delivery], error) {
	return s.deliveries(ctx, p, id, "failed=", q)
}

func (s *Service) deliveries(ctx context.Context, p domain.Principal, id, index string, q record.PageQuery) (record.Page[*domain.Delivery], error) {
	w, err := s.Webhook(ctx, p, id)
	if err != nil {
		return record.Page[*domain.Delivery]{}, err
	}
	return record.List[domain.Delivery](ctx, s.store, p.WorkspaceID, index+w.ID, domain.PrefixDelivery, q, nil)
}

// TestWebhook sends one test event to an endpoint and waits for the response.
func (s *Service) TestWebhook(ctx context.Context, p domain.Principal, id string, t event.Type) (TestResult, error) {
	w, err := s.Webhook(ctx, p, id)
	if err != nil {
		return TestResult{}, err
	}
	if err = s.quarantineError(); err != nil {
		return TestResult{}, err
	}
	tested, err := mailbox.Ask[webhook.TestResult](ctx, s.system, s.actors.WebhookPID(w), webhook.SendTestEvent{EventType: string(t)})
	return TestResult(tested), err
}
