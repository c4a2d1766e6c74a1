package webhook_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
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
	"github.com/callboard/callboard/domain/commit"
)

// attemptTimes are the times at which the five attempts of a delivery start, if each takes two seconds and fails.
var attemptTimes = []time.Duration{
	0,
	32 * time.Second,
	34*time.Second + 2*time.Minute,
	36*time.Second + 12*time.Minute,
	38*time.Second + 72*time.Minute,
}

func arrivalTimes(arrivals []arrival) []time.Duration {
	var at []time.Duration
	for _, a := range arrivals {
		at = append(at, a.at)
	}
	return at
}

func TestRetryScheduleCountsFromEndOfPreviousAttempt(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 503, 2 * time.Second }
		id := s.queueEvents("call_1")[0]
		s.startActor()
		advanceTime(3 * time.Hour)
		assert.Equal(t, attemptTimes, arrivalTimes(s.requests()))
		for i, a := range s.requests() {
			assert.Equal(t, strconv.Itoa(i+1), a.attempt)
			first := ""
			if i > 0 {
				first = s.start.UTC().Format(domain.TimeFormat)
			}
			assert.Equal(t, first, a.first)
			assert.Equal(t, s.requests()[0].body, a.body)
		}
		d := s.store.DeliveryRows(endpoint)[id]
		assert.Equal(t, domain.DeliveryFailed, d.State)
		assert.Equal(t, []any{5, 503, int64(2000), "503"}, []any{d.Attempts, d.ResponseStatus, d.ResponseTimeMs, d.Error})
		assert.Nil(t, d.DueAt)
		assert.WithinDuration(t, s.start.Add(attemptTimes[4]), *d.LastAttemptAt, 0)
		assert.Equal(t, 5, s.store.WebhookRow(workspace, endpoint).FailureCount)
		s.close()
	})
}

func TestRetryTimeFactorDividesTheDelaysOfTestEndpointsOnly(t *testing.T) {
	quick := []time.Duration{0, 500 * time.Millisecond, 2500 * time.Millisecond, 12500 * time.Millisecond, 72500 * time.Millisecond}
	for environment, want := range map[domain.Environment][]time.Duration{domain.Test: quick, domain.Live: {0, 30 * time.Second}} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := newFixture(t, sys)
			w := s.store.WebhookRow(workspace, endpoint)
			w.Environment, w.RetryTimeFactor = environment, 60
			s.apply(commit.Change{Puts: []domain.Record{&w}})
			s.answer = func(arrival) (int, time.Duration) { return 503, 0 }
			s.queueEvents("call_1")
			s.startActor()
			advanceTime(80 * time.Second)
			assert.Equal(t, want, arrivalTimes(s.requests()), environment)
			s.close()
		})
	}
}

func TestRetryScheduleSurvivesRestarts(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 503, 2 * time.Second }
		s.queueEvents("call_1")
		for _, at := range attemptTimes {
			s.startActor()
			advanceTime(time.Until(s.start.Add(at + 5*time.Second)))
			s.killActor()
		}
		assert.Equal(t, attemptTimes, arrivalTimes(s.requests()))
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1}, s.stateCounts())
		s.close()
	})
}

func TestFinalResponsesAreNotRetried(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		status := map[string][]int{"evt_000001": {404}, "evt_000002": {302}, "evt_000003": {500, 0, 200}, "evt_000004": {204}}
		s.answer = func(a arrival) (int, time.Duration) {
			next := status[a.id][0]
			status[a.id] = status[a.id][1:]
			return next, time.Millisecond
		}
		s.queueEvents("a", "b", "c", "d")
		s.startActor()
		advanceTime(3 * time.Hour)
		assert.Len(t, s.requests(), 6)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 2, domain.DeliveryDelivered: 2}, s.stateCounts())
		third := s.store.DeliveryRows(endpoint)["evt_000003"]
		assert.Equal(t, 3, third.Attempts)
		assert.Empty(t, third.Error)
		assert.NotNil(t, third.DeliveredAt)
		s.close()
	})
}

func TestEventsOfOneSubjectKeepTheirOrder(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.answer = func(a arrival) (int, time.Duration) {
			if a.id == "evt_000001" && a.attempt == "1" {
				return 503, 10 * time.Second
			}
			return 200, time.Second
		}
		s.queueEvents("x", "x", "y", "x", "y")
		s.startActor()
		advanceTime(time.Minute)
		var got []string
		for _, a := range s.requests() {
			got = append(got, fmt.Sprintf("%s at %s", a.id[len(a.id)-1:], a.at))
		}
		slices.Sort(got)
		assert.Equal(t, []string{"1 at 0s", "1 at 40s", "2 at 10s", "3 at 0s", "4 at 11s", "5 at 1s"}, got)
		s.close()
	})
}

