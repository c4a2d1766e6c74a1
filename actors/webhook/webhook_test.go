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

// scheduled are the moments of the five attempts when each takes two seconds.
var scheduled = []time.Duration{
	0,
	32 * time.Second,
	34*time.Second + 2*time.Minute,
	36*time.Second + 12*time.Minute,
	38*time.Second + 72*time.Minute,
}

func times(arrivals []arrival) []time.Duration {
	var at []time.Duration
	for _, a := range arrivals {
		at = append(at, a.at)
	}
	return at
}

func TestFiveAttemptsAtTheirExactTimesCountedFromTheEndOfTheOneBefore(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 503, 2 * time.Second }
		id := s.queue("call_1")[0]
		s.run()
		pass(3 * time.Hour)
		assert.Equal(t, scheduled, times(s.seen()))
		for i, a := range s.seen() {
			assert.Equal(t, strconv.Itoa(i+1), a.attempt)
			first := ""
			if i > 0 {
				first = s.start.UTC().Format(domain.TimeFormat)
			}
			assert.Equal(t, first, a.first)
			assert.Equal(t, s.seen()[0].body, a.body)
		}
		d := s.store.DeliveryRows(endpoint)[id]
		assert.Equal(t, domain.DeliveryFailed, d.State)
		assert.Equal(t, []any{5, 503, int64(2000), "503"}, []any{d.Attempts, d.ResponseStatus, d.ResponseTimeMs, d.Error})
		assert.Nil(t, d.DueAt)
		assert.WithinDuration(t, s.start.Add(scheduled[4]), *d.LastAttemptAt, 0)
		assert.Equal(t, 5, s.store.WebhookRow(workspace, endpoint).FailureCount)
		s.end()
	})
}

func TestRetryTimeFactorDividesTheDelaysOfTestEndpointsOnly(t *testing.T) {
	quick := []time.Duration{0, 500 * time.Millisecond, 2500 * time.Millisecond, 12500 * time.Millisecond, 72500 * time.Millisecond}
	for environment, want := range map[domain.Environment][]time.Duration{domain.Test: quick, domain.Live: {0, 30 * time.Second}} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := newStage(t, sys)
			w := s.store.WebhookRow(workspace, endpoint)
			w.Environment, w.RetryTimeFactor = environment, 60
			s.apply(commit.Change{Puts: []domain.Record{&w}})
			s.answer = func(arrival) (int, time.Duration) { return 503, 0 }
			s.queue("call_1")
			s.run()
			pass(80 * time.Second)
			assert.Equal(t, want, times(s.seen()), environment)
			s.end()
		})
	}
}

func TestTheScheduleSurvivesAKillAfterEachAttempt(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 503, 2 * time.Second }
		s.queue("call_1")
		for _, at := range scheduled {
			s.run()
			pass(time.Until(s.start.Add(at + 5*time.Second)))
			s.kill()
		}
		assert.Equal(t, scheduled, times(s.seen()))
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1}, s.states())
		s.end()
	})
}

func TestFinalAnswersAreNotRetriedAndASuccessEndsTheRetries(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		status := map[string][]int{"evt_000001": {404}, "evt_000002": {302}, "evt_000003": {500, 0, 200}, "evt_000004": {204}}
		s.answer = func(a arrival) (int, time.Duration) {
			next := status[a.id][0]
			status[a.id] = status[a.id][1:]
			return next, time.Millisecond
		}
		s.queue("a", "b", "c", "d")
		s.run()
		pass(3 * time.Hour)
		assert.Len(t, s.seen(), 6)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 2, domain.DeliveryDelivered: 2}, s.states())
		third := s.store.DeliveryRows(endpoint)["evt_000003"]
		assert.Equal(t, 3, third.Attempts)
		assert.Empty(t, third.Error)
		assert.NotNil(t, third.DeliveredAt)
		s.end()
	})
}

func TestEventsOfOneSubjectKeepTheirOrderAndAFailingOneHoldsTheNextOnlyOnce(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.answer = func(a arrival) (int, time.Duration) {
			if a.id == "evt_000001" && a.attempt == "1" {
				return 503, 10 * time.Second
			}
			return 200, time.Second
		}
		s.queue("x", "x", "y", "x", "y")
		s.run()
		pass(time.Minute)
		var got []string
		for _, a := range s.seen() {
			got = append(got, fmt.Sprintf("%s at %s", a.id[len(a.id)-1:], a.at))
		}
		slices.Sort(got)
		assert.Equal(t, []string{"1 at 0s", "1 at 40s", "2 at 10s", "3 at 0s", "4 at 11s", "5 at 1s"}, got)
		s.end()
	})
}

