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

// A replay's row has an id of its own clock: what the outbox was committing at
// that moment may stand in front of it.
func TestWhatWasQueuedBesideAReplayIsNotPassedOver(t *testing.T) {
	for name, c := range map[string]struct {
		tell   func(late domain.Delivery, s *stage) any
		within time.Duration
	}{
		"nobody hands it over": {func(domain.Delivery, *stage) any { return webhook.DeliveriesQueued{} }, time.Minute},
		"handed over": {func(late domain.Delivery, s *stage) any {
			got, err := s.store.Events(s.t.Context(), workspace, late.EventOffset-1, 1)
			require.NoError(s.t, err)
			return webhook.NewDeliveries{After: "dlv_000000", Items: []webhook.QueuedDelivery{{Row: &late, Event: &got[0]}}}
		}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := newStage(t, sys)
				ids := s.queue("a", "b")
				rows := s.store.DeliveryRows(endpoint)
				late, replayed := rows[ids[0]], rows[ids[1]]
				replayed.Replay = true
				s.apply(commit.Change{Puts: []domain.Record{&replayed}, Deletes: []domain.Key{late.Key()}})
				s.run()
				s.tell(webhook.EndpointChanged{})
				pass(time.Second)
				require.Equal(t, ids[1:], s.ids())
				s.apply(commit.Change{Puts: []domain.Record{&late}})
				s.tell(c.tell(late, s))
				pass(c.within)
				assert.Equal(t, []string{ids[1], ids[0]}, s.ids())
				s.end()
			})
		})
	}
}

func TestWhatIsHandedOverIsSentUnreadAndWhatStandsInBetweenIsRead(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
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
		ids := s.queue("a")
		s.run()
		pass(time.Second)
		before := lists
		ids = append(ids, s.queue("b", "c")...)
		s.tell(fresh(1, ids[1:]...))
		pass(time.Second)
		assert.ElementsMatch(t, ids, s.ids())
		assert.Equal(t, before, lists, "nothing is read")

		ids = append(ids, s.queue("d", "e")...)
		s.tell(fresh(4, ids[4:]...)) // nobody told of d
		pass(time.Second)
		assert.ElementsMatch(t, ids, s.ids())
		assert.Greater(t, lists, before)

		s.setStatus(domain.WebhookPaused)
		s.tell(webhook.EndpointChanged{})
		pass(time.Second)
		many := s.queue(make([]string, 300)...)
		s.tell(fresh(5, many...)) // more than it has room for
		more := s.queue("f")
		s.tell(fresh(305, more...))
		s.setStatus(domain.WebhookActive)
		s.tell(webhook.EndpointChanged{})
		pass(10 * time.Second)
		assert.ElementsMatch(t, slices.Concat(ids, many, more), s.ids())
		s.end()
	})
}
