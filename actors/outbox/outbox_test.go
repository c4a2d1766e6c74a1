package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/actors/webhook/webhooktest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

const workspace = "ws_1"

type stage struct {
	t      testing.TB
	sys    *actor.ActorSystem
	store  *webhooktest.Store
	cfg    outbox.Config
	opts   []actor.PropsOption
	parent *actor.PID
	pid    *actor.PID
	n      int

	mu     sync.Mutex
	nudged map[string]int
	sink   *actor.PID
}

func newStage(t testing.TB, sys *actor.ActorSystem) *stage {
	t.Helper()
	s := &stage{t: t, sys: sys, store: webhooktest.NewStore(), nudged: make(map[string]int)}
	s.sink = sys.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	s.cfg = outbox.Config{Workspace: workspace, Store: s.store, Log: slog.New(slog.DiscardHandler), EndpointPID: func(id string) *actor.PID {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.nudged[id]++
		return s.sink
	}}
	return s
}

func (s *stage) apply(c commit.Change) []event.Event {
	c.Workspace = workspace
	out, err := s.store.Apply(context.Background(), c)
	require.NoError(s.t, err)
	return out
}

// hook commits an endpoint and announces it, as the API does.
func (s *stage) hook(id string, edit func(*domain.Webhook)) {
	w := domain.Webhook{
		Meta: domain.Meta{ID: id, WorkspaceID: workspace, Environment: domain.Live, CreatedAt: time.Now().UTC()},
		URL:  "https://example.com/", Secret: "whsec_secret", Events: []string{"*"}, Status: domain.WebhookActive,
	}
	if edit != nil {
		edit(&w)
	}
	s.apply(commit.Change{Puts: []domain.Record{&w}})
	if s.pid != nil {
		s.sys.Root.Send(s.pid, outbox.EndpointChanged{Webhook: w})
	}
}

func (s *stage) emit(n int, edit func(*event.Draft)) (ids []string) {
	var c commit.Change
	for range n {
		s.n++
		d := event.Draft{
			ID: fmt.Sprintf("evt_%06d", s.n), Type: event.CallEnded, CreatedAt: time.Now().UTC(), WorkspaceID: workspace,
			Environment: domain.Live, Subject: "call_1", Data: map[string]any{"n": s.n},
		}
		if edit != nil {
			edit(&d)
		}
		ids = append(ids, d.ID)
		c.Events = append(c.Events, d)
	}
	s.apply(c)
	if s.pid != nil {
		s.sys.Root.Send(s.pid, outbox.EventsCommitted{})
	}
	return ids
}

type spawn struct{}

func (s *stage) run() {
	if s.parent == nil {
		s.parent = s.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, ok := ctx.Message().(spawn); ok {
				ctx.Respond(ctx.Spawn(mailbox.Props(func() actor.Actor { return outbox.New(s.cfg)() }, 20, s.opts...)))
			}
		}, actor.WithSupervisor(mailbox.RestartStrategy(s.cfg.Log, nil))))
	}
	pid, err := mailbox.Ask[*actor.PID](context.Background(), s.sys, s.parent, spawn{})
	require.NoError(s.t, err)
	s.pid = pid
}

func (s *stage) kill() {
	s.sys.Root.Poison(s.pid)
	synctest.Wait()
	s.pid = nil
}

func (s *stage) end() {
	for _, pid := range []*actor.PID{s.pid, s.parent, s.sink} {
		if pid != nil {
			s.sys.Root.Poison(pid)
			synctest.Wait()
		}
	}
}

// queued are the events of an endpoint's deliveries in the order in which it
// would send them, each with its name.
func (s *stage) queued(id string) (events []string) {
	var rows []domain.Delivery
	for _, d := range s.store.DeliveryRows(id) {
		rows = append(rows, d)
	}
	slices.SortFunc(rows, func(a, b domain.Delivery) int { return strings.Compare(a.ID, b.ID) })
	for _, d := range rows {
		events = append(events, d.EventID)
	}
	return events
}

