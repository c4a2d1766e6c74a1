package webhook

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

// endpointHealth is how an endpoint answers. After too many failures the endpoint is disabled.
type endpointHealth struct {
	failures      int // attempts in a row that failed
	failingSince  *time.Time
	deliveredAt   *time.Time
	lastOutcome   domain.DeliveryState
	disableReason string // the endpoint is to be disabled, until that is in the store

	unsaved bool // changes are not in the row yet
	saving  bool
	saveAt  time.Time // no earlier
}

// adopt takes over what a row says. A new URL, or a row that is active again, ends the failures.
func (h *endpointHealth) adopt(before, row *domain.Webhook) {
	switch {
	case before == nil:
		h.failures, h.failingSince, h.deliveredAt = row.FailureCount, row.FailingSince, row.LastDeliveryAt
	case row.URL != before.URL, row.Status == domain.WebhookActive && before.Status != domain.WebhookActive:
		h.failures, h.failingSince, h.disableReason, h.unsaved = 0, nil, "", true
	}
}

// failing says whether the last attempt failed.
func (h *endpointHealth) failing() bool { return h.failures > 0 }

// addSuccess notes a delivery. recovered: the attempt before it failed.
func (h *endpointHealth) addSuccess(row *domain.Delivery) (recovered bool) {
	recovered = h.lastOutcome != row.State && h.lastOutcome != ""
	h.failures, h.failingSince, h.deliveredAt = 0, nil, row.DeliveredAt
	h.lastOutcome, h.unsaved = row.State, true
	return recovered
}

// addFailure notes a failed attempt. disable is the reason to disable the endpoint; "": none.
func (h *endpointHealth) addFailure(row *domain.Delivery, now time.Time) (disable string) {
	if h.failures == 0 || h.failingSince == nil {
		h.failingSince = &now
	}
	h.failures++
	h.lastOutcome, h.unsaved = row.State, true
	return webhook.Disable(row.ResponseStatus, h.failures, now.Sub(*h.failingSince))
}

// startSaving says whether the row is to be written now: at a bounded rate, but at once to disable the endpoint.
func (h *endpointHealth) startSaving(now time.Time) bool {
	if h.saving || h.disableReason == "" && (!h.unsaved || h.saveAt.After(now)) {
		return false
	}
	h.unsaved, h.saving = false, true
	h.saveAt = now.Add(statsEvery)
	return true
}

// learn adapts health and concurrency to the result of an attempt.
func (e *endpoint) learn(row *domain.Delivery) {
	if row.State == domain.DeliveryDelivered {
		failures := e.health.failures
		if e.health.addSuccess(row) {
			e.log.Info("webhook endpoint answers again", slog.Int("failed_attempts", failures))
		}
		e.sends.grow(e.cfg.Concurrency)
		return
	}
	if !e.health.failing() {
		e.log.Warn("webhook delivery failed", slog.String("event_id", row.EventID),
			slog.Int("attempt", row.Attempts), slog.Int("status", row.ResponseStatus), slog.String("reason", row.Error))
	}
	if reason := e.health.addFailure(row, time.Now().UTC()); reason != "" && e.active() {
		e.health.disableReason = reason
	}
	e.sends.shrink()
}

// saveHealth writes the health into the endpoint's row. A list of endpoints may be some seconds late; deliveries do
// not wait for it.
func (e *endpoint) saveHealth(ctx actor.Context, now time.Time) {
	if e.hook == nil || !e.health.startSaving(now) {
		return
	}
	cfg, health, url := e.cfg, e.health, e.hook.URL
	e.work(ctx, workLimit, func(c context.Context) any {
		row := &domain.Webhook{Meta: domain.Meta{ID: cfg.ID, WorkspaceID: cfg.Workspace}}
		version, err := cfg.Store.Get(c, row)
		if err != nil {
			return saved{of: e, err: err}
		}
		row.FailureCount, row.FailingSince, row.LastDeliveryAt = health.failures, health.failingSince, health.deliveredAt
		change := commit.Change{
			Workspace: cfg.Workspace, Guards: []commit.Guard{{Key: row.Key(), Version: version}}, Puts: []domain.Record{row},
		}
		if health.disableReason != "" && row.Status == domain.WebhookActive && row.URL == url {
			disable(row, &change, health.disableReason, time.Now().UTC().Truncate(time.Millisecond))
		}
		_, err = cfg.Store.Apply(c, change)
		if health.disableReason == "" {
			return saved{of: e, err: err}
		}
		return saved{of: e, row: row, err: err}
	})
}

// disable disables an endpoint, with an event and an entry in the audit log.
func disable(w *domain.Webhook, c *commit.Change, why string, now time.Time) {
	w.Status, w.DisabledReason, w.DisabledAt, w.UpdatedAt = domain.WebhookDisabled, why, &now, now
	c.Puts = append(c.Puts, &domain.AuditEntry{
		Meta: domain.Meta{
			ID: mailbox.NewID(domain.PrefixAudit), Object: "audit_log", WorkspaceID: w.WorkspaceID, Environment: w.Environment, CreatedAt: now, UpdatedAt: now,
		},
		Type: "admin", Action: "webhook.disabled", Actor: domain.Actor{Type: "system", ID: "webhook"},
		Resource: domain.Resource{Type: "webhook", ID: w.ID}, Outcome: "success", Reason: why, Count: 1,
	})
	c.Events = append(c.Events, event.Draft{
		ID: mailbox.NewID(domain.PrefixEvent), Type: event.WebhookDisabled, CreatedAt: now, WorkspaceID: w.WorkspaceID, Environment: w.Environment,
		SvcID: domain.Unit(w.WorkspaceID), Subject: w.ID, Data: event.WebhookDisabledData{WebhookID: w.ID, URL: w.URL, Reason: why, At: now},
	})
}

func (e *endpoint) onSaved(ctx actor.Context, m saved) {
	if m.of != e {
		return
	}
	e.health.saving = false
	switch {
	case errors.Is(m.err, domain.ErrFenced):
		e.quit(ctx)
	case errors.Is(m.err, domain.ErrNotFound):
		e.reader.stale = e.health.disableReason != "" // the row is deleted, and Deleted comes
	case m.err != nil:
		e.health.unsaved = true // the row has changed in between, or the store failed
		if e.health.disableReason != "" && !errors.Is(m.err, domain.ErrConflict) {
			e.storeFailed("an endpoint could not be disabled", m.err)
		}
	case m.row != nil:
		e.onDisabled(m.row)
	}
}

// onDisabled goes on with the row as it is now: disabled, or changed by a request meanwhile.
func (e *endpoint) onDisabled(row *domain.Webhook) {
	e.health.disableReason = ""
	if e.hook, e.reader.stale = row, true; row.Status != domain.WebhookDisabled { // it may have changed since
		return
	}
	e.log.Error("webhook endpoint disabled", slog.String("reason", row.DisabledReason), slog.Int("failed_attempts", row.FailureCount))
	if e.cfg.OnCommitted != nil {
		e.cfg.OnCommitted()
	}
}
