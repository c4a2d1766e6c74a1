package webhook_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
)

// Of a thousand endpoints, a hundred never answer. Every event of the others must arrive before the first hanging
// request ends. No event may arrive much later than without hanging endpoints.
func TestHundredHangingEndpointsDoNotDelayNineHundredOthers(t *testing.T) {
	const events = 6
	slowest := func(t *testing.T, sys *actor.ActorSystem, hanging int) (last time.Duration) {
		s := newEndpointFleet(t, sys, 2048)
		var healthy, all []*simulatedEndpoint
		for n := range 1000 {
			answer := answersQuickly
			if n%10 == 0 && n/10 < hanging {
				answer = neverAnswers
			}
			h := s.addEndpoint("ws_1", fmt.Sprint("wh_", n), events, answer)
			all = append(all, h)
			if n%10 != 0 {
				healthy = append(healthy, h)
			}
		}
		s.startEndpoints(all...)
		advanceTime(hangTime - time.Second)
		assert.Zero(t, s.ended)
		for _, h := range healthy {
			require.Len(t, h.arrived, events, h.id)
			last = max(last, h.arrived[events-1].at)
		}
		s.close()
		return last
	}
	var alone, withHanging time.Duration
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) { alone = slowest(t, sys, 0) })
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) { withHanging = slowest(t, sys, 100) })
	assert.Positive(t, alone)
	t.Logf("the last of 5400 events goes out after %s, beside 100 endpoints that hang after %s", alone, withHanging)
	assert.LessOrEqual(t, withHanging, 2*alone)
}

func TestSendPoolLimitIsKeptAndEverythingArrives(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newEndpointFleet(t, sys, 64)
		var all []*simulatedEndpoint
		for n := range 60 {
			all = append(all, s.addEndpoint(fmt.Sprint("ws_", n%3), fmt.Sprint("wh_", n), 40, answersQuickly))
		}
		s.startEndpoints(all...)
		advanceTime(15 * time.Millisecond)
		assert.Positive(t, s.pool.ActiveRequests())
		advanceTime(time.Minute)
		for _, h := range all {
			assert.Len(t, h.arrived, 40, h.id)
		}
		assert.LessOrEqual(t, s.maxConcurrent, 64)
		assert.GreaterOrEqual(t, s.maxConcurrent, 56)
		assert.Zero(t, s.pool.ActiveRequests())
		s.close()
	})
}

func TestWorkspaceUsesAtMostHalfOfSendPool(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newEndpointFleet(t, sys, 64)
		var bad []*simulatedEndpoint
		for n := range 200 {
			bad = append(bad, s.addEndpoint("ws_bad", fmt.Sprint("wh_bad_", n), 5, neverAnswers))
		}
		s.startEndpoints(bad...)
		advanceTime(time.Second)
		assert.Equal(t, 32, s.maxConcurrent, "half of the pool")
		good := s.addEndpoint("ws_good", "wh_good", 20, answersQuickly)
		s.startEndpoints(good)
		advanceTime(time.Second)
		assert.Len(t, good.arrived, 20)
		advanceTime(3 * time.Hour)
		for _, h := range bad {
			ids := map[string]int{}
			for _, a := range h.arrived {
				ids[a.id]++
			}
			assert.Len(t, ids, 5, "each was tried")
		}
		s.close()
	})
}