func TestRetriesNeverDelayFirstAttempts(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.cfg.Concurrency = 1
		s.answer = func(a arrival) (int, time.Duration) {
			if a.id <= "evt_000020" {
				return 503, map[bool]time.Duration{true: 0, false: 30 * time.Second}[a.attempt == "1"]
			}
			return 200, 0
		}
		for range 20 {
			s.queue(strconv.Itoa(s.n))
		}
		s.run()
		pass(31 * time.Second) // twenty retries hang now
		s.queue("late")
		s.tell(webhook.DeliveriesQueued{})
		pass(time.Second)
		last := s.seen()[len(s.seen())-1]
		assert.Equal(t, "evt_000021", last.id)
		assert.Equal(t, 31*time.Second, last.at)
		s.end()
	})
}

func TestConcurrencyGrowsWithSuccessAndIsHalvedByFailure(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 200, time.Second }
		for range 200 {
			s.queue(fmt.Sprint("call_", s.n))
		}
		s.run()
		pass(time.Minute)
		assert.Len(t, s.seen(), 200)
		assert.Equal(t, 6, s.most)
		s.most = 0
		s.answer = func(arrival) (int, time.Duration) { return 404, time.Second }
		for range 100 {
			s.queue(fmt.Sprint("call_", s.n))
		}
		s.tell(webhook.DeliveriesQueued{})
		pass(10 * time.Second)
		assert.Less(t, len(s.seen()), 200+6+12, "after the first six one at a time")
		s.end()
	})
}

func TestAThousandEventsArriveOnceInFewCommits(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.store.ShortPages = true
		var ids []string
		for range 10 {
			var subjects []string
			for i := range 100 {
				subjects = append(subjects, fmt.Sprint("call_", i%37))
			}
			ids = append(ids, s.queue(subjects...)...)
		}
		n := 0
		s.answer = func(arrival) (int, time.Duration) { n++; return 200, time.Duration(1+n%7) * time.Millisecond }
		before := s.store.CommitCount()
		s.run()
		pass(10 * time.Second)
		assert.LessOrEqual(t, s.store.CommitCount()-before, 150)
		late := s.queue("alone")
		s.tell(webhook.DeliveriesQueued{})
		pass(7 * time.Millisecond)
		ids = append(ids, late...)
		assert.Equal(t, domain.DeliveryDelivered, s.store.DeliveryRows(endpoint)[late[0]].State, "nothing else is under way: stored at once")
		got := s.ids()
		slices.Sort(got)
		assert.Equal(t, ids, got)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 1001}, s.states())
		w := s.store.WebhookRow(workspace, endpoint)
		assert.Equal(t, 0, w.FailureCount)
		assert.NotNil(t, w.LastDeliveryAt)
		s.end()
	})
}

func TestADeadEndpointHoldsFirstAttemptsBackAndGetsThemAllWhenItAnswersAgain(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
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
			s.queue(fmt.Sprint("call_", s.n))
		}
		s.run()
		pass(20 * time.Second)
		n := s.states()
		assert.LessOrEqual(t, n[domain.DeliveryRetrying], 10+5, "ten and a probe each five seconds")
		assert.GreaterOrEqual(t, n[domain.DeliveryRetrying], 10+2)
		dead.Store(false)
		pass(30 * time.Second)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 100}, s.states())
		s.end()
	})
}

func TestAPausedEndpointGetsItsEventsInOrderOnResume(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.setStatus(domain.WebhookPaused)
		s.run()
		ids := s.queue("x", "x", "x")
		s.tell(webhook.DeliveriesQueued{})
		pass(time.Hour)
		assert.Empty(t, s.seen())
		tested, err := mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{})
		require.NoError(t, err)
		assert.True(t, tested.Delivered)
		s.setStatus(domain.WebhookActive)
		s.tell(webhook.EndpointChanged{})
		pass(time.Second)
		assert.Equal(t, append([]string{tested.EventID}, ids...), s.ids())
		s.end()
	})
}

func TestWhatOutlivesThreeDaysOfPauseFails(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.setStatus(domain.WebhookPaused)
		s.cfg.Window = 4
		s.run()
		for range 5 {
			s.queue("x", "y")
		}
		s.tell(webhook.DeliveriesQueued{})
		pass(70 * time.Hour)
		young := s.queue("x", "z")
		s.tell(webhook.DeliveriesQueued{})
		pass(3 * time.Hour)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 10, domain.DeliveryQueued: 2}, s.states())
		s.setStatus(domain.WebhookActive)
		s.tell(webhook.EndpointChanged{})
		pass(time.Second)
		assert.ElementsMatch(t, young, s.ids())
		s.end()
	})
}

func TestAnEventThatIsNoLongerKeptFails(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.apply(commit.Change{Puts: []domain.Record{&domain.Delivery{
			ID: "dlv_1", WorkspaceID: workspace, WebhookID: endpoint, EventID: "evt_gone", EventOffset: 99, Subject: "x", State: domain.DeliveryQueued, CreatedAt: time.Now(),
		}}})
		next := s.queue("x")
		s.run()
		pass(time.Second)
		assert.Equal(t, next, s.ids())
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryFailed: 1, domain.DeliveryDelivered: 1}, s.states())
		s.end()
	})
}

