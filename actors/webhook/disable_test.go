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

// told are the events that say that the endpoint was disabled.
func (s *stage) told() (found []event.Event) {
	all, err := s.store.Events(s.t.Context(), workspace, 0, 10_000)
	require.NoError(s.t, err)
	for _, e := range all {
		if e.Type == event.WebhookDisabled {
			found = append(found, e)
		}
	}
	return found
}

func (s *stage) resume() {
	w := s.store.WebhookRow(workspace, endpoint)
	w.Status = domain.WebhookActive
	w.ClearFailures()
	s.store.Put(&w)
	s.tell(webhook.EndpointChanged{})
}

func TestAnEndpointThatIsGoneIsDisabledLoudlyAndKeepsWhatItMissed(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		committed, away := 0, 3
		s.cfg.OnCommitted = func() { committed++ }
		s.answer = func(arrival) (int, time.Duration) { return 410, 0 }
		s.store.FailOperation = func(operation string) error { // it is disabled as soon as the store lets it
			if operation == "get" && len(s.seen()) > 0 && away > 0 {
				away--
				return errors.New("away")
			}
			return nil
		}
		s.run()
		pass(time.Second)
		s.queue("x")
		s.tell(webhook.DeliveriesQueued{})
		pass(time.Minute)
		w := s.store.WebhookRow(workspace, endpoint)
		require.NotNil(t, w.DisabledAt)
		assert.Equal(t, []any{domain.WebhookDisabled, domainwebhook.ReasonGone, 1}, []any{w.Status, w.DisabledReason, w.FailureCount})
		told := s.told()
		require.Len(t, told, 1)
		assert.JSONEq(t, `{"webhook_id":"wh_1","url":"https://example.com/hook","reason":"gone","at":"`+w.DisabledAt.Format(domain.TimeFormat)+`"}`, string(told[0].Data))
		assert.Equal(t, 1, committed)
		missed := s.queue("x", "y")
		s.tell(webhook.DeliveriesQueued{})
		pass(time.Hour)
		assert.Len(t, s.seen(), 1, "nothing more is sent")
		s.kill()
		s.run()
		pass(time.Hour)
		assert.Len(t, s.seen(), 1, "nor after a restart")

		s.answer = func(arrival) (int, time.Duration) { return 200, 0 }
		s.resume()
		pass(time.Minute)
		assert.ElementsMatch(t, missed, s.ids()[1:])
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1, domain.DeliveryDelivered: 2}, s.states())
		w = s.store.WebhookRow(workspace, endpoint)
		assert.Equal(t, []any{domain.WebhookActive, "", 0, true}, []any{w.Status, w.DisabledReason, w.FailureCount, w.FailingSince == nil})
		s.end()
	})
}

func TestAnEndpointIsDisabledAfterThreeDaysWithoutASuccessAlsoAcrossRestarts(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 503, 0 }
		s.run()
		for hours := range 71 {
			s.queue("x")
			s.tell(webhook.DeliveriesQueued{})
			pass(time.Hour)
			if hours%10 == 0 {
				s.kill()
				s.run()
			}
		}
		assert.Equal(t, domain.WebhookActive, s.store.WebhookRow(workspace, endpoint).Status)
		assert.Empty(t, s.told())
		s.answer = func(arrival) (int, time.Duration) { return 200, 0 } // one success begins the days anew
		s.queue("y")
		s.tell(webhook.DeliveriesQueued{})
		pass(time.Minute)
		s.answer = func(arrival) (int, time.Duration) { return 503, 0 }
		for range 71 {
			s.queue("x")
			s.tell(webhook.DeliveriesQueued{})
			pass(time.Hour)
		}
		assert.Equal(t, domain.WebhookActive, s.store.WebhookRow(workspace, endpoint).Status)
		s.queue("x", "x", "x")
		s.tell(webhook.DeliveriesQueued{})
		pass(3 * time.Hour)
		w := s.store.WebhookRow(workspace, endpoint)
		assert.Equal(t, []any{domain.WebhookDisabled, domainwebhook.ReasonFailing}, []any{w.Status, w.DisabledReason})
		assert.Len(t, s.told(), 1)
		s.end()
	})
}

