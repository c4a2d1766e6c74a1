package webhook_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
)

// The endpoint accepts every second event at once and the others at their third attempt. Retries that are only in the
// store must be sent on time, also after a restart.
func TestRetriesInMemoryAreLimitedAndSentOnTime(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		const most, events = 16, 300
		s.cfg.MaxRetries, s.cfg.Window = most, 8
		at := make(map[string][]time.Duration)
		s.answer = func(a arrival) (int, time.Duration) {
			at[a.id] = append(at[a.id], a.at)
			if a.id[len(a.id)-1]%2 == 0 || a.attempt == "3" {
				return 200, 0
			}
			return 503, 0
		}
		s.startActor()
		var ids []string
		for i := range events {
			ids = append(ids, s.queueEvents(fmt.Sprint("call_", i))...)
			s.send(webhook.DeliveriesQueued{})
			advanceTime(10 * time.Millisecond)
		}
		s.killActor()
		s.startActor()
		advanceTime(time.Second)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: events / 2, domain.DeliveryRetrying: events / 2}, s.stateCounts())
		advanceTime(3 * time.Minute)
		assert.LessOrEqual(t, s.maxRetriesHeld.Load(), int64(most+32), "besides what is being stored")
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: events}, s.stateCounts())
		for i, id := range ids {
			if i%2 == 1 { // evt_000002, …
				assert.Len(t, at[id], 1, id)
				continue
			}
			if assert.Len(t, at[id], 3, id) {
				assert.Equal(t, []time.Duration{30 * time.Second, 2 * time.Minute}, []time.Duration{at[id][1] - at[id][0], at[id][2] - at[id][1]}, id)
			}
		}
		s.close()
	})
}
