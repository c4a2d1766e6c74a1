package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
)

func TestStoreOutageLosesNoDelivery(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		var away atomic.Bool
		ids := s.queueEvents("a", "b", "c")
		s.answer = func(arrival) (int, time.Duration) { return 200, time.Second }
		s.store.FailOperation = func(string) error {
			if away.Load() {
				return errors.New("away")
			}
			return nil
		}
		away.Store(true)
		s.startActor()
		advanceTime(20 * time.Second)
		away.Store(false)
		advanceTime(6 * time.Second)
		assert.Len(t, s.requests(), 3)
		more := s.queueEvents("a", "b")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(500 * time.Millisecond)
		away.Store(true) // the store fails while two requests are running
		advanceTime(time.Minute)
		assert.Equal(t, 2, s.stateCounts()[domain.DeliveryQueued])
		away.Store(false)
		advanceTime(10 * time.Second)
		got := s.requestedEvents()
		slices.Sort(got)
		assert.Equal(t, append(ids, more...), got)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 5}, s.stateCounts())
		s.close()
	})
}

func TestUncertainCommitIsRepeated(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.queueEvents("a", "b", "c")
		n := 0
		s.store.AfterApply = func() error {
			if n++; n%2 == 1 {
				return errors.New("the answer was lost")
			}
			return nil
		}
		s.startActor()
		advanceTime(30 * time.Second)
		assert.Len(t, s.requests(), 3)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 3}, s.stateCounts())
		s.close()
	})
}

// runWithKills sends 60 events to an endpoint that fails sometimes, and kills the endpoint actor at random moments. It
// returns the ids of the events and how often each arrived.
func runWithKills(t *testing.T, sys *actor.ActorSystem, seed uint64) (ids []string, arrived map[string]int) {
	t.Helper()
	r, far := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
	s := newFixture(t, sys)
	s.answer = func(arrival) (int, time.Duration) {
		status := 200
		if far.IntN(10) == 0 {
			status = 503
		}
		return status, time.Duration(far.IntN(300)) * time.Millisecond
	}
	for range 12 {
		ids = append(ids, s.queueEvents("a", "b", "c", "d", strconv.Itoa(s.n))...)
	}
	for range 15 {
		s.startActor()
		advanceTime(time.Duration(r.IntN(400)) * time.Millisecond)
		s.killActor()
	}
	s.startActor()
	advanceTime(3 * time.Hour)
	assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: len(ids)}, s.stateCounts())
	arrived = make(map[string]int)
	for _, id := range s.requestedEvents() {
		arrived[id]++
	}
	s.close()
	return ids, arrived
}

func TestRandomActorKillsLoseNoDelivery(t *testing.T) {
	for seed := range uint64(10) {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			ids, arrived := runWithKills(t, sys, seed)
			assert.Len(t, arrived, len(ids))
			for _, id := range ids {
				assert.Positive(t, arrived[id], id)
			}
		})
	}
}

func TestPanicAtAnyMessageLosesNoDelivery(t *testing.T) {
	for _, kind := range []string{
		"webhook.DeliveriesQueued", "webhook.EndpointChanged", "webhook.SendTestEvent", "webhook.pageLoaded", "webhook.resultsCommitted", "webhook.healthSaved", "webhook.attemptDone", "webhook.testDone", "webhook.wakeUpDue",
	} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := newFixture(t, sys)
			var planted atomic.Int32
			s.opts = []actor.PropsOption{actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
					if fmt.Sprintf("%T", env.Message) == kind && planted.Add(1) == 1 {
						panic("planted")
					}
					next(c, env)
				}
			})}
			s.answer = func(a arrival) (int, time.Duration) {
				if a.id == "evt_000002" && a.attempt == "1" {
					return 503, time.Second
				}
				return 200, time.Second
			}
			s.queueEvents("a", "b")
			s.startActor()
			advanceTime(10 * time.Second)
			s.queueEvents("a", "c")
			s.send(webhook.DeliveriesQueued{})
			s.send(webhook.EndpointChanged{})
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, _ = mailbox.Ask[webhook.TestResult](ctx, sys, s.pid, webhook.SendTestEvent{})
			cancel()
			advanceTime(2 * time.Hour)
			assert.Positive(t, planted.Load(), kind)
			assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 4}, s.stateCounts(), kind)
			s.close()
		})
	}
}

func TestStorePanicRestartsEndpoint(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.queueEvents("a")
		n := 0
		s.store.FailOperation = func(string) error {
			if n++; n == 3 {
				panic("planted")
			}
			return nil
		}
		s.startActor()
		advanceTime(time.Minute)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 1}, s.stateCounts())
		s.close()
	})
}
