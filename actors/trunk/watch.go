package trunk

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
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
	tellAgain = 15 * time.Minute // an alarm that goes off and on is told no oftener
)

// Alarm says that a trunk does worse than its settings allow, or that it does
// well again.
type Alarm struct {
	Trunk     domain.Trunk // without its credentials
	Measure   string       // asr, acd, short_call_share, or a reason of refusal
	Value     float64
	Bound     float64
	Calls     int
	Message   string
	Recovered bool
}

type (
	// look looks after names and targets, now and then.
	look struct{ generation int }
	// found are what the names of a trunk's proxies lead to.
	found struct {
		trunkID string
		targets map[domain.Proxy][]resolve.Target
	}
	// ponged are what the targets of a trunk answered to OPTIONS.
	ponged struct {
		trunkID string
		by      map[string]pong
	}
	pong struct {
		sip.Pong
		err error
	}
)

// Control: each is an answer, or a wake-up of one's own.
func (look) Control()   {}
func (found) Control()  {}
func (ponged) Control() {}

// lookAfter resolves names and pings targets that are due, and sets the next
// wake-up while any trunk needs one.
func (t *Trunks) lookAfter(ctx actor.Context) {
	now, needed := time.Now(), false
	for _, b := range t.trunks {
		if names := b.names(); len(names) > 0 && t.cfg.Resolve != nil {
			needed = true
			if at := t.looked[b.trunk.ID]; at.IsZero() || now.Sub(at) >= lookRest || b.used {
				b.used, t.looked[b.trunk.ID] = false, now
				t.resolve(ctx, b.trunk.ID, names)
			}
		}
		if b.trunk.OptionsPing && !b.trunk.Simulator && t.cfg.Ping != nil {
			needed = true
			if now.Sub(t.pinged[b.trunk.ID]) >= pingEvery-time.Second {
				t.pinged[b.trunk.ID] = now
				t.ping(ctx, b)
			}
		}
	}
	t.looks++
	t.noLook()
	if needed {
		jitter := time.Duration(rand.Int64N(int64(time.Second))) //nolint:gosec // spreads work, no secret
		t.lookOff = mailbox.After(ctx, lookEvery+jitter, look{t.looks})
	}
}

// noLook takes the wake-up back.
func (t *Trunks) noLook() {
	if t.lookOff != nil {
		t.lookOff()
		t.lookOff = nil
	}
}

func (t *Trunks) resolve(ctx actor.Context, trunkID string, names []domain.Proxy) {
	lookUp := t.cfg.Resolve
	mailbox.Work(ctx, lookLimit, func(bound context.Context) any {
		m := found{trunkID: trunkID, targets: make(map[domain.Proxy][]resolve.Target, len(names))}
		for _, p := range names {
			if all, err := lookUp(bound, resolve.Target{Host: p.Host, Port: p.Port, Transport: p.Transport, TrunkID: trunkID}); err == nil {
				m.targets[p] = all
			}
		}
		return m
	})
}

// found takes what the names lead to now; a name that cannot be looked up at
// the moment leads where it led.
func (t *Trunks) found(ctx actor.Context, m found) {
	b := t.byID(m.trunkID)
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
	mailbox.Work(ctx, pingLimit+time.Second, func(bound context.Context) any {
		m := ponged{trunkID: id, by: make(map[string]pong, len(targets))}
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

func (t *Trunks) ponged(ctx actor.Context, m ponged) {
	b := t.byID(m.trunkID)
	if b == nil {
		return
	}
	now := time.Now()
	for key, p := range m.by {
		b.ponged(key, p.Pong, p.err, now)
	}
	t.serve(ctx)
}

// judge raises the alarms of a trunk that are due, and lowers those that are
// over.
func (t *Trunks) judge(ctx actor.Context, b *trunkState, now time.Time) {
	a := b.trunk.Alarms
	if a.MinASR <= 0 && a.MinACDSeconds <= 0 && a.MaxShortCallShare <= 0 && len(b.raised) == 0 {
		return
	}
	breaches := routing.Judge(b.record.Sum(now), a)
	on := make(map[string]bool, len(breaches))
	for _, x := range breaches {
		on[string(x.Measure)] = true
		t.raise(ctx, b, Alarm{
			Measure: string(x.Measure), Value: round(x.Value), Bound: x.Bound, Calls: x.Calls,
			Message: fmt.Sprintf("%s of trunk %s is %.3g over its last %d calls; its bound is %.3g", x.Measure, b.trunk.Name, x.Value, x.Calls, x.Bound),
		}, now)
	}
	for _, m := range []routing.Measure{routing.ASR, routing.ACD, routing.ShortCalls} {
		if _, was := b.raised[string(m)]; was && !on[string(m)] {
			t.lower(ctx, b, string(m))
		}
	}
}

func round(v float64) float64 { return math.Round(v*1000) / 1000 }

func (t *Trunks) raise(ctx actor.Context, b *trunkState, a Alarm, now time.Time) {
	if _, on := b.raised[a.Measure]; on {
		return
	}
	b.raised[a.Measure] = now
	if last, told := t.told[b.trunk.ID+a.Measure]; told && now.Sub(last) < tellAgain {
		return
	}
	t.told[b.trunk.ID+a.Measure] = now
	t.tell(ctx, b, a)
}

func (t *Trunks) lower(ctx actor.Context, b *trunkState, measure string) {
	if _, on := b.raised[measure]; !on {
		return
	}
	delete(b.raised, measure)
	t.tell(ctx, b, Alarm{Measure: measure, Recovered: true, Message: fmt.Sprintf("trunk %s does well again: %s", b.trunk.Name, measure)})
}

// tell hands an alarm over, beside the actor.
func (t *Trunks) tell(ctx actor.Context, b *trunkState, a Alarm) {
	if t.cfg.Alarm == nil {
		return
	}
	a.Trunk = *b.trunk.Public()
	alarm := t.cfg.Alarm
	mailbox.Work(ctx, alarmLimit, func(bound context.Context) any {
		alarm(bound, a)
		return nil
	})
}

const alarmLimit = 10 * time.Second
