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

type fixture struct {
	t          testing.TB
	sys        *actor.ActorSystem
	store      *webhooktest.Store
	cfg        outbox.Config
	opts       []actor.PropsOption
	parent     *actor.PID
	pid        *actor.PID
	eventCount int

	mu       sync.Mutex
	notified map[string]int
	sink     *actor.PID
}

func newFixture(t testing.TB, sys *actor.ActorSystem) *fixture {
	t.Helper()
	s := &fixture{t: t, sys: sys, store: webhooktest.NewStore(), notified: make(map[string]int)}
	s.sink = sys.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	s.cfg = outbox.Config{Workspace: workspace, Store: s.store, Log: slog.New(slog.DiscardHandler), EndpointPID: func(id string) *actor.PID {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.notified[id]++
		return s.sink
	}}
	return s
}

func (s *fixture) apply(c commit.Change) []event.Event {
	c.Workspace = workspace
	out, err := s.store.Apply(context.Background(), c)
	require.NoError(s.t, err)
	return out
}

// addWebhook commits an endpoint and sends EndpointChanged to the outbox, as the API does.
func (s *fixture) addWebhook(id string, edit func(*domain.Webhook)) {
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

func (s *fixture) commitEvents(n int, edit func(*event.Draft)) (ids []string) {
	var c commit.Change
	for range n {
		s.eventCount++
		d := event.Draft{
			ID: fmt.Sprintf("evt_%06d", s.eventCount), Type: event.CallEnded, CreatedAt: time.Now().UTC(), WorkspaceID: workspace,
			Environment: domain.Live, Subject: "call_1", Data: map[string]any{"n": s.eventCount},
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

type spawnOutbox struct{}

func (s *fixture) startOutbox() {
	if s.parent == nil {
		s.parent = s.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, ok := ctx.Message().(spawnOutbox); ok {
				ctx.Respond(ctx.Spawn(mailbox.Props(func() actor.Actor { return outbox.New(s.cfg)() }, 20, s.opts...)))
			}
		}, actor.WithSupervisor(mailbox.RestartStrategy(s.cfg.Log, nil))))
	}
	pid, err := mailbox.Ask[*actor.PID](context.Background(), s.sys, s.parent, spawnOutbox{})
	require.NoError(s.t, err)
	s.pid = pid
}

func (s *fixture) stopOutbox() {
	s.sys.Root.Poison(s.pid)
	synctest.Wait()
	s.pid = nil
}

func (s *fixture) close() {
	for _, pid := range []*actor.PID{s.pid, s.parent, s.sink} {
		if pid != nil {
			s.sys.Root.Poison(pid)
			synctest.Wait()
		}
	}
}

// queuedEvents returns the event IDs of an endpoint's deliveries in the order in which they are sent.
func (s *fixture) queuedEvents(id string) (events []string) {
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

func (s *fixture) notificationCount(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notified[id]
}

func advanceTime(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestEndpointsGetSubscribedEventsInCommitOrder(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.addWebhook("wh_all", nil)
		s.addWebhook("wh_calls", func(w *domain.Webhook) { w.Events = []string{"call.*"} })
		s.addWebhook("wh_twin", func(w *domain.Webhook) { w.Events = []string{"call.initiated"} })
		s.addWebhook("wh_test", func(w *domain.Webhook) { w.Environment = domain.Test })
		s.addWebhook("wh_paused", func(w *domain.Webhook) { w.Status = domain.WebhookPaused })
		s.addWebhook("wh_disabled", func(w *domain.Webhook) { w.Status = domain.WebhookDisabled })
		s.addWebhook("wh_campaign", func(w *domain.Webhook) { w.CampaignID = "campaign_1" })
		s.startOutbox()
		ended := s.commitEvents(1, nil)[0]
		started := s.commitEvents(1, func(d *event.Draft) { d.Type = event.CallStarted })[0]
		sandbox := s.commitEvents(1, func(d *event.Draft) { d.Environment = domain.Test })[0]
		own := s.commitEvents(1, func(d *event.Draft) { d.Type, d.Subject = event.CampaignStarted, "campaign_1" })[0]
		inner := s.commitEvents(1, func(d *event.Draft) { d.Data = map[string]any{"campaign_id": "campaign_1"} })[0]
		s.commitEvents(1, func(d *event.Draft) {
			d.Type, d.Data = event.SMSReceived, map[string]any{"body": `"campaign_id":"campaign_1"`}
		})
		advanceTime(time.Second)
		last := "evt_000006"
		assert.Equal(t, map[string][]string{
			"wh_all": {ended, started, own, inner, last}, "wh_calls": {ended, started, inner}, "wh_twin": {started},
			"wh_test": {sandbox}, "wh_paused": {ended, started, own, inner, last}, "wh_disabled": {ended, started, own, inner, last}, "wh_campaign": {own, inner},
		}, map[string][]string{
			"wh_all": s.queuedEvents("wh_all"), "wh_calls": s.queuedEvents("wh_calls"), "wh_twin": s.queuedEvents("wh_twin"), "wh_test": s.queuedEvents("wh_test"),
			"wh_paused": s.queuedEvents("wh_paused"), "wh_disabled": s.queuedEvents("wh_disabled"), "wh_campaign": s.queuedEvents("wh_campaign"),
		})
		row := s.store.DeliveryRows("wh_twin")[started]
		assert.Equal(t, domain.Delivery{
			ID: row.ID, WorkspaceID: workspace, WebhookID: "wh_twin", EventID: started, EventType: "call.initiated", EventOffset: 2,
			Subject: "call_1", State: domain.DeliveryQueued, CreatedAt: row.CreatedAt,
		}, row)
		assert.Positive(t, s.notified["wh_disabled"])
		assert.Positive(t, s.notified["wh_twin"])
		s.close()
	})
}

func TestEndpointGetsEventsCommittedAfterItsCreation(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.commitEvents(5, nil)
		advanceTime(time.Second)
		s.addWebhook("wh_old", nil) // before the outbox has ever run
		next := s.commitEvents(2, nil)
		s.startOutbox()
		advanceTime(time.Second)
		assert.Equal(t, next, s.queuedEvents("wh_old"))
		// While the outbox runs, an endpoint receives events whose time is earlier because the clock was set back.
		s.addWebhook("wh_new", nil)
		advanceTime(10 * time.Second)
		back := s.commitEvents(3, func(d *event.Draft) { d.CreatedAt = d.CreatedAt.Add(-time.Hour) })
		advanceTime(time.Second)
		assert.Equal(t, back, s.queuedEvents("wh_new"))
		// An endpoint receives an event that is committed immediately after the creation of the endpoint.
		s.addWebhook("wh_hasty", nil)
		hasty := s.commitEvents(1, nil)
		advanceTime(time.Second)
		assert.Equal(t, hasty, s.queuedEvents("wh_hasty"))
		s.close()
	})
}

