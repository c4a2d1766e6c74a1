package trunk

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// patience is how long a Want may wait inside for its slot: less than a
// permit's lease.
const patience = 5 * time.Second

// Config of a workspace's trunks.
type Config struct {
	Trunks    []domain.Trunk
	Simulator func() (sip.Target, bool) // where the built-in carrier listens
	Log       *slog.Logger
}

// Trunks routes: it keeps each trunk's bucket, channels and health.
type Trunks struct {
	cfg        Config
	trunks     []*bucket // oldest first
	waiting    []waiter
	held       map[string][]*channel // by call
	calls      map[string]string     // pid → call
	generation int
	cancel     func()
	wakeAt     time.Time // while cancel is set
}

type waiter struct {
	want   Want
	routes []*bucket
	from   *actor.PID
	expiry time.Time
}

// channel is a taken slot.
type channel struct {
	of  *bucket
	key string
}

// New makes the actor.
func New(cfg Config) actor.Actor {
	t := &Trunks{cfg: cfg, held: make(map[string][]*channel), calls: make(map[string]string)}
	t.set(cfg.Trunks)
	return t
}

// Receive is the table of contents.
func (t *Trunks) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case Want:
		t.want(ctx, m)
	case Bind:
		t.bind(ctx, m)
	case Return:
		t.release(m.CallID, m.Key)
		t.serve(ctx)
	case Result:
		t.result(ctx, m)
	case Set:
		t.set(m.Trunks)
		t.reroute(ctx)
	case Hold:
		t.hold(m)
	case Free:
		t.waiting = slices.DeleteFunc(t.waiting, func(w waiter) bool { return w.want.CallID == m.CallID })
		t.releaseAll(m.CallID)
		t.serve(ctx)
	case Health:
		ctx.Respond(HealthNow{Trunks: t.states()})
	case tick:
		if m.generation == t.generation {
			t.cancel = nil
			t.serve(ctx)
		}
	case *actor.Terminated:
		if call, ok := t.calls[m.Who.Id]; ok {
			delete(t.calls, m.Who.Id)
			t.releaseAll(call)
			t.serve(ctx)
		}
	}
}

func (t *Trunks) set(trunks []domain.Trunk) {
	old := make(map[string]*bucket, len(t.trunks))
	for _, b := range t.trunks {
		old[b.trunk.ID] = b
	}
	t.trunks = t.trunks[:0:0]
	for _, tr := range trunks {
		b := old[tr.ID]
		if b == nil {
			b = newBucket()
		}
		b.trunk = tr
		t.trunks = append(t.trunks, b)
	}
}

func (t *Trunks) want(ctx actor.Context, w Want) {
	now := time.Now()
	one := waiter{want: w, routes: t.routes(w), from: ctx.Sender(), expiry: now.Add(patience)}
	if !t.answer(ctx, one, now) {
		t.waiting = append(t.waiting, one)
		t.plan(ctx, now)
	}
}

// serve answers what waits, in order, as far as that is possible now.
func (t *Trunks) serve(ctx actor.Context) {
	now := time.Now()
	t.waiting = slices.DeleteFunc(t.waiting, func(w waiter) bool { return !w.blocked(now) && t.answer(ctx, w, now) })
	t.plan(ctx, now)
}

// reroute finds other ways for what waits, after the trunks have changed.
func (t *Trunks) reroute(ctx actor.Context) {
	now := time.Now()
	for i := range t.waiting {
		t.waiting[i].routes = t.routes(t.waiting[i].want)
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(w waiter) bool { return t.answer(ctx, w, now) })
	t.plan(ctx, now)
}

// blocked spares a closer look: every route is busy for now, and none for too
// long.
func (w *waiter) blocked(now time.Time) bool {
	if len(w.routes) == 0 || !now.Before(w.expiry) {
		return false
	}
	for _, b := range w.routes {
		until, why := b.ready(now)
		if why == "" || (why == Throttled && !until.Before(w.expiry)) {
			return false
		}
	}
	return true
}

// plan sets the one wake-up at the next moment at which a waiter can go on.
func (t *Trunks) plan(ctx actor.Context, now time.Time) {
	if len(t.waiting) == 0 {
		if t.cancel != nil {
			t.cancel()
			t.cancel = nil
		}
		return
	}
	at := t.waiting[0].expiry
	for _, b := range t.trunks {
		if b.next.After(now) && b.next.Before(at) {
			at = b.next
		}
		if b.backoff.After(now) && b.backoff.Before(at) {
			at = b.backoff
		}
	}
	if t.cancel != nil {
		if at.Equal(t.wakeAt) {
			return
		}
		t.cancel()
	}
	t.generation++
	t.wakeAt = at
	t.cancel = mailbox.After(ctx, max(at.Sub(now), time.Millisecond), tick{t.generation})
}

// answer says Slot or NoSlot; false: the want has to wait inside.
func (t *Trunks) answer(ctx actor.Context, one waiter, now time.Time) bool {
	w := one.want
	verdict := NoSlot{CallID: w.CallID, Reason: NoTrunk, Generation: w.Generation}
	for _, b := range one.routes {
		target, key, ok := t.target(b, w)
		if !ok {
			verdict.worse(Exhausted, time.Time{})
			continue
		}
		if until, why := b.ready(now); why != "" {
			verdict.worse(why, until)
			continue
		}
		b.take(now)
		t.held[w.CallID] = append(t.held[w.CallID], &channel{of: b, key: key})
		ctx.Send(one.from, Slot{CallID: w.CallID, Trunk: b.trunk, Target: target, Key: key, Generation: w.Generation})
		return true
	}
	soon := verdict.Reason == Channels || (!verdict.Until.IsZero() && verdict.Until.Before(one.expiry))
	if soon && now.Before(one.expiry) {
		return false
	}
	ctx.Send(one.from, verdict)
	return true
}

