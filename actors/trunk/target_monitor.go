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

// Intervals and time limits of DNS look-ups and OPTIONS pings.
const (
	pingInterval        = 30 * time.Second
	pingTimeout         = 4 * time.Second
	resolveInterval     = 10 * time.Second // for host names of trunks in use; cached answers cost nothing
	idleResolveInterval = time.Minute      // for host names of other trunks
	resolveTimeout      = 5 * time.Second
)

type (
	// checkTargetsDue is the timer message that makes the actor resolve host names and send OPTIONS to targets.
	checkTargetsDue struct{ generation int }
	// targetsResolved delivers the addresses to which the host names of a trunk's proxies resolve.
	targetsResolved struct {
		trunkID string
		targets map[domain.Proxy][]resolve.Target
	}
	// targetsPinged delivers the results of the OPTIONS requests to a trunk's targets.
	targetsPinged struct {
		trunkID  string
		byTarget map[string]pingOutcome
	}
	pingOutcome struct {
		sip.PingResult
		err error
	}
)

// Control marks the messages as ones that a full mailbox admits too, because each is an answer or a timer message.
func (checkTargetsDue) Control() {}
func (targetsResolved) Control() {}
func (targetsPinged) Control()   {}

// targetMonitor decides when the host names of trunks are resolved and when their targets get OPTIONS requests.
type targetMonitor struct {
	resolvedAt map[string]time.Time // by trunk ID
	pingedAt   map[string]time.Time
	generation int // number of the last timer; messages of earlier timers are ignored
	cancel     func()
}

// removeTrunk removes the times of the last checks of a trunk. If the trunk still exists, it is then checked at once.
func (m *targetMonitor) removeTrunk(id string) {
	delete(m.resolvedAt, id)
	delete(m.pingedAt, id)
}

// stop cancels the timer of the next check.
func (m *targetMonitor) stop() {
	if m.cancel != nil {
		m.cancel()
		m.cancel = nil
	}
}

// checkTargets resolves the host names and pings the targets whose next check is due. It sets the timer for the next
// check while any trunk needs checks.
func (t *Trunks) checkTargets(ctx actor.Context) {
	now, needed := time.Now(), false
	for _, b := range t.trunks.states {
		if names := b.unresolvedProxies(); len(names) > 0 && t.cfg.Resolve != nil {
			needed = true
			if at := t.monitor.resolvedAt[b.trunk.ID]; at.IsZero() || now.Sub(at) >= idleResolveInterval || b.usedSinceLookup {
				b.usedSinceLookup, t.monitor.resolvedAt[b.trunk.ID] = false, now
				t.resolveNames(ctx, b.trunk.ID, names)
			}
		}
		if b.trunk.OptionsPing && !b.trunk.Simulator && t.cfg.Ping != nil {
			needed = true
			if now.Sub(t.monitor.pingedAt[b.trunk.ID]) >= pingInterval-time.Second {
				t.monitor.pingedAt[b.trunk.ID] = now
				t.pingTargets(ctx, b)
			}
		}
	}
	t.monitor.generation++
	t.monitor.stop()
	if needed {
		jitter := time.Duration(rand.Int64N(int64(time.Second))) //nolint:gosec // spreads work, no secret
		t.monitor.cancel = mailbox.SendAfter(ctx, resolveInterval+jitter, checkTargetsDue{t.monitor.generation})
	}
}

func (t *Trunks) resolveNames(ctx actor.Context, trunkID string, names []domain.Proxy) {
	lookUp := t.cfg.Resolve
	mailbox.RunTask(ctx, resolveTimeout, func(bound context.Context) any {
		m := targetsResolved{trunkID: trunkID, targets: make(map[domain.Proxy][]resolve.Target, len(names))}
		for _, p := range names {
			if all, err := lookUp(bound, resolve.Target{Host: p.Host, Port: p.Port, Transport: p.Transport, TrunkID: trunkID}); err == nil {
				m.targets[p] = all
			}
		}
		return m
	})
}

// onTargetsResolved replaces the targets of a trunk by the resolved addresses. A host name without an answer keeps
// its former addresses.
func (t *Trunks) onTargetsResolved(ctx actor.Context, m targetsResolved) {
	b := t.trunks.byID(m.trunkID)
	if b == nil {
		return
	}
	for p, all := range m.targets {
		if len(all) > 0 {
			b.resolved[p] = all
		}
	}
	b.setTrunk(b.trunk)
	t.serveWaiting(ctx)
}

// pingTargets sends OPTIONS to all targets of a trunk in parallel.
func (t *Trunks) pingTargets(ctx actor.Context, b *trunkState) {
	ping, id, env := t.cfg.Ping, b.trunk.ID, b.trunk.Environment
	targets := append([]target(nil), b.targets...)
	mailbox.RunTask(ctx, pingTimeout+time.Second, func(bound context.Context) any {
		m := targetsPinged{trunkID: id, byTarget: make(map[string]pingOutcome, len(targets))}
		var mu sync.Mutex
		var wait sync.WaitGroup
		limit, cancel := context.WithTimeout(bound, pingTimeout)
		defer cancel()
		for _, to := range targets {
			wait.Go(func() {
				p, err := ping(limit, env, to.to)
				mu.Lock()
				defer mu.Unlock()
				m.byTarget[to.key] = pingOutcome{p, err}
			})
		}
		wait.Wait()
		return m
	})
}

func (t *Trunks) onTargetsPinged(ctx actor.Context, m targetsPinged) {
	b := t.trunks.byID(m.trunkID)
	if b == nil {
		return
	}
	now := time.Now()
	for key, p := range m.byTarget {
		b.applyPing(key, p.PingResult, p.err, now)
	}
	t.serveWaiting(ctx)
}
