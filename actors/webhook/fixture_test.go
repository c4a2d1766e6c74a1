package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/actors/webhook/webhooktest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

const (
	workspace = "ws_1"
	endpoint  = "wh_1"
)

// arrival is one request that reached the simulated remote server.
type arrival struct {
	at      time.Duration // since the start
	id      string
	attempt string
	first   string
	body    string
	url     string
}

// fixture is one endpoint actor with a store and a simulated remote server.
type fixture struct {
	t              *testing.T
	sys            *actor.ActorSystem
	store          *webhooktest.Store
	start          time.Time
	cfg            webhook.Config
	opts           []actor.PropsOption
	parent         *actor.PID
	pid            *actor.PID
	n              int
	maxRetriesHeld atomic.Int64 // the largest number of retries that an actor held in memory

	mu       sync.Mutex
	arrivals []arrival
	open     int
	most     int
	answer   func(a arrival) (status int, takes time.Duration)
}

func newFixture(t *testing.T, sys *actor.ActorSystem) *fixture {
	t.Helper()
	s := &fixture{t: t, sys: sys, store: webhooktest.NewStore(), start: time.Now()}
	s.answer = func(arrival) (int, time.Duration) { return 200, 0 }
	s.cfg = webhook.Config{Workspace: workspace, ID: endpoint, Store: s.store, Sender: s, Log: slog.New(slog.DiscardHandler)}
	s.setStatus(domain.WebhookActive)
	return s
}

func (s *fixture) setStatus(status domain.WebhookStatus) {
	w := s.store.WebhookRow(workspace, endpoint)
	w.Meta = domain.Meta{ID: endpoint, WorkspaceID: workspace, Environment: domain.Live}
	w.URL, w.Secret, w.Events, w.Status = "https://example.com/hook", "a plain secret", []string{"*"}, status
	s.apply(commit.Change{Puts: []domain.Record{&w}})
}

func (s *fixture) apply(c commit.Change) []event.Event {
	c.Workspace = workspace
	out, err := s.store.Apply(context.Background(), c)
	require.NoError(s.t, err)
	return out
}

// Send implements webhook.Sender. It responds as the simulated remote server.
func (s *fixture) Send(ctx context.Context, r webhook.Request) webhook.SendResult {
	var body struct{ ID string }
	if err := json.Unmarshal(r.Body, &body); err != nil {
		panic(err)
	}
	a := arrival{at: time.Since(s.start), id: body.ID, body: string(r.Body), url: r.URL}
	for _, h := range r.Header {
		switch h.Name {
		case "X-Svc-Delivery-Attempt":
			a.attempt = h.Value
		case "X-Svc-First-Attempt":
			a.first = h.Value
		}
	}
	s.mu.Lock()
	s.arrivals = append(s.arrivals, a)
	s.open++
	s.most = max(s.most, s.open)
	status, takes := s.answer(a)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
	}()
	start := time.Now()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return webhook.SendResult{Error: "cancelled"}
	}
	return webhook.SendResult{Status: status, Duration: time.Since(start), Error: map[bool]string{true: "", false: strconv.Itoa(status)}[status == 200]}
}

// queueEvents commits, for each subject, an event and a delivery of the event.
func (s *fixture) queueEvents(subjects ...string) []string {
	var c commit.Change
	var ids []string
	for _, subject := range subjects {
		s.n++
		id := fmt.Sprintf("evt_%06d", s.n)
		ids = append(ids, id)
		c.Events = append(c.Events, event.Draft{ID: id, Type: event.CallEnded, CreatedAt: time.Now().UTC(), WorkspaceID: workspace, Environment: domain.Live, Subject: subject, Data: map[string]any{"n": s.n}})
	}
	var rows commit.Change
	for _, ev := range s.apply(c) {
		rows.Puts = append(rows.Puts, &domain.Delivery{
			ID: fmt.Sprintf("dlv_%06d", ev.Offset), WorkspaceID: workspace, WebhookID: endpoint, EventID: ev.ID, EventType: string(ev.Type),
			EventOffset: ev.Offset, Subject: ev.Subject, State: domain.DeliveryQueued, CreatedAt: time.Now().UTC(),
		})
	}
	s.apply(rows)
	return ids
}

type spawnEndpoint struct{}

// retryCounter is an endpoint actor that records the largest number of retries that it held in memory.
type retryCounter struct {
	actor.Actor
	most *atomic.Int64
}

func (w *retryCounter) Receive(ctx actor.Context) {
	w.Actor.Receive(ctx)
	w.most.Store(max(w.most.Load(), int64(webhook.RetriesInMemory(w.Actor))))
}

// startActor starts the endpoint actor under a supervisor that restarts it after a panic.
func (s *fixture) startActor() {
	if s.parent == nil {
		s.parent = s.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, ok := ctx.Message().(spawnEndpoint); ok {
				ctx.Respond(ctx.Spawn(mailbox.Props(func() actor.Actor { return &retryCounter{webhook.New(s.cfg)(), &s.maxRetriesHeld} }, 20, s.opts...)))
			}
		}, actor.WithSupervisor(mailbox.RestartStrategy(s.cfg.Log, nil))))
	}
	pid, err := mailbox.Ask[*actor.PID](context.Background(), s.sys, s.parent, spawnEndpoint{})
	require.NoError(s.t, err)
	s.pid = pid
}

func (s *fixture) send(msg any) { s.sys.Root.Send(s.pid, msg) }

// killActor stops the endpoint actor at once. Results that are not committed are lost, as in a crash.
func (s *fixture) killActor() {
	if s.pid != nil {
		s.send(&actor.PoisonPill{})
		synctest.Wait()
		s.pid = nil
	}
}

func (s *fixture) close() {
	s.killActor()
	if s.parent != nil {
		s.sys.Root.Poison(s.parent)
	}
	synctest.Wait()
}

func (s *fixture) requests() []arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]arrival(nil), s.arrivals...)
}

func (s *fixture) requestedEvents() []string {
	var ids []string
	for _, a := range s.requests() {
		ids = append(ids, a.id)
	}
	return ids
}

func (s *fixture) stateCounts() map[domain.DeliveryState]int {
	n := make(map[domain.DeliveryState]int)
	for _, d := range s.store.DeliveryRows(endpoint) {
		n[d.State]++
	}
	return n
}

func advanceTime(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