func TestATestIsOneAttemptUnderTheNameAskedFor(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 503, 40 * time.Millisecond }
		s.run()
		tested, err := mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{EventType: "call.initiated"})
		require.NoError(t, err)
		assert.Equal(t, webhook.TestResult{EventID: tested.EventID, ResponseStatus: 503, ResponseTimeMs: 40, Error: "503"}, tested)
		pass(3 * time.Hour)
		require.Len(t, s.seen(), 1)
		assert.Contains(t, s.seen()[0].body, `"type":"call.initiated"`)
		assert.Contains(t, s.seen()[0].body, `"test":true`)
		w := s.store.WebhookRow(workspace, endpoint)
		w.Events = []string{"call.initiated"}
		s.store.Put(&w)
		s.tell(webhook.EndpointChanged{})
		pass(time.Second)
		_, err = mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{EventType: "call.started"})
		require.NoError(t, err)
		require.Len(t, s.seen(), 2)
		assert.Contains(t, s.seen()[1].body, `"type":"call.initiated"`, "it knows only this name")
		_, err = mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{EventType: "call.exploded"})
		assert.Equal(t, domain.CodeValidation, domain.CodeOf(err))
		assert.Empty(t, s.store.DeliveryRows(endpoint))
		s.end()
	})
}

func TestADeletedEndpointIsLeftAlone(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 503, time.Second }
		s.queue("a", "b", "c")
		s.run()
		pass(10 * time.Second)
		s.apply(commit.Change{Deletes: []domain.Key{{Kind: "webhook", Workspace: workspace, ID: endpoint}}})
		s.tell(webhook.EndpointDeleted{})
		pass(2 * time.Hour)
		assert.Len(t, s.seen(), 3)
		_, err := mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		s.pid = nil
		s.run() // there is no row to serve
		_, err = mailbox.Ask[webhook.TestResult](t.Context(), sys, s.pid, webhook.SendTestEvent{})
		require.Error(t, err)
		s.pid = nil
		s.end()
	})
}

func TestAFencedEndpointStops(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.queue("a", "a", "a")
		s.store.FailOperation = func(operation string) error {
			if operation == "apply" {
				return domain.ErrFenced
			}
			return nil
		}
		s.answer = func(arrival) (int, time.Duration) { return 200, time.Second }
		s.run()
		pass(time.Hour)
		assert.Less(t, len(s.seen()), 3)
		s.pid = nil
		s.store.FailOperation = nil
		s.end()
	})
}

func TestTheEndpointsRowIsWrittenSeldomAndKeepsWhatOthersChange(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.run()
		synctest.Wait()
		before := s.store.CommitCount()
		for range 20 {
			s.queue("a")
			s.tell(webhook.DeliveriesQueued{})
			pass(100 * time.Millisecond)
		}
		w := s.store.WebhookRow(workspace, endpoint)
		w.URL = "https://example.com/other"
		s.apply(commit.Change{Puts: []domain.Record{&w}})
		pass(time.Minute)
		// per event: its commit, its row's, its result's; besides: the change and two of the row
		assert.Equal(t, 20*3+1+2, s.store.CommitCount()-before)
		assert.Equal(t, "https://example.com/other", s.store.WebhookRow(workspace, endpoint).URL)
		s.end()
	})
}

func TestAChangeOfTheRowWhileItIsWrittenIsKept(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		gets := 0
		s.store.FailOperation = func(operation string) error {
			if operation == "get" {
				gets++
			}
			if operation == "apply" && gets == 2 { // the second reads the row to change it
				gets++
				w := s.store.WebhookRow(workspace, endpoint)
				w.URL = "https://example.com/other"
				s.store.Put(&w)
			}
			return nil
		}
		s.queue("a")
		s.answer = func(arrival) (int, time.Duration) { return 404, time.Second }
		s.run()
		pass(time.Minute)
		w := s.store.WebhookRow(workspace, endpoint)
		assert.Equal(t, []any{"https://example.com/other", 1}, []any{w.URL, w.FailureCount})
		s.end()
	})
}

func TestAPageThatWasReadBeforeAResultWasStoredSendsNothingTwice(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.answer = func(arrival) (int, time.Duration) { return 200, time.Second }
		ids := s.queue("a")
		lists := 0
		s.store.AfterList = func() {
			if lists++; lists == 2 {
				time.Sleep(2 * time.Second)
			}
		}
		s.run()
		pass(500 * time.Millisecond)
		s.tell(webhook.EndpointChanged{})
		pass(time.Minute)
		assert.Equal(t, ids, s.ids())
		s.end()
	})
}