func (s *stage) nudges(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nudged[id]
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestEachEndpointGetsWhatItAskedForInCommitOrder(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.hook("wh_all", nil)
		s.hook("wh_calls", func(w *domain.Webhook) { w.Events = []string{"call.*"} })
		s.hook("wh_twin", func(w *domain.Webhook) { w.Events = []string{"call.initiated"} })
		s.hook("wh_test", func(w *domain.Webhook) { w.Environment = domain.Test })
		s.hook("wh_paused", func(w *domain.Webhook) { w.Status = domain.WebhookPaused })
		s.hook("wh_disabled", func(w *domain.Webhook) { w.Status = domain.WebhookDisabled })
		s.hook("wh_campaign", func(w *domain.Webhook) { w.CampaignID = "campaign_1" })
		s.run()
		ended := s.emit(1, nil)[0]
		started := s.emit(1, func(d *event.Draft) { d.Type = event.CallStarted })[0]
		sandbox := s.emit(1, func(d *event.Draft) { d.Environment = domain.Test })[0]
		own := s.emit(1, func(d *event.Draft) { d.Type, d.Subject = event.CampaignStarted, "campaign_1" })[0]
		inner := s.emit(1, func(d *event.Draft) { d.Data = map[string]any{"campaign_id": "campaign_1"} })[0]
		s.emit(1, func(d *event.Draft) {
			d.Type, d.Data = event.SMSReceived, map[string]any{"body": `"campaign_id":"campaign_1"`}
		})
		pass(time.Second)
		last := "evt_000006"
		assert.Equal(t, map[string][]string{
			"wh_all": {ended, started, own, inner, last}, "wh_calls": {ended, started, inner}, "wh_twin": {started},
			"wh_test": {sandbox}, "wh_paused": {ended, started, own, inner, last}, "wh_disabled": {ended, started, own, inner, last}, "wh_campaign": {own, inner},
		}, map[string][]string{
			"wh_all": s.queued("wh_all"), "wh_calls": s.queued("wh_calls"), "wh_twin": s.queued("wh_twin"), "wh_test": s.queued("wh_test"),
			"wh_paused": s.queued("wh_paused"), "wh_disabled": s.queued("wh_disabled"), "wh_campaign": s.queued("wh_campaign"),
		})
		row := s.store.DeliveryRows("wh_twin")[started]
		assert.Equal(t, domain.Delivery{
			ID: row.ID, WorkspaceID: workspace, WebhookID: "wh_twin", EventID: started, EventType: "call.initiated", EventOffset: 2,
			Subject: "call_1", State: domain.DeliveryQueued, CreatedAt: row.CreatedAt,
		}, row)
		assert.Positive(t, s.nudged["wh_disabled"])
		assert.Positive(t, s.nudged["wh_twin"])
		s.end()
	})
}

func TestAnEndpointGetsWhatIsCommittedAfterItsCreation(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.emit(5, nil)
		pass(time.Second)
		s.hook("wh_old", nil) // before the outbox ever ran
		next := s.emit(2, nil)
		s.run()
		pass(time.Second)
		assert.Equal(t, next, s.queued("wh_old"))
		// while it runs: announced, then emitted, with a clock that was set back
		s.hook("wh_new", nil)
		pass(10 * time.Second)
		back := s.emit(3, func(d *event.Draft) { d.CreatedAt = d.CreatedAt.Add(-time.Hour) })
		pass(time.Second)
		assert.Equal(t, back, s.queued("wh_new"))
		// announced and emitted at once
		s.hook("wh_hasty", nil)
		hasty := s.emit(1, nil)
		pass(time.Second)
		assert.Equal(t, hasty, s.queued("wh_hasty"))
		s.end()
	})
}

// The clock was set back an hour, and the service was killed before the outbox
// saw what was committed then.
func TestAnEndpointMissesNothingWhereTheClockWasSetBackBeforeARestart(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.emit(5, nil)
		s.hook("wh_1", func(w *domain.Webhook) { w.FirstOffset = 6 })
		s.run()
		pass(10 * time.Second)
		s.kill()
		back := s.emit(3, func(d *event.Draft) { d.CreatedAt = d.CreatedAt.Add(-time.Hour) })
		s.run()
		pass(10 * time.Second)
		assert.Equal(t, back, s.queued("wh_1"))
		s.end()
	})
}

