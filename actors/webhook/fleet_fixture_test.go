package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
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

// simulatedEndpoint is an endpoint of a fleet. answer returns the status and the delay of each of its responses.
type simulatedEndpoint struct {
	workspace, id string
	answer        func(id, attempt string) (status int, takes time.Duration)

	pid     *actor.PID
	arrived []arrival
}

// endpointFleet runs many endpoints of several workspaces that share one send pool.
type endpointFleet struct {
	t      testing.TB
	sys    *actor.ActorSystem
	pool   *webhook.SendPool
	stores map[string]*webhooktest.Store
	start  time.Time

	mu                          sync.Mutex
	houses                      map[string]*simulatedEndpoint
	openRequests, maxConcurrent int
	ended                       int // attempts that took 30 s
}

func newEndpointFleet(t testing.TB, sys *actor.ActorSystem, slots int) *endpointFleet {
	t.Helper()
	return &endpointFleet{t: t, sys: sys, pool: webhook.NewSendPool(slots), stores: make(map[string]*webhooktest.Store), houses: make(map[string]*simulatedEndpoint), start: time.Now()}
}

// addEndpoint adds an endpoint and a number of events for it. Each event has a different subject.
func (s *endpointFleet) addEndpoint(workspace, id string, events int, answer func(id, attempt string) (int, time.Duration)) *simulatedEndpoint {
	s.t.Helper()
	h := &simulatedEndpoint{workspace: workspace, id: id, answer: answer}
	s.mu.Lock()
	s.houses[id] = h
	s.mu.Unlock()
	if s.stores[workspace] == nil {
		s.stores[workspace] = webhooktest.NewStore()
	}
	w := &domain.Webhook{Meta: domain.Meta{ID: id, WorkspaceID: workspace}, URL: "https://example.com/" + id, Secret: "a plain secret", Status: domain.WebhookActive}
	_, err := s.stores[workspace].Apply(context.Background(), commit.Change{Workspace: workspace, Puts: []domain.Record{w}})
	require.NoError(s.t, err)
	s.addEvents(h, events)
	return h
}

// addEvents commits more events for an endpoint.
func (s *endpointFleet) addEvents(h *simulatedEndpoint, events int) {
	s.t.Helper()
	store := s.stores[h.workspace]
	var c, rows commit.Change
	last := s.lastOffset(h.workspace)
	for i := range events {
		id := fmt.Sprintf("evt_%s_%06d", h.id, int(last)+i)
		c.Events = append(c.Events, event.Draft{ID: id, Type: event.CallEnded, CreatedAt: time.Now().UTC(), WorkspaceID: h.workspace, Subject: id, Data: map[string]int{"n": i}})
	}
	got, err := store.Apply(context.Background(), c)
	require.NoError(s.t, err)
	for _, ev := range got {
		rows.Puts = append(rows.Puts, &domain.Delivery{
			ID: fmt.Sprintf("dlv_%06d", ev.Offset), WorkspaceID: h.workspace, WebhookID: h.id, EventID: ev.ID, EventType: string(ev.Type),
			EventOffset: ev.Offset, Subject: ev.Subject, State: domain.DeliveryQueued, CreatedAt: time.Now().UTC(),
		})
	}
	_, err = store.Apply(context.Background(), rows)
	require.NoError(s.t, err)
	if h.pid != nil {
		s.sys.Root.Send(h.pid, webhook.DeliveriesQueued{})
	}
}

// lastOffset returns the offset of a workspace's last event.
func (s *endpointFleet) lastOffset(workspace string) uint64 {
	s.t.Helper()
	last, err := s.stores[workspace].LastOffset(context.Background(), workspace)
	require.NoError(s.t, err)
	return last
}

func (s *endpointFleet) startEndpoints(houses ...*simulatedEndpoint) {
	for _, h := range houses {
		h.pid = s.sys.Root.Spawn(mailbox.Props(webhook.New(webhook.Config{
			Workspace: h.workspace, ID: h.id, Store: s.stores[h.workspace], Sender: s, Pool: s.pool, Log: slog.New(slog.DiscardHandler),
		}), 20))
	}
}

func (s *endpointFleet) close() {
	for _, h := range s.houses {
		if h.pid != nil {
			s.sys.Root.Poison(h.pid)
		}
	}
	synctest.Wait()
}

// Send implements webhook.Sender for all endpoints of the fleet.
func (s *endpointFleet) Send(ctx context.Context, r webhook.Request) webhook.SendResult {
	var body struct{ ID string }
	if err := json.Unmarshal(r.Body, &body); err != nil {
		panic(err)
	}
	attempt := ""
	for _, h := range r.Header {
		if h.Name == "X-Svc-Delivery-Attempt" {
			attempt = h.Value
		}
	}
	s.mu.Lock()
	h := s.houses[strings.TrimPrefix(r.URL, "https://example.com/")]
	s.openRequests++
	s.maxConcurrent = max(s.maxConcurrent, s.openRequests)
	h.arrived = append(h.arrived, arrival{at: time.Since(s.start), id: body.ID, attempt: attempt})
	status, takes := h.answer(body.ID, attempt)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.openRequests--
		if takes == hangTime {
			s.ended++
		}
		s.mu.Unlock()
	}()
	begun := time.Now()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return webhook.SendResult{Error: "cancelled"}
	}
	a := webhook.SendResult{Status: status, Duration: time.Since(begun)}
	if status < 200 || status > 299 {
		a.Error = fmt.Sprint("status ", status)
	}
	return a
}

// withLock runs f while it holds the lock of the fleet, so that no request changes the fleet.
func (s *endpointFleet) withLock(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// hangTime is the duration of a request to an endpoint that never answers.
const hangTime = 30 * time.Second

func neverAnswers(string, string) (int, time.Duration)   { return 0, hangTime }
func answersQuickly(string, string) (int, time.Duration) { return 200, 10 * time.Millisecond }
