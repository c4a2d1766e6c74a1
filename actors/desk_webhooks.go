package actors

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	domainwebhook "github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/webhooks"
)

// CreateWebhook keeps an endpoint, which receives every event committed after
// the answer.
func (d *Desk) CreateWebhook(ctx context.Context, p domain.Principal, w *domain.Webhook) (*domain.Webhook, error) {
	if made, err := record.CreatedBySameRequest[domain.Webhook](ctx, d.store, p, domain.PrefixWebhook); made != nil || err != nil {
		if made != nil {
			d.node.WebhookChanged(ctx, made) // the time before may have been cut off in front of this
			shown := *made
			shown.FirstOffset = 0
			made = &shown
		}
		return made, err
	}
	if err := d.node.CheckURL(ctx, "url", w.URL); err != nil {
		return nil, err
	}
	if err := d.filtersFit(ctx, p, nil, w.Filters); err != nil {
		return nil, err
	}
	if w.Secret == "" {
		w.Secret = record.NewSigningSecret()
	}
	first, err := d.firstOffset(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	w.SecretHint, w.Status, w.FirstOffset = domainwebhook.Hint(w.Secret), domain.WebhookActive, first
	record.SetMeta(&w.Meta, "webhook", p, record.NewID(ctx, domain.PrefixWebhook), record.Now())
	w.CreatedBy = p.Creator()
	if err := record.Create(ctx, d.store, w); err != nil {
		return nil, err
	}
	d.node.WebhookChanged(ctx, w)
	shown := *w
	shown.FirstOffset = 0
	return &shown, nil
}

// filtersFit refuses filters that name an agent or a campaign which the
// workspace does not have: nothing would ever pass. What they named before may
// be gone since.
func (d *Desk) filtersFit(ctx context.Context, p domain.Principal, before, f *domain.EventFilters) error {
	if f == nil {
		return nil
	}
	if before == nil {
		before = &domain.EventFilters{}
	}
	var problems domain.Problems
	look := func(param, what string, ids, known []string, get func(id string) error) error {
		for i, id := range ids {
			if slices.Contains(known, id) {
				continue
			}
			switch err := get(id); {
			case domain.CodeOf(err) == domain.CodeNotFound:
				problems.Add(param+"["+strconv.Itoa(i)+"]", domain.CodeValidation, "there is no such %s", what)
			case err != nil:
				return err
			}
		}
		return nil
	}
	if err := look("filters.agent_ids", "agent", f.AgentIDs, before.AgentIDs, func(id string) error {
		_, err := d.Agent(ctx, p, id)
		return err
	}); err != nil {
		return err
	}
	if err := look("filters.campaign_ids", "campaign", f.CampaignIDs, before.CampaignIDs, func(id string) error {
		_, err := d.Campaign(ctx, p, id)
		return err
	}); err != nil {
		return err
	}
	return problems.Err()
}

// firstOffset is that of the first event that an endpoint made now is sent. It
// is no matter of time: clocks are set.
func (d *Desk) firstOffset(ctx context.Context, workspaceID string) (uint64, error) {
	last, err := d.store.LastOffset(ctx, workspaceID)
	return last + 1, record.StoreError(err)
}

// Webhook reads one endpoint.
func (d *Desk) Webhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error) {
	w, _, err := record.Get[domain.Webhook](ctx, d.store, p, domain.PrefixWebhook, id)
	if err == nil {
		w.Settle(time.Now())
	}
	return w, err
}

// ListWebhooks reads a page.
func (d *Desk) ListWebhooks(ctx context.Context, p domain.Principal, q webhooks.Query) (record.Page[*domain.Webhook], error) {
	index := record.EnvironmentIndex(p)
	if q.CampaignID != "" {
		index = "campaign=" + q.CampaignID
	}
	now := time.Now()
	return record.List(ctx, d.store, p.WorkspaceID, index, domain.PrefixWebhook, q.PageQuery, func(w *domain.Webhook) bool {
		w.Settle(now)
		_, subscribed := event.Match(w.Events, q.Event)
		return w.Environment == p.Environment && (q.Status == "" || w.Status == q.Status) && (q.Event == "" || subscribed)
	})
}

