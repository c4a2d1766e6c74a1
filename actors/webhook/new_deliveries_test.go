package webhook_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// The ID of a replayed delivery comes from another clock. A delivery that the outbox commits at that moment may sort
// before it. The endpoint must still send that delivery.
func TestDeliveryQueuedDuringReplayIsNotSkipped(t *testing.T) {
	for name, c := range map[string]struct {
		tell   func(late domain.Delivery, s *fixture) any
		within time.Duration
	}{
		"not handed over": {func(domain.Delivery, *fixture) any { return webhook.DeliveriesQueued{} }, time.Minute},
		"handed over": {func(late domain.Delivery, s *fixture) any {
			got, err := s.store.Events(s.t.Context(), workspace, late.EventOffset-1, 1)
			require.NoError(s.t, err)
			return webhook.NewDeliveries{After: "dlv_000000", Items: []webhook.QueuedDelivery{{Row: &late, Event: &got[0]}}}
		}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := newFixture(t, sys)
				ids := s.queueEvents("a", "b")
				rows := s.store.DeliveryRows(endpoint)
				late, replayed := rows[ids[0]], rows[ids[1]]
				replayed.Replay = true
				s.apply(commit.Change{Puts: []domain.Record{&replayed}, Deletes: []domain.Key{late.Key()}})
				s.startActor()
				s.send(webhook.EndpointChanged{})
				advanceTime(time.Second)
				require.Equal(t, ids[1:], s.requestedEvents())
				s.apply(commit.Change{Puts: []domain.Record{&late}})
				s.send(c.tell(late, s))
				advanceTime(c.within)
				assert.Equal(t, []string{ids[1], ids[0]}, s.requestedEvents())
				s.close()
			})
		})
	}
}

func TestNewDeliveriesAreSentWithoutReadUnlessGapped(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		lists := 0
		s.store.FailOperation = func(what string) error {
			if what == "list" {
				lists++
			}
			return nil
		}
		fresh := func(after int, ids ...string) webhook.NewDeliveries {
			m := webhook.NewDeliveries{After: fmt.Sprintf("dlv_%06d", after)}
			rows := s.store.DeliveryRows(endpoint)
			for _, id := range ids {
				row := rows[id]
				got, err := s.store.Events(t.Context(), workspace, row.EventOffset-1, 1)
				require.NoError(t, err)
				m.Items = append(m.Items, webhook.QueuedDelivery{Row: &row, Event: &got[0]})
			}
			return m
		}
		ids := s.queueEvents("a")
		s.startActor()
		advanceTime(time.Second)
		before := lists
		ids = append(ids, s.queueEvents("b", "c")...)
		s.send(fresh(1, ids[1:]...))
		advanceTime(time.Second)
		assert.ElementsMatch(t, ids, s.requestedEvents())
		assert.Equal(t, before, lists, "nothing is read")

		ids = append(ids, s.queueEvents("d", "e")...)
		s.send(fresh(4, ids[4:]...)) // the delivery of d was not handed over
		advanceTime(time.Second)
		assert.ElementsMatch(t, ids, s.requestedEvents())
		assert.Greater(t, lists, before)

		s.setStatus(domain.WebhookPaused)
		s.send(webhook.EndpointChanged{})
		advanceTime(time.Second)
		many := s.queueEvents(make([]string, 300)...)
		s.send(fresh(5, many...)) // more than fits into memory
		more := s.queueEvents("f")
		s.send(fresh(305, more...))
		s.setStatus(domain.WebhookActive)
		s.send(webhook.EndpointChanged{})
		advanceTime(10 * time.Second)
		assert.ElementsMatch(t, slices.Concat(ids, many, more), s.requestedEvents())
		s.close()
	})
}