// The clock is set back an hour, and the service stops before the outbox reads the events committed after that. The
// endpoint must still receive these events.
func TestEndpointMissesNoEventWhenClockIsSetBackBeforeRestart(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.commitEvents(5, nil)
		s.addWebhook("wh_1", func(w *domain.Webhook) { w.FirstOffset = 6 })
		s.startOutbox()
		advanceTime(10 * time.Second)
		s.stopOutbox()
		back := s.commitEvents(3, func(d *event.Draft) { d.CreatedAt = d.CreatedAt.Add(-time.Hour) })
		s.startOutbox()
		advanceTime(10 * time.Second)
		assert.Equal(t, back, s.queuedEvents("wh_1"))
		s.close()
	})
}

func TestEndpointWithNewEventTypesGetsNoPastEventsAfterRestart(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.addWebhook("wh_1", func(w *domain.Webhook) { w.Events = []string{"sms.*"} })
		created := time.Now().UTC()
		s.startOutbox()
		advanceTime(time.Second)
		s.commitEvents(10, nil)
		advanceTime(time.Second)
		s.addWebhook("wh_1", func(w *domain.Webhook) { w.CreatedAt = created })
		advanceTime(time.Second)
		s.stopOutbox()
		s.startOutbox()
		next := s.commitEvents(1, nil)
		advanceTime(time.Second)
		assert.Equal(t, next, s.queuedEvents("wh_1"))
		s.close()
	})
}

