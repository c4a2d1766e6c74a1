package leasetest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

// TestHolder is a lease.Holder that records which shards it has started and lost.
type TestHolder struct {
	*lease.Holder
	Engine lease.Engine
	ID     string

	mu     sync.Mutex
	tokens map[int]lease.Token
	lost   int
}

// JoinHolder creates a holder and joins it to the cluster. The holder leaves when the test ends.
func (s Suite) JoinHolder(t testing.TB, id string, shards int, o lease.Options) *TestHolder {
	t.Helper()
	holder := &TestHolder{ID: id, Engine: s.engine(t, o), tokens: make(map[int]lease.Token)}
	holder.Holder = lease.NewHolder(holder.Engine, lease.Config{
		Self: lease.Node{ID: id}, Shards: shards, MaxHandovers: shards, RetryPause: 50 * time.Millisecond,
		Start: func(_ context.Context, shard int, token lease.Token) error {
			holder.mu.Lock()
			defer holder.mu.Unlock()
			holder.tokens[shard] = token
			return nil
		},
		Stop: func(shard int, lost bool) {
			holder.mu.Lock()
			defer holder.mu.Unlock()
			delete(holder.tokens, shard)
			if lost {
				holder.lost++
			}
		},
	})
	if err := holder.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = holder.Leave(ctx)
	})
	return holder
}

// Tokens returns the token of each started shard.
func (s *TestHolder) Tokens() map[int]lease.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.tokens)
}

// LostShards returns the number of shards that were lost.
func (s *TestHolder) LostShards() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// WaitUntilShared waits until exactly one of the holders uses each shard and each holder uses at least one shard.
func WaitUntilShared(t testing.TB, shards int, of ...*TestHolder) {
	t.Helper()
	Eventually(t, "every shard is used, and every node uses some", func() bool {
		used := make(map[string]int)
		for shard := range shards {
			by := 0
			for _, s := range of {
				if _, ok := s.UsableToken(shard); ok {
					by++
					used[s.ID]++
				}
			}
			if by != 1 {
				return false
			}
		}
		return len(used) == len(of)
	})
}

// WatchOwnership fails the test if two holders use a shard at the same time. It also fails the test if a new token of a
// shard has no higher epoch than the previous one. It watches until the returned function is called.
func WatchOwnership(t *testing.T, shards int, of ...*TestHolder) (end func()) {
	t.Helper()
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		last := make([]lease.Token, shards)
		for {
			for shard := range shards {
				for _, s := range of {
					token, ok := s.UsableToken(shard)
					switch {
					case !ok || token == last[shard]:
					case token.Epoch() <= last[shard].Epoch():
						if again, still := s.UsableToken(shard); still && again == token { // the old token is still usable, so it is not merely outdated by a slow check
							t.Errorf("shard %d is used with %q after %q", shard, token, last[shard])
							return
						}
					default:
						last[shard] = token
					}
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	return func() { close(stop); watching.Wait() }
}

func testUnhealthyNode(t *testing.T, s Suite) {
	var unhealthy atomic.Bool
	a := s.join(t, "a", lease.Options{Lease: s.ShortLease, Healthy: func() error {
		if unhealthy.Load() {
			return errors.New("the actors do not answer")
		}
		return nil
	}})
	b := s.join(t, "b", lease.Options{Lease: s.ShortLease})
	Eventually(t, "a claims", func() bool { tokens, _ := a.Claim(t.Context(), all(4)); return len(tokens) == 4 })
	Eventually(t, "b sees it", func() bool { return owner(b, 3) == "a" })
	unhealthy.Store(true)
	Eventually(t, "b claims what a has lost", func() bool {
		tokens, err := b.Claim(t.Context(), all(4))
		now := time.Now()
		if err != nil && !errors.Is(err, lease.ErrLeaseEnded) && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if len(tokens) > 0 && now.Before(a.Deadline()) {
			t.Fatalf("b has %v, and the deadline of a is in %v", tokens, time.Until(a.Deadline()))
		}
		return len(tokens) == 4
	})
	Eventually(t, "a sees that", func() bool { return owner(a, 0) == "b" })
	unhealthy.Store(false)
	Eventually(t, "a is back", func() bool { return time.Now().Before(a.Deadline()) && len(b.Nodes()) == 2 })
	if owner(a, 0) == "a" {
		t.Error("a still owns a shard that it has lost")
	}
}

func testEndedLease(t *testing.T, s Suite) {
	var unhealthy atomic.Bool
	e := s.join(t, "a", lease.Options{Lease: s.ShortLease, Healthy: func() error {
		if unhealthy.Load() {
			return errors.New("the actors do not answer")
		}
		return nil
	}})
	unhealthy.Store(true)
	Eventually(t, "its lease ends", func() bool { return len(e.Nodes()) == 0 })
	if tokens, err := e.Claim(t.Context(), []int{1}); !errors.Is(err, lease.ErrLeaseEnded) {
		t.Errorf("claimed: %v, %v", tokens, err)
	}
	unhealthy.Store(false)
	Eventually(t, "it has another", func() bool { return len(e.Nodes()) == 1 && time.Now().Before(e.Deadline()) })
	Eventually(t, "it claims again", func() bool { tokens, _ := e.Claim(t.Context(), []int{1}); return len(tokens) == 1 })
}

// Server is a store server that a test can pause and kill.
type Server interface {
	Pause()
	Continue()
	Kill()
	Restart()
}

// RunFaults pauses, kills and restarts the store while nodes share shards. It checks that two nodes never use the same
// shard, and that the nodes share the shards again in the end. Nothing else may use the store meanwhile.
func (s Suite) RunFaults(t *testing.T, server Server) {
	t.Helper()
	const shards = 24
	a, b := s.JoinHolder(t, "a", shards, lease.Options{Lease: s.ShortLease}), s.JoinHolder(t, "b", shards, lease.Options{Lease: s.ShortLease})
	WaitUntilShared(t, shards, a, b)
	end := WatchOwnership(t, shards, a, b)
	defer end()
	for _, fault := range [][2]func(){{server.Pause, server.Continue}, {server.Kill, server.Restart}} {
		fault[0]()
		ended := func(s *TestHolder) bool { return time.Since(s.Engine.Deadline()) > 0 }
		Eventually(t, "both know that they may do nothing", func() bool { return ended(a) && ended(b) })
		for shard := range shards {
			for _, holder := range []*TestHolder{a, b} {
				if token, ok := holder.UsableToken(shard); ok && ended(holder) {
					t.Errorf("%s uses shard %d with %q though its lease has ended", holder.ID, shard, token)
				}
			}
		}
		Eventually(t, "the leases end in the store too", func() bool {
			return time.Since(a.Engine.Deadline()) > s.ShortLease && time.Since(b.Engine.Deadline()) > s.ShortLease
		})
		fault[1]()
		WaitUntilShared(t, shards, a, b)
	}
}