func TestAnEndpointThatAsksForMoreGetsNoEventsOfThePastAfterARestart(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.hook("wh_1", func(w *domain.Webhook) { w.Events = []string{"sms.*"} })
		created := time.Now().UTC()
		s.run()
		pass(time.Second)
		s.emit(10, nil)
		pass(time.Second)
		s.hook("wh_1", func(w *domain.Webhook) { w.CreatedAt = created })
		pass(time.Second)
		s.kill()
		s.run()
		next := s.emit(1, nil)
		pass(time.Second)
		assert.Equal(t, next, s.queued("wh_1"))
		s.end()
	})
}

func TestManyEventsAreQueuedInFewCommitsAndFewNudges(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.cfg.ReadBatch, s.cfg.MaxDeliveriesPerCommit = 200, 150
		s.store.ShortPages = true
		s.hook("wh_1", nil)
		s.hook("wh_2", nil)
		ids := s.emit(1000, nil)
		before := s.store.CommitCount()
		s.run()
		for range 100 {
			sys.Root.Send(s.pid, outbox.EventsCommitted{})
		}
		pass(time.Second)
		assert.Equal(t, ids, s.queued("wh_1"))
		assert.Equal(t, ids, s.queued("wh_2"))
		assert.LessOrEqual(t, s.store.CommitCount()-before, 2*10)
		assert.LessOrEqual(t, s.nudged["wh_1"], 2*10+1, "and one at its start")
		s.end()
	})
}

func TestEventsNobodyWantsCostNoCommit(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.run()
		for range 20 {
			s.emit(100, nil)
			pass(time.Second)
		}
		assert.Equal(t, 20, s.store.CommitCount())
		for range 30 {
			s.emit(100, nil)
			pass(time.Second)
		}
		assert.Equal(t, 51, s.store.CommitCount(), "the place is kept now and then")
		s.end()
	})
}

func TestALostNudgeIsMadeUpFor(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.hook("wh_1", nil)
		s.run()
		pass(time.Minute)
		pid := s.pid
		s.pid = nil
		ids := s.emit(1, nil)
		s.pid = pid
		pass(6 * time.Second)
		assert.Equal(t, ids, s.queued("wh_1"))
		s.end()
	})
}

func TestNoEventIsSkippedOrQueuedTwiceWhateverTheStoreAnswers(t *testing.T) {
	for seed := range uint64(10) {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := newStage(t, sys)
			s.cfg.ReadBatch, s.cfg.MaxDeliveriesPerCommit = 7, 9
			s.hook("wh_1", nil)
			s.hook("wh_2", nil)
			var trouble atomic.Bool
			faults, moments := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
			rows := 0
			s.store.FailOperation = func(string) error {
				if trouble.Load() && faults.IntN(3) == 0 {
					return errors.New("away")
				}
				return nil
			}
			s.store.AfterApply = func() error { // kept, but the answer is lost
				if rows++; trouble.Load() && rows%2 == 0 {
					return errors.New("timed out")
				}
				return nil
			}
			var ids []string
			for range 15 {
				s.run()
				ids = append(ids, s.emit(20, nil)...)
				trouble.Store(true)
				pass(time.Duration(moments.IntN(3000)) * time.Millisecond)
				s.kill()
				trouble.Store(false)
			}
			s.run()
			pass(time.Minute)
			assert.Equal(t, ids, s.queued("wh_1"))
			assert.Equal(t, ids, s.queued("wh_2"))
			assert.Zero(t, s.store.CountRewrittenRows("delivery"))
			s.end()
		})
	}
}

func TestALostAnswerOfTheStoreDoesNotStopTheFanOut(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.hook("wh_1", nil)
		ids := s.emit(3, nil)
		n := 0
		s.store.AfterApply = func() error {
			if n++; n == 1 {
				return errors.New("timed out")
			}
			return nil
		}
		s.run()
		synctest.Wait()
		before := s.nudges("wh_1")
		pass(time.Second)
		assert.Greater(t, s.nudges("wh_1"), before, "what was kept all the same is told")
		ids = append(ids, s.emit(3, nil)...)
		pass(time.Second)
		assert.Equal(t, ids, s.queued("wh_1"))
		assert.Zero(t, s.store.CountRewrittenRows("delivery"))
		s.end()
	})
}

