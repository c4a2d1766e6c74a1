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

// TestAHundredHangingEndpointsDelayNoneOfNineHundred: every event of a healthy
// endpoint is there while not one of the hanging requests has ended, and none
// later than with nobody hanging.
func TestAHundredHangingEndpointsDelayNoneOfNineHundred(t *testing.T) {
	const events = 6
	slowest := func(t *testing.T, sys *actor.ActorSystem, hanging int) (last time.Duration) {
		s := newStreet(t, sys, 2048)
		var healthy, all []*house
		for n := range 1000 {
			answer := answers
			if n%10 == 0 && n/10 < hanging {
				answer = hangs
			}
			h := s.build("ws_1", fmt.Sprint("wh_", n), events, answer)
			all = append(all, h)
			if n%10 != 0 {
				healthy = append(healthy, h)
			}
		}
		s.run(all...)
		pass(hang - time.Second)
		assert.Zero(t, s.ended)
		for _, h := range healthy {
			require.Len(t, h.arrived, events, h.id)
			last = max(last, h.arrived[events-1].at)
		}
		s.end()
		return last
	}
	var alone, beside time.Duration
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) { alone = slowest(t, sys, 0) })
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) { beside = slowest(t, sys, 100) })
	assert.Positive(t, alone)
	t.Logf("the last of 5400 events goes out after %s, beside 100 endpoints that hang after %s", alone, beside)
	assert.LessOrEqual(t, beside, 2*alone)
}

func TestNoMoreIsSentAtOnceThanThereAreSlotsAndEverythingArrives(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStreet(t, sys, 64)
		var all []*house
		for n := range 60 {
			all = append(all, s.build(fmt.Sprint("ws_", n%3), fmt.Sprint("wh_", n), 40, answers))
		}
		s.run(all...)
		pass(15 * time.Millisecond)
		assert.Positive(t, s.pool.ActiveRequests())
		pass(time.Minute)
		for _, h := range all {
			assert.Len(t, h.arrived, 40, h.id)
		}
		assert.LessOrEqual(t, s.most, 64)
		assert.GreaterOrEqual(t, s.most, 56)
		assert.Zero(t, s.pool.ActiveRequests())
		s.end()
	})
}

func TestAWorkspaceWhoseEndpointsAllHangTakesNotAllSlots(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStreet(t, sys, 64)
		var bad []*house
		for n := range 200 {
			bad = append(bad, s.build("ws_bad", fmt.Sprint("wh_bad_", n), 5, hangs))
		}
		s.run(bad...)
		pass(time.Second)
		assert.Equal(t, 32, s.most, "half of the pool")
		good := s.build("ws_good", "wh_good", 20, answers)
		s.run(good)
		pass(time.Second)
		assert.Len(t, good.arrived, 20)
		pass(3 * time.Hour)
		for _, h := range bad {
			ids := map[string]int{}
			for _, a := range h.arrived {
				ids[a.id]++
			}
			assert.Len(t, ids, 5, "each was tried")
		}
		s.end()
	})
}

func TestFirstAttemptsGoOnWhileRetriesHaveTheirQuarter(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStreet(t, sys, 32)
		fails := func(_, attempt string) (int, time.Duration) {
			if attempt == "1" {
				return 503, time.Millisecond
			}
			return 0, hang
		}
		var bad []*house
		for n := range 40 {
			bad = append(bad, s.build(fmt.Sprint("ws_", n%4), fmt.Sprint("wh_bad_", n), 2, fails))
		}
		s.run(bad...)
		pass(40 * time.Second) // the second attempts are due, and hang
		s.locked(func() { s.most = 0 })
		open := 0
		s.locked(func() { open = s.open })
		assert.LessOrEqual(t, open, 8, "retries have a quarter of the slots")
		assert.GreaterOrEqual(t, open, 7)
		good := s.build("ws_1", "wh_good", 20, answers)
		s.run(good)
		begun := time.Since(s.start)
		synctest.Wait()
		s.locked(func() {
			require.NotEmpty(t, good.arrived)
			assert.Equal(t, begun, good.arrived[0].at, "at once")
		})
		pass(5 * time.Second)
		assert.Len(t, good.arrived, 20)
		s.end()
	})
}

func TestEndpointsThatFailedLastTakeNoSlotsOfThoseThatAnswer(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStreet(t, sys, 32)
		hanging := false
		moody := func(string, string) (int, time.Duration) {
			if hanging {
				return 0, hang
			}
			return 503, time.Millisecond
		}
		var bad []*house
		for n := range 40 {
			bad = append(bad, s.build(fmt.Sprint("ws_", n%8), fmt.Sprint("wh_bad_", n), 1, moody))
		}
		s.run(bad...)
		pass(time.Second)
		s.locked(func() { hanging = true })
		for _, h := range bad {
			s.mail(h, 4)
		}
		pass(5 * time.Second)
		open := 0
		s.locked(func() { open = s.open })
		assert.LessOrEqual(t, open, 8, "they have a quarter of the slots")
		assert.GreaterOrEqual(t, open, 7)
		good := s.build("ws_1", "wh_good", 20, answers)
		s.run(good)
		pass(time.Second)
		assert.Len(t, good.arrived, 20)
		s.end()
	})
}

func TestSlotsOfAnEndpointThatEndsComeBack(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStreet(t, sys, 8)
		var all []*house
		for n := range 12 {
			all = append(all, s.build("ws_1", fmt.Sprint("wh_", n), 3, hangs))
		}
		s.run(all...)
		for range 30 { // while some send and others wait
			pass(time.Second)
			for _, h := range all[:6] {
				s.sys.Root.Poison(h.pid)
			}
			synctest.Wait()
			s.run(all[:6]...)
		}
		for _, h := range all[:11] {
			s.sys.Root.Poison(h.pid)
			h.pid = nil
		}
		pass(time.Minute)
		s.locked(func() { all[11].answer = answers })
		pass(3 * time.Hour)
		n := map[domain.DeliveryState]int{}
		for _, d := range s.stores["ws_1"].DeliveryRows("wh_11") {
			n[d.State]++
		}
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 3}, n)
		assert.Zero(t, s.pool.ActiveRequests())
		s.end()
	})
}

func TestATestIsRefusedWhereEverySlotIsTaken(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStreet(t, sys, 8)
		var all []*house
		for n := range 8 {
			all = append(all, s.build(fmt.Sprint("ws_", n), fmt.Sprint("wh_", n), 1, hangs))
		}
		idle := s.build("ws_1", "wh_idle", 0, answers)
		s.run(append(all, idle)...)
		pass(time.Second)
		_, err := mailbox.Ask[webhook.TestResult](t.Context(), sys, idle.pid, webhook.SendTestEvent{})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		pass(time.Minute)
		tested, err := mailbox.Ask[webhook.TestResult](t.Context(), sys, idle.pid, webhook.SendTestEvent{})
		require.NoError(t, err)
		assert.True(t, tested.Delivered)
		s.end()
	})
}
