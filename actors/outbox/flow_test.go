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

// TestFromTheEventToTheEndpoint runs outbox and endpoint on one store, kills
// both at random moments, and compares what arrived.
func TestFromTheEventToTheEndpoint(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		far := &counter{got: make(map[string]int)}
		s.hook("wh_1", nil)
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
			s.run()
			ids = append(ids, s.emit(30, nil)...)
			pass(time.Duration(moments.IntN(300)) * time.Millisecond)
			sys.Root.Poison(end)
			s.kill()
		}
		start()
		s.run()
		pass(time.Hour)
		far.mu.Lock()
		assert.Len(t, far.got, len(ids))
		far.mu.Unlock()
		for id, d := range s.store.DeliveryRows("wh_1") {
			assert.Equal(t, domain.DeliveryDelivered, d.State, id)
		}
		sys.Root.Poison(end)
		s.end()
	})
}

type counter struct {
	mu  sync.Mutex
	got map[string]int
}

func (c *counter) Send(ctx context.Context, r webhook.Request) webhook.SendResult {
	id, _, _ := strings.Cut(strings.TrimPrefix(string(r.Body), `{"id":"`), `"`)
	c.mu.Lock()
	c.got[id]++
	c.mu.Unlock()
	select {
	case <-time.After(5 * time.Millisecond):
	case <-ctx.Done():
	}
	return webhook.SendResult{Status: 200}
}

// BenchmarkFanOut is events per second to two endpoints, on the store in
// memory.
func BenchmarkFanOut(b *testing.B) { benchmarkFanOut(b, func(*stage) {}) }

func benchmarkFanOut(b *testing.B, beside func(*stage)) {
	b.Helper()
	sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	s := newStage(b, sys)
	s.hook("wh_1", nil)
	s.hook("wh_2", func(w *domain.Webhook) { w.Events = []string{"call.*"} })
	beside(s)
	s.emit(b.N, nil)
	last := fmt.Sprintf("evt_%06d", b.N)
	b.ResetTimer()
	s.run()
	for {
		var d domain.Delivery
		d.WorkspaceID, d.WebhookID, d.EventID = workspace, "wh_2", last
		if _, err := s.store.Get(context.Background(), &d); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
}
