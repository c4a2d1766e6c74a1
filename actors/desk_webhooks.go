package actors

import (
	"context"
	"crypto/rand"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/hook"
)

// newSecret makes a signing secret.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hook.NewSecret(b)
}

// CreateWebhook keeps an endpoint, which receives every event committed after
// the answer.
func (d *Desk) CreateWebhook(ctx context.Context, p domain.Principal, w *domain.Webhook) (*domain.Webhook, error) {
	if made, err := madeBefore[domain.Webhook](ctx, d, p, domain.PrefixWebhook); made != nil || err != nil {
		return made, err
	}
	if err := d.node.checkURL(ctx, "url", w.URL); err != nil {
		return nil, err
	}
	if w.Secret == "" {
		w.Secret = newSecret()
	}
	w.SecretHint, w.Status = hook.Hint(w.Secret), domain.WebhookActive
	fill(&w.Meta, "webhook", p, newID(ctx, domain.PrefixWebhook), stamp())
	if err := create(ctx, d, w); err != nil {
		return nil, err
	}
	d.node.webhookChanged(ctx, w)
	return w, nil
}

// Webhook reads one endpoint.
func (d *Desk) Webhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error) {
	w, _, err := get[domain.Webhook](ctx, d, p, domain.PrefixWebhook, id)
	return w, err
}

// ListWebhooks reads a page.
func (d *Desk) ListWebhooks(ctx context.Context, p domain.Principal, q ask.WebhookQuery) (ask.List[*domain.Webhook], error) {
	index := envOf(p)
	if q.CampaignID != "" {
		index = "campaign=" + q.CampaignID
	}
	return list(ctx, d, p.WorkspaceID, index, domain.PrefixWebhook, q.Page, func(w *domain.Webhook) bool {
		return w.Environment == p.Environment
	})
}

// UpdateWebhook changes an endpoint.
func (d *Desk) UpdateWebhook(ctx context.Context, p domain.Principal, id string, change func(*domain.Webhook) error) (*domain.Webhook, error) {
	t, err := d.node.living(p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	t.changing.Lock()
	defer t.changing.Unlock()
	w, err := update(ctx, d, p, domain.PrefixWebhook, id, func(w *domain.Webhook) error {
		url := w.URL
		if failed := change(w); failed != nil {
			return failed
		}
		w.SecretHint = hook.Hint(w.Secret)
		if w.URL == url {
			return nil
		}
		return d.node.checkURL(ctx, "url", w.URL)
	})
	if err != nil {
		return nil, err
	}
	d.node.webhookChanged(ctx, w)
	return w, nil
}

// DeleteWebhook removes an endpoint and what is queued for it.
func (d *Desk) DeleteWebhook(ctx context.Context, p domain.Principal, id string) error {
	w, err := d.Webhook(ctx, p, id)
	if err != nil {
		return err
	}
	t, err := d.node.living(p.WorkspaceID)
	if err != nil {
		return err
	}
	t.changing.Lock()
	defer t.changing.Unlock()
	if err = remove[domain.Webhook](ctx, d, p, domain.PrefixWebhook, id); err != nil {
		return err
	}
	d.node.webhookDeleted(w)
	return nil
}

// PauseWebhook holds events back; they queue.
func (d *Desk) PauseWebhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error) {
	return d.setWebhook(ctx, p, id, domain.WebhookPaused)
}

// ResumeWebhook sends what has queued, in order.
func (d *Desk) ResumeWebhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error) {
	return d.setWebhook(ctx, p, id, domain.WebhookActive)
}

func (d *Desk) setWebhook(ctx context.Context, p domain.Principal, id string, to domain.WebhookStatus) (*domain.Webhook, error) {
	return d.UpdateWebhook(ctx, p, id, func(w *domain.Webhook) error { w.Status = to; return nil })
}

// WebhookLog reads a page of attempted deliveries, newest first.
func (d *Desk) WebhookLog(ctx context.Context, p domain.Principal, id string, q ask.Page) (ask.List[*domain.Delivery], error) {
	return d.deliveries(ctx, p, id, "log=", q)
}

// FailedDeliveries reads a page of deliveries that were given up.
func (d *Desk) FailedDeliveries(ctx context.Context, p domain.Principal, id string, q ask.Page) (ask.List[*domain.Delivery], error) {
	return d.deliveries(ctx, p, id, "failed=", q)
}

func (d *Desk) deliveries(ctx context.Context, p domain.Principal, id, index string, q ask.Page) (ask.List[*domain.Delivery], error) {
	w, err := d.Webhook(ctx, p, id)
	if err != nil {
		return ask.List[*domain.Delivery]{}, err
	}
	return list[domain.Delivery](ctx, d, p.WorkspaceID, index+w.ID, domain.PrefixDelivery, q, nil)
}

// TestWebhook makes one attempt and waits for its end.
func (d *Desk) TestWebhook(ctx context.Context, p domain.Principal, id string, t event.Type) (ask.TestResult, error) {
	w, err := d.Webhook(ctx, p, id)
	if err != nil {
		return ask.TestResult{}, err
	}
	got, err := mailbox.Ask[webhook.Tested](ctx, d.node.sys, d.node.webhookPID(w), webhook.Test{EventType: string(t)})
	return ask.TestResult(got), err
}