func TestRetriesUseAtMostQuarterOfSendPool(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newEndpointFleet(t, sys, 32)
		fails := func(_, attempt string) (int, time.Duration) {
			if attempt == "1" {
				return 503, time.Millisecond
			}
			return 0, hangTime
		}
		var bad []*simulatedEndpoint
		for n := range 40 {
			bad = append(bad, s.addEndpoint(fmt.Sprint("ws_", n%4), fmt.Sprint("wh_bad_", n), 2, fails))
		}
		s.startEndpoints(bad...)
		advanceTime(40 * time.Second) // the second attempts are due and hang
		s.withLock(func() { s.maxConcurrent = 0 })
		open := 0
		s.withLock(func() { open = s.openRequests })
		assert.LessOrEqual(t, open, 8, "retries have a quarter of the slots")
		assert.GreaterOrEqual(t, open, 7)
		good := s.addEndpoint("ws_1", "wh_good", 20, answersQuickly)
		s.startEndpoints(good)
		begun := time.Since(s.start)
		synctest.Wait()
		s.withLock(func() {
			require.NotEmpty(t, good.arrived)
			assert.Equal(t, begun, good.arrived[0].at, "at once")
		})
		advanceTime(5 * time.Second)
		assert.Len(t, good.arrived, 20)
		s.close()
	})
}

func TestFailingEndpointsUseAtMostQuarterOfSendPool(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newEndpointFleet(t, sys, 32)
		hanging := false
		moody := func(string, string) (int, time.Duration) {
			if hanging {
				return 0, hangTime
			}
			return 503, time.Millisecond
		}
		var bad []*simulatedEndpoint
		for n := range 40 {
			bad = append(bad, s.addEndpoint(fmt.Sprint("ws_", n%8), fmt.Sprint("wh_bad_", n), 1, moody))
		}
		s.startEndpoints(bad...)
		advanceTime(time.Second)
		s.withLock(func() { hanging = true })
		for _, h := range bad {
			s.addEvents(h, 4)
		}
		advanceTime(5 * time.Second)
		open := 0
		s.withLock(func() { open = s.openRequests })
		assert.LessOrEqual(t, open, 8, "they have a quarter of the slots")
		assert.GreaterOrEqual(t, open, 7)
		good := s.addEndpoint("ws_1", "wh_good", 20, answersQuickly)
		s.startEndpoints(good)
		advanceTime(time.Second)
		assert.Len(t, good.arrived, 20)
		s.close()
	})
}

func TestStoppedEndpointReturnsItsSlots(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newEndpointFleet(t, sys, 8)
		var all []*simulatedEndpoint
		for n := range 12 {
			all = append(all, s.addEndpoint("ws_1", fmt.Sprint("wh_", n), 3, neverAnswers))
		}
		s.startEndpoints(all...)
		for range 30 { // while some endpoints send and others wait
			advanceTime(time.Second)
			for _, h := range all[:6] {
				s.sys.Root.Poison(h.pid)
			}
			synctest.Wait()
			s.startEndpoints(all[:6]...)
		}
		for _, h := range all[:11] {
			s.sys.Root.Poison(h.pid)
			h.pid = nil
		}
		advanceTime(time.Minute)
		s.withLock(func() { all[11].answer = answersQuickly })
		advanceTime(3 * time.Hour)
		n := map[domain.DeliveryState]int{}
		for _, d := range s.stores["ws_1"].DeliveryRows("wh_11") {
			n[d.State]++
		}
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 3}, n)
		assert.Zero(t, s.pool.ActiveRequests())
		s.close()
	})
}

func TestTestEventIsRefusedWhenPoolIsFull(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newEndpointFleet(t, sys, 8)
		var all []*simulatedEndpoint
		for n := range 8 {
			all = append(all, s.addEndpoint(fmt.Sprint("ws_", n), fmt.Sprint("wh_", n), 1, neverAnswers))
		}
		idle := s.addEndpoint("ws_1", "wh_idle", 0, answersQuickly)
		s.startEndpoints(append(all, idle)...)
		advanceTime(time.Second)
		_, err := mailbox.Ask[webhook.TestResult](t.Context(), sys, idle.pid, webhook.SendTestEvent{})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		advanceTime(time.Minute)
		tested, err := mailbox.Ask[webhook.TestResult](t.Context(), sys, idle.pid, webhook.SendTestEvent{})
		require.NoError(t, err)
		assert.True(t, tested.Delivered)
		s.close()
	})
}