// A second fan-out of an event would put a delivery that was sent back into the
// queue.
func TestTwoOutboxesAtOnceNeverWriteARowAgain(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.cfg.ReadBatch = 10
		s.hook("wh_1", nil)
		s.run()
		first := s.pid
		s.run()
		ids := s.emit(500, nil)
		sys.Root.Send(first, outbox.EventsCommitted{})
		pass(time.Minute)
		assert.Equal(t, ids, s.queued("wh_1"))
		assert.Zero(t, s.store.CountRewrittenRows("delivery"))
		sys.Root.Poison(first)
		s.end()
	})
}

func TestTheDeliveriesOfADeletedEndpointAreRemovedAlsoAfterACrash(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		for _, id := range []string{"wh_1", "wh_2", "wh_3"} {
			s.hook(id, nil)
		}
		ids := s.emit(700, nil)
		s.run()
		pass(time.Second)
		require.Len(t, s.queued("wh_1"), 700)
		s.apply(commit.Change{Deletes: []domain.Key{{Kind: "webhook", Workspace: workspace, ID: "wh_1"}}})
		sys.Root.Send(s.pid, outbox.EndpointDeleted{WebhookID: "wh_1"})
		ids = append(ids, s.emit(10, nil)...)
		pass(time.Second)
		assert.Empty(t, s.queued("wh_1"))
		assert.Equal(t, ids, s.queued("wh_2"))
		s.kill()
		s.apply(commit.Change{Deletes: []domain.Key{{Kind: "webhook", Workspace: workspace, ID: "wh_2"}}})
		s.run()
		pass(time.Second)
		assert.Empty(t, s.queued("wh_2"))
		assert.Equal(t, ids, s.queued("wh_3"))
		s.end()
	})
}

func TestAPanicAtAnyMessageSkipsNothing(t *testing.T) {
	for _, kind := range []string{"Nudge", "Changed", "Deleted", "positionLoaded", "eventsRead", "deliveriesCommitted", "swept", "wake"} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := newStage(t, sys)
			var planted atomic.Int32
			s.opts = []actor.PropsOption{actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
					if fmt.Sprintf("%T", env.Message) == "outbox."+kind && planted.Add(1) == 1 {
						panic("planted")
					}
					next(c, env)
				}
			})}
			s.hook("wh_0", nil)
			s.hook("wh_1", nil)
			ids := s.emit(10, nil)
			s.run()
			pass(10 * time.Second)
			s.hook("wh_2", nil)
			more := s.emit(10, nil)
			s.apply(commit.Change{Deletes: []domain.Key{{Kind: "webhook", Workspace: workspace, ID: "wh_0"}}})
			sys.Root.Send(s.pid, outbox.EndpointDeleted{WebhookID: "wh_0"})
			pass(time.Minute)
			assert.Positive(t, planted.Load(), kind)
			assert.Equal(t, append(ids, more...), s.queued("wh_1"), kind)
			assert.Equal(t, more, s.queued("wh_2"), kind)
			assert.Empty(t, s.queued("wh_0"), kind)
			s.end()
		})
	}
}

func TestAFencedOutboxStops(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.hook("wh_1", nil)
		s.emit(1, nil)
		tries := 0
		s.store.FailOperation = func(operation string) error {
			if operation == "apply" {
				tries++
				return domain.ErrFenced
			}
			return nil
		}
		s.run()
		pass(time.Hour)
		assert.Equal(t, 1, tries)
		s.store.FailOperation = nil
		s.end()
	})
}

func TestIdsOfDeliveriesSortEvenWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_900_000_000_000)
	last := ""
	for i := range 10_000 {
		at := now.Add(time.Duration(i%100) * -time.Second)
		id := outbox.NextID(last, at)
		require.Greater(t, id, last)
		last = id
	}
	later := outbox.NextID(last, now.Add(time.Hour))
	require.Greater(t, later, last)
	assert.Equal(t, "dlv_01ARZ3NDEM0000000000000000", outbox.NextID("dlv_01ARZ3NDEKZZZZZZZZZZZZZZZZ", time.UnixMilli(0)))
}
