package trunk

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
)

// How often targets are looked after.
const (
	pingEvery = 30 * time.Second
	pingLimit = 4 * time.Second
	lookEvery = 10 * time.Second // names of trunks that are in use; what is cached costs nothing
	lookRest  = time.Minute      // names of the others
	lookLimit = 5 * time.Second
)

type (
	// checkTargetsDue is the wake-up to resolve names and ping targets.
	checkTargetsDue struct{ generation int }
	// found are what the names of a trunk's proxies lead to.
	found struct {
		trunkID string
		targets map[domain.Proxy][]resolve.Target
	}
	// pinged are what the targets of a trunk answered to OPTIONS.
	pinged struct {
		trunkID string
		by      map[string]pong
	}
	pong struct {
		sip.PingResult
		err error
	}
)

// Control: each is an answer, or a wake-up of one's own.
func (checkTargetsDue) Control() {}
func (found) Control()           {}
func (pinged) Control()          {}

// targetMonitor knows when the names of trunks are resolved and their targets pinged.
type targetMonitor struct {
	resolvedAt map[string]time.Time // by trunk
	pingedAt   map[string]time.Time
	generation int // of the wake-up
	cancel     func()
}

// forgetTrunk has a trunk resolved and pinged at once, if it is still there.
func (m *targetMonitor) forgetTrunk(id string) {
	delete(m.resolvedAt, id)
	delete(m.pingedAt, id)
}

// stop takes the wake-up back.
func (m *targetMonitor) stop() {
	if m.cancel != nil {
		m.cancel()
		m.cancel = nil
	}
}

// checkTargets resolves names and pings targets that are due, and sets the next wake-up while any trunk needs one.
func (t *Trunks) checkTargets(ctx actor.Context) {
	now, needed := time.Now(), false
	for _, b := range t.trunks.states {
		if names := b.names(); len(names) > 0 && t.cfg.Resolve != nil {
			needed = true
			if at := t.monitor.resolvedAt[b.trunk.ID]; at.IsZero() || now.Sub(at) >= lookRest || b.used {
				b.used, t.monitor.resolvedAt[b.trunk.ID] = false, now
				t.resolve(ctx, b.trunk.ID, names)
			}
		}
		if b.trunk.OptionsPing && !b.trunk.Simulator && t.cfg.Ping != nil {
			needed = true
			if now.Sub(t.monitor.pingedAt[b.trunk.ID]) >= pingEvery-time.Second {
				t.monitor.pingedAt[b.trunk.ID] = now
				t.ping(ctx, b)
			}
		}
	}
	t.monitor.generation++
	t.monitor.stop()
	if needed {
		jitter := time.Duration(rand.Int64N(int64(time.Second))) //nolint:gosec // spreads work, no secret
		t.monitor.cancel = mailbox.SendAfter(ctx, lookEvery+jitter, checkTargetsDue{t.monitor.generation})
	}
}

func (t *Trunks) resolve(ctx actor.Context, trunkID string, names []domain.Proxy) {
	lookUp := t.cfg.Resolve
	mailbox.RunTask(ctx, lookLimit, func(bound context.Context) any {
		m := found{trunkID: trunkID, targets: make(map[domain.Proxy][]resolve.Target, len(names))}
		for _, p := range names {
			if all, err := lookUp(bound, resolve.Target{Host: p.Host, Port: p.Port, Transport: p.Transport, TrunkID: trunkID}); err == nil {
				m.targets[p] = all
			}
		}
		return m
	})
}

// onResolved takes the targets of names; a name that cannot be resolved at the moment keeps its targets.
func (t *Trunks) onResolved(ctx actor.Context, m found) {
	b := t.trunks.byID(m.trunkID)
	if b == nil {
		return
	}
	for p, all := range m.targets {
		if len(all) > 0 {
			b.resolved[p] = all
		}
	}
	b.set(b.trunk)
	t.serve(ctx)
}

// ping asks every target of a trunk whether it lives, side by side.
func (t *Trunks) ping(ctx actor.Context, b *trunkState) {
	ping, id, env := t.cfg.Ping, b.trunk.ID, b.trunk.Environment
	targets := append([]target(nil), b.targets...)
	mailbox.RunTask(ctx, pingLimit+time.Second, func(bound context.Context) any {
		m := pinged{trunkID: id, by: make(map[string]pong, len(targets))}
		var mu sync.Mutex
		var wait sync.WaitGroup
		limit, cancel := context.WithTimeout(bound, pingLimit)
		defer cancel()
		for _, to := range targets {
			wait.Go(func() {
				p, err := ping(limit, env, to.to)
				mu.Lock()
				defer mu.Unlock()
				m.by[to.key] = pong{p, err}
			})
		}
		wait.Wait()
		return m
	})
}

func (t *Trunks) onPonged(ctx actor.Context, m pinged) {
	b := t.trunks.byID(m.trunkID)
	if b == nil {
		return
	}
	now := time.Now()
	for key, p := range m.by {
		b.onPong(key, p.PingResult, p.err, now)
	}
	t.serve(ctx)
}