func TestRetriesNeverDelayFirstAttempts(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.cfg.Concurrency = 1
		s.answer = func(a arrival) (int, time.Duration) {
			if a.id <= "evt_000020" {
				return 503, map[bool]time.Duration{true: 0, false: 30 * time.Second}[a.attempt == "1"]
			}
			return 200, 0
		}
		for range 20 {
			s.queueEvents(strconv.Itoa(s.n))
		}
		s.startActor()
		advanceTime(31 * time.Second) // twenty retries are hanging
		s.queueEvents("late")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(time.Second)
		last := s.requests()[len(s.requests())-1]
		assert.Equal(t, "evt_000021", last.id)
		assert.Equal(t, 31*time.Second, last.at)
		s.close()
	})
}

func TestConcurrencyGrowsWithSuccessAndIsHalvedByFailure(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 200, time.Second }
		for range 200 {
			s.queueEvents(fmt.Sprint("call_", s.n))
		}
		s.startActor()
		advanceTime(time.Minute)
		assert.Len(t, s.requests(), 200)
		assert.Equal(t, 6, s.most)
		s.most = 0
		s.answer = func(arrival) (int, time.Duration) { return 404, time.Second }
		for range 100 {
			s.queueEvents(fmt.Sprint("call_", s.n))
		}
		s.send(webhook.DeliveriesQueued{})
		advanceTime(10 * time.Second)
		assert.Less(t, len(s.requests()), 200+6+12, "after the first six one at a time")
		s.close()
	})
}

func TestThousandEventsNeedFewCommits(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.store.ShortPages = true
		var ids []string
		for range 10 {
			var subjects []string
			for i := range 100 {
				subjects = append(subjects, fmt.Sprint("call_", i%37))
			}
			ids = append(ids, s.queueEvents(subjects...)...)
		}
		n := 0
		s.answer = func(arrival) (int, time.Duration) { n++; return 200, time.Duration(1+n%7) * time.Millisecond }
		before := s.store.CommitCount()
		s.startActor()
		advanceTime(10 * time.Second)
		assert.LessOrEqual(t, s.store.CommitCount()-before, 150)
		late := s.queueEvents("alone")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(7 * time.Millisecond)
		ids = append(ids, late...)
		assert.Equal(t, domain.DeliveryDelivered, s.store.DeliveryRows(endpoint)[late[0]].State, "nothing else is under way: stored at once")
		got := s.requestedEvents()
		slices.Sort(got)
		assert.Equal(t, ids, got)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 1001}, s.stateCounts())
		w := s.store.WebhookRow(workspace, endpoint)
		assert.Equal(t, 0, w.FailureCount)
		assert.NotNil(t, w.LastDeliveryAt)
		s.close()
	})
}

func TestFailingEndpointHoldsFirstAttemptsUntilRecovery(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.cfg.MaxRetrying, s.cfg.Window = 10, 20
		var dead atomic.Bool
		dead.Store(true)
		s.answer = func(arrival) (int, time.Duration) {
			if dead.Load() {
				return 0, 10 * time.Millisecond
			}
			return 200, 10 * time.Millisecond
		}
		for range 100 {
			s.queueEvents(fmt.Sprint("call_", s.n))
		}
		s.startActor()
		advanceTime(20 * time.Second)
		n := s.stateCounts()
		assert.LessOrEqual(t, n[domain.DeliveryRetrying], 10+5, "ten and a probe each five seconds")
		assert.GreaterOrEqual(t, n[domain.DeliveryRetrying], 10+2)
		dead.Store(false)
		advanceTime(30 * time.Second)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 100}, s.stateCounts())
		s.close()
	})
}

func TestPausedEndpointGetsEventsInOrderOnResume(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.setStatus(domain.WebhookPaused)
		s.startActor()
		ids := s.queueEvents("x", "x", "x")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(time.Hour)
		assert.Empty(t, s.requests())
		tested, err := mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{})
		require.NoError(t, err)
		assert.True(t, tested.Delivered)
		s.setStatus(domain.WebhookActive)
		s.send(webhook.EndpointChanged{})
		advanceTime(time.Second)
		assert.Equal(t, append([]string{tested.EventID}, ids...), s.requestedEvents())
		s.close()
	})
}

func TestDeliveriesFailAfterThreeDaysOfPause(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.setStatus(domain.WebhookPaused)
		s.cfg.Window = 4
		s.startActor()
		for range 5 {
			s.queueEvents("x", "y")
		}
		s.send(webhook.DeliveriesQueued{})
		advanceTime(70 * time.Hour)
		young := s.queueEvents("x", "z")
		s.send(webhook.DeliveriesQueued{})
		advanceTime(3 * time.Hour)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 10, domain.DeliveryQueued: 2}, s.stateCounts())
		s.setStatus(domain.WebhookActive)
		s.send(webhook.EndpointChanged{})
		advanceTime(time.Second)
		assert.ElementsMatch(t, young, s.requestedEvents())
		s.close()
	})
}

