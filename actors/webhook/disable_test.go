package webhook_test

import (
	"errors"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	domainwebhook "github.com/callboard/callboard/domain/webhook"
)

// disableEvents returns the committed webhook.disabled events.
func (s *fixture) disableEvents() (found []event.Event) {
	all, err := s.store.Events(s.t.Context(), workspace, 0, 10_000)
	require.NoError(s.t, err)
	for _, e := range all {
		if e.Type == event.WebhookDisabled {
			found = append(found, e)
		}
	}
	return found
}

func (s *fixture) reactivate() {
	w := s.store.WebhookRow(workspace, endpoint)
	w.Status = domain.WebhookActive
	w.ClearFailures()
	s.store.Put(&w)
	s.send(webhook.EndpointChanged{})
}

func TestGoneEndpointIsDisabledAndKeepsItsDeliveries(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		committed, away := 0, 3
		s.cfg.OnCommitted = func() { committed++ }
		s.answer = func(arrival) (int, time.Duration) { return 410, 0 }
		s.store.FailOperation = func(operation string) error { // it is disabled once the store responds again
			if operation == "get" && len(s.requests()) > 0 && away > 0 {
				away--
				return errors.New("away")
			}
			return nil
		}
		s.startActor()
		advanceTime(time.Second)
		s.queueEvents("x")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(time.Minute)
		w := s.store.WebhookRow(workspace, endpoint)
		require.NotNil(t, w.DisabledAt)
		assert.Equal(t, []any{domain.WebhookDisabled, domainwebhook.ReasonGone, 1}, []any{w.Status, w.DisabledReason, w.FailureCount})
		disabled := s.disableEvents()
		require.Len(t, disabled, 1)
		assert.JSONEq(t, `{"webhook_id":"wh_1","url":"https://example.com/hook","reason":"gone","at":"`+w.DisabledAt.Format(domain.TimeFormat)+`"}`, string(disabled[0].Data))
		assert.Equal(t, 1, committed)
		missed := s.queueEvents("x", "y")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(time.Hour)
		assert.Len(t, s.requests(), 1, "nothing more is sent")
		s.killActor()
		s.startActor()
		advanceTime(time.Hour)
		assert.Len(t, s.requests(), 1, "nor after a restart")

		s.answer = func(arrival) (int, time.Duration) { return 200, 0 }
		s.reactivate()
		advanceTime(time.Minute)
		assert.ElementsMatch(t, missed, s.requestedEvents()[1:])
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1, domain.DeliveryDelivered: 2}, s.stateCounts())
		w = s.store.WebhookRow(workspace, endpoint)
		assert.Equal(t, []any{domain.WebhookActive, "", 0, true}, []any{w.Status, w.DisabledReason, w.FailureCount, w.FailingSince == nil})
		s.close()
	})
}

func TestEndpointIsDisabledAfterThreeDaysOfFailuresAcrossRestarts(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 503, 0 }
		s.startActor()
		for hours := range 71 {
			s.queueEvents("x")
			s.send(webhook.DeliveriesQueued{})
			advanceTime(time.Hour)
			if hours%10 == 0 {
				s.killActor()
				s.startActor()
			}
		}
		assert.Equal(t, domain.WebhookActive, s.store.WebhookRow(workspace, endpoint).Status)
		assert.Empty(t, s.disableEvents())
		s.answer = func(arrival) (int, time.Duration) { return 200, 0 } // one success restarts the three days
		s.queueEvents("y")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(time.Minute)
		s.answer = func(arrival) (int, time.Duration) { return 503, 0 }
		for range 71 {
			s.queueEvents("x")
			s.send(webhook.DeliveriesQueued{})
			advanceTime(time.Hour)
		}
		assert.Equal(t, domain.WebhookActive, s.store.WebhookRow(workspace, endpoint).Status)
		s.queueEvents("x", "x", "x")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(3 * time.Hour)
		w := s.store.WebhookRow(workspace, endpoint)
		assert.Equal(t, []any{domain.WebhookDisabled, domainwebhook.ReasonFailing}, []any{w.Status, w.DisabledReason})
		assert.Len(t, s.disableEvents(), 1)
		s.close()
	})
}

