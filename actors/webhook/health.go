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

// endpointHealth tracks whether an endpoint responds. After too many failures the endpoint is disabled.
type endpointHealth struct {
	failures      int // failed attempts in a row
	failingSince  *time.Time
	deliveredAt   *time.Time
	lastOutcome   domain.DeliveryState
	disableReason string // reason why the endpoint must be disabled; "": none

	unsaved bool // changes that are not in the row yet
	saving  bool
	saveAt  time.Time // earliest time of the next write
}

// adopt updates the health from the endpoint's row. before is the row as read earlier, or nil at the first read. A new
// URL or a reactivation resets the failures.
func (h *endpointHealth) adopt(before, row *domain.Webhook) {
	switch {
	case before == nil:
		h.failures, h.failingSince, h.deliveredAt = row.FailureCount, row.FailingSince, row.LastDeliveryAt
	case row.URL != before.URL, row.Status == domain.WebhookActive && before.Status != domain.WebhookActive:
		h.failures, h.failingSince, h.disableReason, h.unsaved = 0, nil, "", true
	}
}

// failing reports whether the last delivery attempt to the endpoint failed.
func (h *endpointHealth) failing() bool { return h.failures > 0 }

// addSuccess records a successful delivery. recovered reports whether the attempt before it failed.
func (h *endpointHealth) addSuccess(row *domain.Delivery) (recovered bool) {
	recovered = h.lastOutcome != row.State && h.lastOutcome != ""
	h.failures, h.failingSince, h.deliveredAt = 0, nil, row.DeliveredAt
	h.lastOutcome, h.unsaved = row.State, true
	return recovered
}

// addFailure records a failed attempt. It returns the reason to disable the endpoint. The reason is empty if the
// endpoint stays active.
func (h *endpointHealth) addFailure(row *domain.Delivery, now time.Time) (disable string) {
	if h.failures == 0 || h.failingSince == nil {
		h.failingSince = &now
	}
	h.failures++
	h.lastOutcome, h.unsaved = row.State, true
	return webhook.DisableReason(row.ResponseStatus, h.failures, now.Sub(*h.failingSince))
}

// startSaving reports whether the health must be written to the endpoint's row now, and records the write. It limits
// the rate of writes, but does not delay the disabling of the endpoint.
func (h *endpointHealth) startSaving(now time.Time) bool {
	if h.saving || h.disableReason == "" && (!h.unsaved || h.saveAt.After(now)) {
		return false
	}
	h.unsaved, h.saving = false, true
	h.saveAt = now.Add(healthSaveInterval)
	return true
}

// recordResult updates the health and the concurrency limit of the endpoint from the result of an attempt.
func (e *endpoint) recordResult(row *domain.Delivery) {
	if row.State == domain.DeliveryDelivered {
		failures := e.health.failures
		if e.health.addSuccess(row) {
			e.log.Info("webhook endpoint answers again", slog.Int("failed_attempts", failures))
		}
		e.sends.increaseLimit(e.cfg.Concurrency)
		return
	}
	if !e.health.failing() {
		e.log.Warn("webhook delivery failed", slog.String("event_id", row.EventID),
			slog.Int("attempt", row.Attempts), slog.Int("status", row.ResponseStatus), slog.String("reason", row.Error))
	}
	if reason := e.health.addFailure(row, time.Now().UTC()); reason != "" && e.isActive() {
		e.health.disableReason = reason
	}
	e.sends.halveLimit()
}

// saveHealth writes the health to the endpoint's row in the background. The row may be some seconds old, because
// deliveries do not wait for it.
func (e *endpoint) saveHealth(ctx actor.Context, now time.Time) {
	if e.webhook == nil || !e.health.startSaving(now) {
		return
	}
	cfg, health, url := e.cfg, e.health, e.webhook.URL
	e.runTask(ctx, storeTimeout, func(c context.Context) any {
		row := &domain.Webhook{Meta: domain.Meta{ID: cfg.ID, WorkspaceID: cfg.Workspace}}
		version, err := cfg.Store.Get(c, row)
		if err != nil {
			return healthSaved{endpoint: e, err: err}
		}
		row.FailureCount, row.FailingSince, row.LastDeliveryAt = health.failures, health.failingSince, health.deliveredAt
		change := commit.Change{
			Workspace: cfg.Workspace, Guards: []commit.Guard{{Key: row.Key(), Version: version}}, Puts: []domain.Record{row},
		}
		if health.disableReason != "" && row.Status == domain.WebhookActive && row.URL == url {
			disableEndpoint(row, &change, health.disableReason, time.Now().UTC().Truncate(time.Millisecond))
		}
		_, err = cfg.Store.Apply(c, change)
		if health.disableReason == "" {
			return healthSaved{endpoint: e, err: err}
		}
		return healthSaved{endpoint: e, row: row, err: err}
	})
}

// disableEndpoint disables an endpoint. It adds the event and the audit log entry to the commit of the change.
func disableEndpoint(w *domain.Webhook, c *commit.Change, why string, now time.Time) {
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
		SvcID: domain.UnitID(w.WorkspaceID), Subject: w.ID, Data: event.WebhookDisabledData{WebhookID: w.ID, URL: w.URL, Reason: why, At: now},
	})
}

func (e *endpoint) onHealthSaved(ctx actor.Context, m healthSaved) {
	if m.endpoint != e {
		return
	}
	e.health.saving = false
	switch {
	case errors.Is(m.err, domain.ErrFenced):
		e.stopForGood(ctx)
	case errors.Is(m.err, domain.ErrNotFound):
		e.reader.stale = e.health.disableReason != "" // the row was deleted; EndpointDeleted follows
	case m.err != nil:
		e.health.unsaved = true // the row was changed concurrently, or the store failed
		if e.health.disableReason != "" && !errors.Is(m.err, domain.ErrConflict) {
			e.storeFailed("an endpoint could not be disabled", m.err)
		}
	case m.row != nil:
		e.onDisabled(m.row)
	}
}

// onDisabled continues with the stored row after an attempt to disable the endpoint. A concurrent request may have
// changed the row, so that the endpoint is not disabled.
func (e *endpoint) onDisabled(row *domain.Webhook) {
	e.health.disableReason = ""
	if e.webhook, e.reader.stale = row, true; row.Status != domain.WebhookDisabled { // a request changed the row concurrently
		return
	}
	e.log.Error("webhook endpoint disabled", slog.String("reason", row.DisabledReason), slog.Int("failed_attempts", row.FailureCount))
	if e.cfg.OnCommitted != nil {
		e.cfg.OnCommitted()
	}
}