func TestManyEventsNeedFewCommitsAndNotifications(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.cfg.ReadBatch, s.cfg.MaxDeliveriesPerCommit = 200, 150
		s.store.ShortPages = true
		s.addWebhook("wh_1", nil)
		s.addWebhook("wh_2", nil)
		ids := s.commitEvents(1000, nil)
		before := s.store.CommitCount()
		s.startOutbox()
		for range 100 {
			sys.Root.Send(s.pid, outbox.EventsCommitted{})
		}
		advanceTime(time.Second)
		assert.Equal(t, ids, s.queuedEvents("wh_1"))
		assert.Equal(t, ids, s.queuedEvents("wh_2"))
		assert.LessOrEqual(t, s.store.CommitCount()-before, 2*10)
		assert.LessOrEqual(t, s.notified["wh_1"], 2*10+1, "and one at its start")
		s.close()
	})
}

func TestEventsWithoutSubscribersNeedNoCommit(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.startOutbox()
		for range 20 {
			s.commitEvents(100, nil)
			advanceTime(time.Second)
		}
		assert.Equal(t, 20, s.store.CommitCount())
		for range 30 {
			s.commitEvents(100, nil)
			advanceTime(time.Second)
		}
		assert.Equal(t, 51, s.store.CommitCount(), "the place is kept now and then")
		s.close()
	})
}

func TestOutboxFindsEventsAfterLostNotification(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.addWebhook("wh_1", nil)
		s.startOutbox()
		advanceTime(time.Minute)
		pid := s.pid
		s.pid = nil
		ids := s.commitEvents(1, nil)
		s.pid = pid
		advanceTime(6 * time.Second)
		assert.Equal(t, ids, s.queuedEvents("wh_1"))
		s.close()
	})
}

func TestEventsAreQueuedExactlyOnceDespiteStoreErrors(t *testing.T) {
	for seed := range uint64(10) {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := newFixture(t, sys)
			s.cfg.ReadBatch, s.cfg.MaxDeliveriesPerCommit = 7, 9
			s.addWebhook("wh_1", nil)
			s.addWebhook("wh_2", nil)
			var trouble atomic.Bool
			faults, moments := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
			rows := 0
			s.store.FailOperation = func(string) error {
				if trouble.Load() && faults.IntN(3) == 0 {
					return errors.New("away")
				}
				return nil
			}
			s.store.AfterApply = func() error { // the commit succeeds, but its reply is lost
				if rows++; trouble.Load() && rows%2 == 0 {
					return errors.New("timed out")
				}
				return nil
			}
			var ids []string
			for range 15 {
				s.startOutbox()
				ids = append(ids, s.commitEvents(20, nil)...)
				trouble.Store(true)
				advanceTime(time.Duration(moments.IntN(3000)) * time.Millisecond)
				s.stopOutbox()
				trouble.Store(false)
			}
			s.startOutbox()
			advanceTime(time.Minute)
			assert.Equal(t, ids, s.queuedEvents("wh_1"))
			assert.Equal(t, ids, s.queuedEvents("wh_2"))
			assert.Zero(t, s.store.CountRewrittenRows("delivery"))
			s.close()
		})
	}
}

func TestOutboxContinuesAfterLostCommitReply(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.addWebhook("wh_1", nil)
		ids := s.commitEvents(3, nil)
		n := 0
		s.store.AfterApply = func() error {
			if n++; n == 1 {
				return errors.New("timed out")
			}
			return nil
		}
		s.startOutbox()
		synctest.Wait()
		before := s.notificationCount("wh_1")
		advanceTime(time.Second)
		assert.Greater(t, s.notificationCount("wh_1"), before, "the endpoint is notified of the stored deliveries")
		ids = append(ids, s.commitEvents(3, nil)...)
		advanceTime(time.Second)
		assert.Equal(t, ids, s.queuedEvents("wh_1"))
		assert.Zero(t, s.store.CountRewrittenRows("delivery"))
		s.close()
	})
}