// A request changes the URL while the endpoint is being disabled. The endpoint must stay active, because the responses
// of the former URL do not count for the new one.
func TestURLChangeDuringDisablingKeepsEndpointActive(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		moved := false
		s.answer = func(arrival) (int, time.Duration) {
			if moved {
				return 200, 0
			}
			w := s.store.WebhookRow(workspace, endpoint)
			w.URL, moved = "https://example.com/new", true
			s.store.Put(&w)
			return 410, 0
		}
		s.startActor()
		s.queueEvents("x")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(time.Minute)
		s.send(webhook.EndpointChanged{})
		s.queueEvents("y")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(time.Minute)
		assert.Equal(t, domain.WebhookActive, s.store.WebhookRow(workspace, endpoint).Status)
		assert.Empty(t, s.disableEvents())
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1, domain.DeliveryDelivered: 1}, s.stateCounts())
		s.close()
	})
}

// The clock is set back an hour while the service is down. A retry that is due in two minutes must not wait an hour.
func TestRetryDelayIsKeptWhenClockIsSetBack(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		id := s.queueEvents("x")[0]
		row := s.store.DeliveryRows(endpoint)[id]
		due, first := time.Now().Add(time.Hour+time.Minute), time.Now().Add(time.Hour)
		row.State, row.Attempts, row.FirstAttemptAt, row.LastAttemptAt, row.DueAt = domain.DeliveryRetrying, 2, &first, &first, &due
		s.apply(commit.Change{Puts: []domain.Record{&row}})
		s.startActor()
		advanceTime(time.Hour)
		assert.Equal(t, []time.Duration{2 * time.Minute}, arrivalTimes(s.requests()))
		s.close()
	})
}

// A response from the former URL that arrives after a change of the URL must not count for the new URL.
func TestLateResponseOfFormerURLIsIgnored(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.answer = func(a arrival) (int, time.Duration) {
			if a.url == "https://example.com/new" {
				return 200, 0
			}
			return 410, 10 * time.Second
		}
		s.startActor()
		s.queueEvents("x")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(time.Second)
		w := s.store.WebhookRow(workspace, endpoint)
		w.URL = "https://example.com/new"
		s.store.Put(&w)
		s.send(webhook.EndpointChanged{})
		advanceTime(time.Minute)
		s.queueEvents("y")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(time.Minute)
		w = s.store.WebhookRow(workspace, endpoint)
		assert.Equal(t, []any{domain.WebhookActive, 0}, []any{w.Status, w.FailureCount})
		assert.Empty(t, s.disableEvents())
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1, domain.DeliveryDelivered: 1}, s.stateCounts())
		s.close()
	})
}

// Deliveries of a disabled or paused endpoint must expire 72 hours after it was disabled or paused.
func TestQueuedDeliveriesExpire72HoursAfterPause(t *testing.T) {
	for _, status := range []domain.WebhookStatus{domain.WebhookPaused, domain.WebhookDisabled} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := newFixture(t, sys)
			s.queueEvents("old")
			advanceTime(70 * time.Hour) // the service is down
			w := s.store.WebhookRow(workspace, endpoint)
			now := time.Now().UTC()
			if status == domain.WebhookPaused {
				w.Pause(now)
			} else {
				w.Status, w.DisabledReason, w.DisabledAt = status, domainwebhook.ReasonFailing, &now
			}
			s.store.Put(&w)
			s.startActor()
			advanceTime(71 * time.Hour)
			s.killActor()
			s.startActor()
			s.queueEvents("new")
			s.send(webhook.DeliveriesQueued{})
			advanceTime(45 * time.Minute)
			assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryQueued: 2}, s.stateCounts(), status)
			advanceTime(time.Hour)
			assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1, domain.DeliveryQueued: 1}, s.stateCounts(), status)
			advanceTime(72 * time.Hour)
			assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 2}, s.stateCounts(), status)
			s.close()
		})
	}
}