func TestDeliveryOfDeletedEventFails(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.apply(commit.Change{Puts: []domain.Record{&domain.Delivery{
			ID: "dlv_1", WorkspaceID: workspace, WebhookID: endpoint, EventID: "evt_gone", EventOffset: 99, Subject: "x", State: domain.DeliveryQueued, CreatedAt: time.Now(),
		}}})
		next := s.queueEvents("x")
		s.startActor()
		advanceTime(time.Second)
		assert.Equal(t, next, s.requestedEvents())
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1, domain.DeliveryDelivered: 1}, s.stateCounts())
		s.close()
	})
}

func TestTestEventIsOneAttemptWithRequestedType(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 503, 40 * time.Millisecond }
		s.startActor()
		tested, err := mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{EventType: "call.initiated"})
		require.NoError(t, err)
		assert.Equal(t, webhook.TestResult{EventID: tested.EventID, ResponseStatus: 503, ResponseTimeMs: 40, Error: "503"}, tested)
		advanceTime(3 * time.Hour)
		require.Len(t, s.requests(), 1)
		assert.Contains(t, s.requests()[0].body, `"type":"call.initiated"`)
		assert.Contains(t, s.requests()[0].body, `"test":true`)
		w := s.store.WebhookRow(workspace, endpoint)
		w.Events = []string{"call.initiated"}
		s.store.Put(&w)
		s.send(webhook.EndpointChanged{})
		advanceTime(time.Second)
		_, err = mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{EventType: "call.started"})
		require.NoError(t, err)
		require.Len(t, s.requests(), 2)
		assert.Contains(t, s.requests()[1].body, `"type":"call.initiated"`, "it knows only this name")
		_, err = mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{EventType: "call.exploded"})
		assert.Equal(t, domain.CodeValidation, domain.CodeOf(err))
		assert.Empty(t, s.store.DeliveryRows(endpoint))
		s.close()
	})
}

func TestDeletedEndpointGetsNoRequests(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 503, time.Second }
		s.queueEvents("a", "b", "c")
		s.startActor()
		advanceTime(10 * time.Second)
		s.apply(commit.Change{Deletes: []domain.Key{{Kind: "webhook", Workspace: workspace, ID: endpoint}}})
		s.send(webhook.EndpointDeleted{})
		advanceTime(2 * time.Hour)
		assert.Len(t, s.requests(), 3)
		_, err := mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		s.pid = nil
		s.startActor() // the endpoint has no row
		_, err = mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{})
		require.Error(t, err)
		s.pid = nil
		s.close()
	})
}

func TestFencedEndpointStops(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.queueEvents("a", "a", "a")
		s.store.FailOperation = func(operation string) error {
			if operation == "apply" {
				return domain.ErrFenced
			}
			return nil
		}
		s.answer = func(arrival) (int, time.Duration) { return 200, time.Second }
		s.startActor()
		advanceTime(time.Hour)
		assert.Less(t, len(s.requests()), 3)
		s.pid = nil
		s.store.FailOperation = nil
		s.close()
	})
}

func TestHealthWritesKeepConcurrentRowChanges(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.startActor()
		synctest.Wait()
		before := s.store.CommitCount()
		for range 20 {
			s.queueEvents("a")
			s.send(webhook.DeliveriesQueued{})
			advanceTime(100 * time.Millisecond)
		}
		w := s.store.WebhookRow(workspace, endpoint)
		w.URL = "https://example.com/other"
		s.apply(commit.Change{Puts: []domain.Record{&w}})
		advanceTime(time.Minute)
		// Each of the 20 events causes three commits: of the event, of its delivery row and of its result. The test commits
		// one change of the endpoint's row, and the actor writes its health to that row twice.
		assert.Equal(t, 20*3+1+2, s.store.CommitCount()-before)
		assert.Equal(t, "https://example.com/other", s.store.WebhookRow(workspace, endpoint).URL)
		s.close()
	})
}

func TestConcurrentRowChangeDuringHealthWriteIsKept(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		gets := 0
		s.store.FailOperation = func(operation string) error {
			if operation == "get" {
				gets++
			}
			if operation == "apply" && gets == 2 { // the second get reads the row before changing it
				gets++
				w := s.store.WebhookRow(workspace, endpoint)
				w.URL = "https://example.com/other"
				s.store.Put(&w)
			}
			return nil
		}
		s.queueEvents("a")
		s.answer = func(arrival) (int, time.Duration) { return 404, time.Second }
		s.startActor()
		advanceTime(time.Minute)
		w := s.store.WebhookRow(workspace, endpoint)
		assert.Equal(t, []any{"https://example.com/other", 1}, []any{w.URL, w.FailureCount})
		s.close()
	})
}

func TestStalePageCausesNoDuplicateRequest(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 200, time.Second }
		ids := s.queueEvents("a")
		lists := 0
		s.store.AfterList = func() {
			if lists++; lists == 2 {
				time.Sleep(2 * time.Second)
			}
		}
		s.startActor()
		advanceTime(500 * time.Millisecond)
		s.send(webhook.EndpointChanged{})
		advanceTime(time.Minute)
		assert.Equal(t, ids, s.requestedEvents())
		s.close()
	})
}