// worse keeps the reason that says most: what only has to wait wins over what
// cannot be.
func (n *NoSlot) worse(reason string, until time.Time) {
	rank := map[string]int{NoTrunk: 0, Exhausted: 1, Channels: 2, Throttled: 3}
	switch {
	case rank[reason] > rank[n.Reason]:
		n.Reason, n.Until = reason, until
	case reason == n.Reason && until.Before(n.Until):
		n.Until = until
	}
}

// routes are the trunks that may take the number: the one asked for, or those
// with the longest matching prefix first, then the oldest. The test
// environment has only the simulator.
func (t *Trunks) routes(w Want) []*bucket {
	type route struct {
		b      *bucket
		length int
	}
	var found []route
	for _, b := range t.trunks {
		if b.trunk.Environment != w.Environment || (w.TrunkID != "" && b.trunk.ID != w.TrunkID) {
			continue
		}
		if n, ok := prefixLength(b.trunk.Prefixes, w.To); ok {
			found = append(found, route{b, n})
		}
	}
	slices.SortStableFunc(found, func(a, b route) int { return cmp.Compare(b.length, a.length) })
	out := make([]*bucket, len(found))
	for i, r := range found {
		out[i] = r.b
	}
	return out
}

func prefixLength(prefixes []string, to string) (int, bool) {
	if len(prefixes) == 0 {
		return 0, true
	}
	best, ok := 0, false
	for _, p := range prefixes {
		if strings.HasPrefix(to, p) {
			best, ok = max(best, len(p)), true
		}
	}
	return best, ok
}

// target is the trunk's next untried target: lowest priority first, by weight
// within, those that failed lately last.
func (t *Trunks) target(b *bucket, w Want) (sip.Target, string, bool) {
	if b.trunk.Simulator {
		s, ok := t.cfg.Simulator()
		s.TrunkID = b.trunk.ID
		key := b.trunk.ID + "|simulator"
		return s, key, ok && !slices.Contains(w.Tried, key)
	}
	type choice struct {
		proxy  domain.Proxy
		key    string
		barred bool
		draw   float64 // exponential by weight: the smallest is the draw
	}
	now := time.Now()
	var all []choice
	for _, p := range b.trunk.Proxies {
		key := TargetKey(b.trunk.ID, p)
		if slices.Contains(w.Tried, key) {
			continue
		}
		draw := rand.ExpFloat64() / float64(max(p.Weight, 1)) //nolint:gosec // a draw by weight, no secret
		all = append(all, choice{p, key, b.barred[key].After(now), draw})
	}
	if len(all) == 0 {
		return sip.Target{}, "", false
	}
	c := slices.MinFunc(all, func(a, b choice) int {
		if a.barred != b.barred {
			return map[bool]int{true: 1, false: -1}[a.barred]
		}
		return cmp.Or(cmp.Compare(a.proxy.Priority, b.proxy.Priority), cmp.Compare(a.draw, b.draw))
	})
	return sip.Target{Host: c.proxy.Host, Port: c.proxy.Port, Transport: c.proxy.Transport, TrunkID: b.trunk.ID}, c.key, true
}

// TargetKey names a target of a trunk.
func TargetKey(trunkID string, p domain.Proxy) string {
	return trunkID + "|" + net.JoinHostPort(p.Host, strconv.Itoa(p.Port)) + ";" + p.Transport
}

func (t *Trunks) bind(ctx actor.Context, m Bind) {
	if _, known := t.calls[m.Call.Id]; known {
		return
	}
	t.calls[m.Call.Id] = m.CallID
	ctx.Watch(m.Call)
}

func (t *Trunks) result(ctx actor.Context, m Result) {
	for _, b := range t.trunks {
		if b.trunk.ID == m.TrunkID {
			b.learn(m, time.Now())
		}
	}
	if !m.Answered {
		t.release(m.CallID, m.Key)
		t.serve(ctx)
	}
}

func (t *Trunks) hold(m Hold) {
	for _, b := range t.trunks {
		if b.trunk.ID == m.TrunkID {
			b.channels++
			t.held[m.CallID] = append(t.held[m.CallID], &channel{of: b})
		}
	}
}

func (t *Trunks) release(call, key string) {
	kept := t.held[call][:0]
	for _, c := range t.held[call] {
		if c.key == key {
			c.of.channels--
			continue
		}
		kept = append(kept, c)
	}
	if len(kept) == 0 {
		delete(t.held, call)
		return
	}
	t.held[call] = kept
}

func (t *Trunks) releaseAll(call string) {
	for _, c := range t.held[call] {
		c.of.channels--
	}
	delete(t.held, call)
}

func (t *Trunks) states() map[string]State {
	now := time.Now()
	out := make(map[string]State, len(t.trunks))
	for _, b := range t.trunks {
		out[b.trunk.ID] = b.state(now)
	}
	return out
}