// Two outboxes read the same events. No delivery row may be stored twice, because the second commit would reset a
// delivery that was already sent.
func TestConcurrentOutboxesDoNotRewriteRows(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.cfg.ReadBatch = 10
		s.addWebhook("wh_1", nil)
		s.startOutbox()
		first := s.pid
		s.startOutbox()
		ids := s.commitEvents(500, nil)
		sys.Root.Send(first, outbox.EventsCommitted{})
		advanceTime(time.Minute)
		assert.Equal(t, ids, s.queuedEvents("wh_1"))
		assert.Zero(t, s.store.CountRewrittenRows("delivery"))
		sys.Root.Poison(first)
		s.close()
	})
}

func TestDeliveriesOfDeletedEndpointAreRemovedAlsoAfterCrash(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		for _, id := range []string{"wh_1", "wh_2", "wh_3"} {
			s.addWebhook(id, nil)
		}
		ids := s.commitEvents(700, nil)
		s.startOutbox()
		advanceTime(time.Second)
		require.Len(t, s.queuedEvents("wh_1"), 700)
		s.apply(commit.Change{Deletes: []domain.Key{{Kind: "webhook", Workspace: workspace, ID: "wh_1"}}})
		sys.Root.Send(s.pid, outbox.EndpointDeleted{WebhookID: "wh_1"})
		ids = append(ids, s.commitEvents(10, nil)...)
		advanceTime(time.Second)
		assert.Empty(t, s.queuedEvents("wh_1"))
		assert.Equal(t, ids, s.queuedEvents("wh_2"))
		s.stopOutbox()
		s.apply(commit.Change{Deletes: []domain.Key{{Kind: "webhook", Workspace: workspace, ID: "wh_2"}}})
		s.startOutbox()
		advanceTime(time.Second)
		assert.Empty(t, s.queuedEvents("wh_2"))
		assert.Equal(t, ids, s.queuedEvents("wh_3"))
		s.close()
	})
}

func TestPanicAtAnyMessageSkipsNoEvent(t *testing.T) {
	for _, kind := range []string{"EventsCommitted", "EndpointChanged", "EndpointDeleted", "positionLoaded", "eventsRead", "deliveriesCommitted", "sweepDone", "wakeUpDue"} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			s := newFixture(t, sys)
			var planted atomic.Int32
			s.opts = []actor.PropsOption{actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
					if fmt.Sprintf("%T", env.Message) == "outbox."+kind && planted.Add(1) == 1 {
						panic("planted")
					}
					next(c, env)
				}
			})}
			s.addWebhook("wh_0", nil)
			s.addWebhook("wh_1", nil)
			ids := s.commitEvents(10, nil)
			s.startOutbox()
			advanceTime(10 * time.Second)
			s.addWebhook("wh_2", nil)
			more := s.commitEvents(10, nil)
			s.apply(commit.Change{Deletes: []domain.Key{{Kind: "webhook", Workspace: workspace, ID: "wh_0"}}})
			sys.Root.Send(s.pid, outbox.EndpointDeleted{WebhookID: "wh_0"})
			advanceTime(time.Minute)
			assert.Positive(t, planted.Load(), kind)
			assert.Equal(t, append(ids, more...), s.queuedEvents("wh_1"), kind)
			assert.Equal(t, more, s.queuedEvents("wh_2"), kind)
			assert.Empty(t, s.queuedEvents("wh_0"), kind)
			s.close()
		})
	}
}

func TestFencedOutboxStops(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.addWebhook("wh_1", nil)
		s.commitEvents(1, nil)
		tries := 0
		s.store.FailOperation = func(operation string) error {
			if operation == "apply" {
				tries++
				return domain.ErrFenced
			}
			return nil
		}
		s.startOutbox()
		advanceTime(time.Hour)
		assert.Equal(t, 1, tries)
		s.store.FailOperation = nil
		s.close()
	})
}

func TestDeliveryIDsSortWhenClockIsSetBack(t *testing.T) {
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