// Somebody gives the endpoint another address while it is being disabled: what
// the old one answered says nothing of that.
func TestAnEndpointThatMovesWhileItIsDisabledGoesOn(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
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
		s.run()
		s.queue("x")
		s.tell(webhook.DeliveriesQueued{})
		pass(time.Minute)
		s.tell(webhook.EndpointChanged{})
		s.queue("y")
		s.tell(webhook.DeliveriesQueued{})
		pass(time.Minute)
		assert.Equal(t, domain.WebhookActive, s.store.WebhookRow(workspace, endpoint).Status)
		assert.Empty(t, s.told())
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1, domain.DeliveryDelivered: 1}, s.states())
		s.end()
	})
}

// The clock was set back an hour while the service was down: what was to be sent
// again within two minutes is, and not in an hour.
func TestARetryIsNeverLaterThanItsDelayWhateverTheClockSaid(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		id := s.queue("x")[0]
		row := s.store.DeliveryRows(endpoint)[id]
		due, first := time.Now().Add(time.Hour+time.Minute), time.Now().Add(time.Hour)
		row.State, row.Attempts, row.FirstAttemptAt, row.LastAttemptAt, row.DueAt = domain.DeliveryRetrying, 2, &first, &first, &due
		s.apply(commit.Change{Puts: []domain.Record{&row}})
		s.run()
		pass(time.Hour)
		assert.Equal(t, []time.Duration{2 * time.Minute}, times(s.seen()))
		s.end()
	})
}

// What the address before answers late says nothing of the one that is served
// now.
func TestALateAnswerOfTheAddressBeforeEndsNothing(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.answer = func(a arrival) (int, time.Duration) {
			if a.url == "https://example.com/new" {
				return 200, 0
			}
			return 410, 10 * time.Second
		}
		s.run()
		s.queue("x")
		s.tell(webhook.DeliveriesQueued{})
		pass(time.Second)
		w := s.store.WebhookRow(workspace, endpoint)
		w.URL = "https://example.com/new"
		s.store.Put(&w)
		s.tell(webhook.EndpointChanged{})
		pass(time.Minute)
		s.queue("y")
		s.tell(webhook.DeliveriesQueued{})
		pass(time.Minute)
		w = s.store.WebhookRow(workspace, endpoint)
		assert.Equal(t, []any{domain.WebhookActive, 0}, []any{w.Status, w.FailureCount})
		assert.Empty(t, s.told())
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1, domain.DeliveryDelivered: 1}, s.states())
		s.end()
	})
}

// What waits when an endpoint is disabled or paused has 72 hours from then on.
func TestWhatWaitsBeforeAPauseHasAsLongAsWhatComesInIt(t *testing.T) {
	for _, status := range []domain.WebhookStatus{domain.WebhookPaused, domain.WebhookDisabled} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := newStage(t, sys)
			s.queue("old")
			pass(70 * time.Hour) // the service was down
			w := s.store.WebhookRow(workspace, endpoint)
			now := time.Now().UTC()
			if status == domain.WebhookPaused {
				w.Pause(now)
			} else {
				w.Status, w.DisabledReason, w.DisabledAt = status, domainwebhook.ReasonFailing, &now
			}
			s.store.Put(&w)
			s.run()
			pass(71 * time.Hour)
			s.kill()
			s.run()
			s.queue("new")
			s.tell(webhook.DeliveriesQueued{})
			pass(45 * time.Minute)
			assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryQueued: 2}, s.states(), status)
			pass(time.Hour)
			assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1, domain.DeliveryQueued: 1}, s.states(), status)
			pass(72 * time.Hour)
			assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 2}, s.states(), status)
			s.end()
		})
	}
}
