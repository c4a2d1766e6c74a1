package outbox_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
)

// The test runs an outbox and an endpoint on one store and stops both at random moments. Afterwards the server must
// have received every event.
func TestOutboxAndEndpointDeliverEveryEventAcrossRestarts(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		far := &countingSender{received: make(map[string]int)}
		s.addWebhook("wh_1", nil)
		var ids []string
		var end *actor.PID
		s.cfg.EndpointPID = func(string) *actor.PID {
			s.mu.Lock()
			defer s.mu.Unlock()
			return end
		}
		start := func() {
			pid := sys.Root.Spawn(mailbox.Props(webhook.New(webhook.Config{Workspace: workspace, ID: "wh_1", Store: s.store, Sender: far, Log: s.cfg.Log}), 20))
			s.mu.Lock()
			end = pid
			s.mu.Unlock()
		}
		moments := rand.New(rand.NewPCG(1, 1))
		for range 20 {
			start()
			s.startOutbox()
			ids = append(ids, s.commitEvents(30, nil)...)
			advanceTime(time.Duration(moments.IntN(300)) * time.Millisecond)
			sys.Root.Poison(end)
			s.stopOutbox()
		}
		start()
		s.startOutbox()
		advanceTime(time.Hour)
		far.mu.Lock()
		assert.Len(t, far.received, len(ids))
		far.mu.Unlock()
		for id, d := range s.store.DeliveryRows("wh_1") {
			assert.Equal(t, domain.DeliveryDelivered, d.State, id)
		}
		sys.Root.Poison(end)
		s.close()
	})
}

type countingSender struct {
	mu       sync.Mutex
	received map[string]int
}

func (c *countingSender) Send(ctx context.Context, r webhook.Request) webhook.SendResult {
	id, _, _ := strings.Cut(strings.TrimPrefix(string(r.Body), `{"id":"`), `"`)
	c.mu.Lock()
	c.received[id]++
	c.mu.Unlock()
	select {
	case <-time.After(5 * time.Millisecond):
	case <-ctx.Done():
	}
	return webhook.SendResult{Status: 200}
}

// BenchmarkFanOut measures how many events per second the outbox queues for two endpoints on the in-memory store.
func BenchmarkFanOut(b *testing.B) { benchmarkFanOut(b, func(*fixture) {}) }

func benchmarkFanOut(b *testing.B, addEndpoints func(*fixture)) {
	b.Helper()
	sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	s := newFixture(b, sys)
	s.addWebhook("wh_1", nil)
	s.addWebhook("wh_2", func(w *domain.Webhook) { w.Events = []string{"call.*"} })
	addEndpoints(s)
	s.commitEvents(b.N, nil)
	last := fmt.Sprintf("evt_%06d", b.N)
	b.ResetTimer()
	s.startOutbox()
	for {
		var d domain.Delivery
		d.WorkspaceID, d.WebhookID, d.EventID = workspace, "wh_2", last
		if _, err := s.store.Get(context.Background(), &d); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
}