// UpdateWebhook changes an endpoint.
func (d *Desk) UpdateWebhook(ctx context.Context, p domain.Principal, id string, change func(*domain.Webhook) error) (*domain.Webhook, error) {
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	checked, err := d.checkChange(ctx, p, id, change) // which may take as long as a name server does
	if err != nil {
		return nil, err
	}
	t.changing.Lock()
	defer t.changing.Unlock()
	w, err := record.Update(ctx, d.store, p, domain.PrefixWebhook, id, func(w *domain.Webhook) error {
		w.Settle(time.Now())
		url, filters := w.URL, w.Filters
		if failed := change(w); failed != nil {
			return failed
		}
		if failed := d.filtersFit(ctx, p, filters, w.Filters); failed != nil {
			return failed
		}
		if w.URL == url || w.URL == checked {
			return nil
		}
		return d.node.CheckURL(ctx, "url", w.URL) // another change came in between
	})
	if err != nil {
		return nil, err
	}
	d.node.WebhookChanged(ctx, w)
	return w, nil
}

// checkChange answers the URL that a change gives an endpoint, once it may be
// sent to; "": it keeps its own.
func (d *Desk) checkChange(ctx context.Context, p domain.Principal, id string, change func(*domain.Webhook) error) (string, error) {
	w, err := d.Webhook(ctx, p, id)
	if err != nil {
		return "", err
	}
	url := w.URL
	if err = change(w); err != nil || w.URL == url {
		return "", err
	}
	return w.URL, d.node.CheckURL(ctx, "url", w.URL)
}

// DeleteWebhook removes an endpoint and what is queued for it.
func (d *Desk) DeleteWebhook(ctx context.Context, p domain.Principal, id string) error {
	w, err := d.Webhook(ctx, p, id)
	if err != nil {
		return err
	}
	if d.node == nil { // no service runs on the store
		return record.Delete[domain.Webhook](ctx, d.store, p, domain.PrefixWebhook, id)
	}
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return err
	}
	t.changing.Lock()
	defer t.changing.Unlock()
	if err = record.Delete[domain.Webhook](ctx, d.store, p, domain.PrefixWebhook, id); err != nil {
		return err
	}
	d.node.WebhookDeleted(w)
	return nil
}

// RotateWebhook lets another secret, made here where none is given, sign the
// deliveries; for some time those carry the signatures of both. The answer
// holds the secret.
func (d *Desk) RotateWebhook(
	ctx context.Context, p domain.Principal, id, secret string, overlap time.Duration, change func(*domain.Webhook) error,
) (*domain.Webhook, error) {
	if secret == "" {
		secret = record.NewSigningSecret()
	}
	var at time.Time
	if overlap > 0 {
		at = record.Now().Add(overlap)
	}
	w, err := d.UpdateWebhook(ctx, p, id, func(w *domain.Webhook) error {
		if err := change(w); err != nil {
			return err
		}
		w.Rotate(secret, domainwebhook.Hint(secret), at)
		return nil
	})
	if err != nil {
		return nil, err
	}
	shown := *w.Public()
	shown.Secret = secret
	return &shown, nil
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
	return d.UpdateWebhook(ctx, p, id, func(w *domain.Webhook) error {
		if to == domain.WebhookPaused {
			w.Pause(record.Now())
			return nil
		}
		w.Status = to
		w.Revive()
		return nil
	})
}

// WebhookLog reads a page of attempted deliveries, newest first.
func (d *Desk) WebhookLog(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.Delivery], error) {
	return d.deliveries(ctx, p, id, "log=", q)
}

// FailedDeliveries reads a page of deliveries that were given up.
func (d *Desk) FailedDeliveries(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.Delivery], error) {
	return d.deliveries(ctx, p, id, "failed=", q)
}

func (d *Desk) deliveries(ctx context.Context, p domain.Principal, id, index string, q record.PageQuery) (record.Page[*domain.Delivery], error) {
	w, err := d.Webhook(ctx, p, id)
	if err != nil {
		return record.Page[*domain.Delivery]{}, err
	}
	return record.List[domain.Delivery](ctx, d.store, p.WorkspaceID, index+w.ID, domain.PrefixDelivery, q, nil)
}

// TestWebhook makes one attempt and waits for its end.
func (d *Desk) TestWebhook(ctx context.Context, p domain.Principal, id string, t event.Type) (webhooks.TestResult, error) {
	w, err := d.Webhook(ctx, p, id)
	if err != nil {
		return webhooks.TestResult{}, err
	}
	if d.node.Quarantined() {
		return webhooks.TestResult{}, d.node.halts.refusal()
	}
	got, err := mailbox.Ask[webhook.Tested](ctx, d.node.sys, d.node.webhookPID(w), webhook.Test{EventType: string(t)})
	return webhooks.TestResult(got), err
}
