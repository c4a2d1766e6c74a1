package trunk

import (
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
)

// How a trunk is punished for refusing: a throttled one waits from firstWait,
// doubling to lastWait, or as long as it asked for; a target that failed
// outAfter times in a row is tried last for outFor.
const (
	firstWait = time.Second
	lastWait  = time.Minute
	outAfter  = 3
	outFor    = 30 * time.Second
	maxWait   = 10 * time.Minute // of a Retry-After that a stranger may ask for
)

// trunkState is one trunk's calls per second, channels, targets and health.
type trunkState struct {
	trunk        *domain.Trunk // nobody changes it: slots of calls that live show it
	channels     int
	next         time.Time // the next call may leave then
	backoff      time.Time // no call before
	wait         time.Duration
	targets      []target
	views        []routing.Target // the targets as the choice sees them
	health       map[string]*health
	resolved     map[domain.Proxy][]resolve.Target // what the names of proxies lead to
	used         bool                              // since its names were looked up
	record       routing.CallStatistics
	raised       map[string]time.Time // alarms that are on, since when
	lastErr      string
	arrived      uint64
	refused      map[string]int // calls that came in
	registration *domain.TrunkRegistration
	probe        probe
}

// The times between the calls that try whether a trunk works again.
const (
	firstProbe = 5 * time.Second
	lastProbe  = time.Minute
	probeLook  = time.Second // how soon to ask again while one is under way
)

// probe is the one call that tries whether a trunk whose targets are all out works again.
type probe struct {
	call     string    // "": none is under way
	failures int       // of such calls in a row
	next     time.Time // not before then
}

// waitUntil is when such a call may be tried; zero: now.
func (p *probe) waitUntil(now time.Time) time.Time {
	switch {
	case p.call != "":
		return now.Add(probeLook)
	case p.next.After(now):
		return p.next
	}
	return time.Time{}
}

// failed plans the next one.
func (p *probe) failed(now time.Time) {
	p.call, p.next = "", now.Add(min(firstProbe<<min(p.failures, 8), lastProbe))
	p.failures++
}

// targetWorks says whether a target may be tried as one that works.
func (b *trunkState) targetWorks(key string, w *RequestSlot, now time.Time) bool {
	if w.MayProbe && b.allOut(now) {
		return false
	}
	h := b.health[key]
	return h == nil || !h.out.After(now)
}

// allOut says whether every target has failed again and again, and none has worked since.
func (b *trunkState) allOut(now time.Time) bool {
	return len(b.targets) > 0 && !slices.ContainsFunc(b.targets, func(t target) bool {
		h := b.health[t.key]
		return h == nil || h.failures < outAfter && !h.out.After(now)
	})
}

// target is one way into the trunk.
type target struct {
	to    resolve.Target
	proxy string // as the trunk names it
	key   string
}

// health is what is known of a target; it outlives a change of its trunk.
type health struct {
	failures int       // of INVITEs in a row
	good     bool      // the last INVITE did its work
	out      time.Time // tried last until then
	rests    time.Time // not tried until then
	lastErr  string
	missed   int // OPTIONS in a row
	pinged   time.Time
	ping     sip.PingResult
	pingErr  string
}

func newTrunkState() *trunkState {
	return &trunkState{
		trunk: new(domain.Trunk), health: make(map[string]*health), resolved: make(map[domain.Proxy][]resolve.Target),
		raised: make(map[string]time.Time), refused: make(map[string]int),
	}
}

// set replaces the trunk, which may be new or changed.
func (b *trunkState) set(t *domain.Trunk) {
	b.trunk = t
	for p := range b.resolved {
		if !slices.Contains(t.Proxies, p) {
			delete(b.resolved, p)
		}
	}
	b.lay()
}

// lay sets out the targets: each proxy, or what its name leads to.
func (b *trunkState) lay() {
	b.targets, b.views = b.targets[:0], b.views[:0]
	kept := make(map[string]*health, len(b.health))
	for i, p := range b.trunk.Proxies {
		all := b.resolved[p]
		if len(all) == 0 {
			all = []resolve.Target{{Host: p.Host, Port: p.Port, Transport: p.Transport}}
		}
		for _, to := range all {
			to.TrunkID = b.trunk.ID
			if to.Host != p.Host && to.Name == "" {
				to.Name = p.Host
			}
			key := b.trunk.ID + "|" + to.String()
			if kept[key] != nil {
				continue
			}
			h := b.health[key]
			if h == nil {
				h = &health{}
			}
			kept[key] = h
			b.targets = append(b.targets, target{to: to, proxy: resolve.Target{Host: p.Host, Port: p.Port, Transport: p.Transport}.String(), key: key})
			b.views = append(b.views, routing.Target{
				Key: key, Proxy: i, Priority: p.Priority, Weight: p.Weight, OutUntil: h.out, RestsUntil: h.rests,
			})
		}
	}
	b.health = kept
}

// names are the proxies that have to be looked up: those that are no address.
// Behind an outbound proxy only that one is.
func (b *trunkState) names() []domain.Proxy {
	if b.trunk.Simulator || b.trunk.OutboundProxy != nil {
		return nil
	}
	var out []domain.Proxy
	for _, p := range b.trunk.Proxies {
		if _, err := netip.ParseAddr(strings.Trim(p.Host, "[]")); err != nil {
			out = append(out, p)
		}
	}
	return out
}

// pick is the next target for a call. until: all that are left rest till then.
func (b *trunkState) pick(tried []string, now time.Time) (i int, until time.Time, ok bool) {
	b.used = true
	return routing.SelectTarget(b.views, tried, now, rand.ExpFloat64)
}

// ready says why the trunk cannot take a call now, and until when.
func (b *trunkState) ready(now time.Time) (until time.Time, why string) {
	switch {
	case b.backoff.After(now):
		return b.backoff, ReasonThrottled
	case b.trunk.MaxChannels > 0 && b.channels >= b.trunk.MaxChannels:
		return time.Time{}, ReasonChannels
	case b.next.After(now):
		return b.next, ReasonThrottled
	}
	return time.Time{}, ""
}

// takeSlot takes a channel and the trunk's next time slot. Time slots are evenly spaced: a pause allows no burst.
func (b *trunkState) takeSlot(now time.Time) {
	b.channels++
	if b.trunk.CallsPerSecond > 0 {
		b.next = now.Add(time.Duration(float64(time.Second) / b.trunk.CallsPerSecond))
	}
}

// learn changes health and record by how a leg ended, or that it was answered.
func (b *trunkState) learn(m *LegResult, now time.Time) {
	switch {
	case m.Answered:
		b.record.CountAnswered(now)
		b.recover(m.Key)
		return
	case m.Verdict.Throttled && !m.Redirected:
		b.wait = min(max(2*b.wait, firstWait), lastWait)
		b.backoff = now.Add(max(b.wait, min(m.Final.RetryAfter, maxWait)))
		b.lastErr = "throttled"
	case m.Verdict.Reason == domain.ReasonTrunkError || m.Verdict.Reason == domain.ReasonTrunkRejected:
		b.lastErr = strings.TrimSpace(string(m.Verdict.Reason) + " " + said(m.Final))
		b.failed(m, now)
	case m.Verdict.Reason == domain.ReasonCancelled || m.Verdict.Reason == domain.ReasonNotSent:
		return
	default:
		b.recover(m.Key) // busy, no answer, declined: the trunk did its work
	}
	b.record.CountRefused(string(m.Verdict.Reason), now)
}

func said(f outcome.Final) string {
	switch {
	case f.NoResponse:
		return "no answer at all"
	case f.Phrase != "":
		return f.Phrase
	case f.TransportFailure:
		return "transport error"
	}
	return f.Reason
}

// failed notes that a target did not do its work. One that asked for a pause
// gets it; one that keeps failing, or that OPTIONS misses as well, comes last.
func (b *trunkState) failed(m *LegResult, now time.Time) {
	h := b.health[m.Key]
	if h == nil || m.Redirected {
		return
	}
	if m.CallID == b.probe.call {
		b.probe.failed(now)
	}
	h.failures++
	h.good, h.lastErr = false, b.lastErr
	if m.Final.RetryAfter > 0 {
		h.rests = now.Add(min(m.Final.RetryAfter, maxWait))
	}
	if h.failures >= outAfter || h.missed > 0 || m.Final.RetryAfter > 0 {
		h.out = now.Add(max(outFor, min(m.Final.RetryAfter, maxWait)))
	}
	b.publishHealth(m.Key, h)
}

func (b *trunkState) recover(key string) {
	b.wait, b.lastErr, b.probe = 0, "", probe{}
	if h := b.health[key]; h != nil {
		*h = health{good: true, missed: h.missed, pinged: h.pinged, ping: h.ping, pingErr: h.pingErr}
		b.publishHealth(key, h)
	}
}

// onPong stores the result of OPTIONS. A target whose INVITEs succeed is never
// put last for a miss; one that answers is tried again at once.
func (b *trunkState) onPong(key string, p sip.PingResult, err error, now time.Time) {
	h := b.health[key]
	if h == nil {
		return
	}
	h.pinged, h.ping, h.pingErr = now, p, ""
	switch {
	case err != nil:
		h.missed++
		h.pingErr = err.Error()
		if !h.good && h.missed >= 2 {
			h.out = now.Add(2 * pingEvery)
		}
	case p.Code == 503: // it lives and wants no calls
		h.missed = 0
		if !h.good {
			h.out = now.Add(2 * pingEvery)
		}
	default:
		h.missed, h.failures, h.out, b.probe = 0, 0, time.Time{}, probe{}
	}
	b.publishHealth(key, h)
}

// publishHealth shows a target's health to the choice.
func (b *trunkState) publishHealth(key string, h *health) {
	for i := range b.views {
		if b.views[i].Key == key {
			b.views[i].OutUntil, b.views[i].RestsUntil = h.out, h.rests
		}
	}
}

// state is the trunk as the API shows it.
func (b *trunkState) state(now time.Time, waiting int) State {
	h := domain.TrunkHealth{
		Status: "up", Channels: b.channels, Waiting: waiting, LastError: b.lastErr, Targets: []domain.TargetHealth{},
		BackoffUntil: until(b.backoff, now), Registration: b.registration,
	}
	out := 0
	for i := range b.targets {
		t := b.targetState(i, now)
		if t.Status != "up" {
			out++
		}
		h.Targets = append(h.Targets, t)
	}
	switch {
	case out > 0 && out == len(b.targets):
		h.Status = "down"
	case out > 0 || h.BackoffUntil != nil || len(b.raised) > 0:
		h.Status = "degraded"
	}
	s := b.record.Totals(now)
	q := domain.TrunkQuality{
		WindowSeconds: int(routing.StatisticsWindow / time.Second), Attempts: s.Attempts, Answered: s.Answered, ASR: s.ASR(),
		ACDSeconds: s.ACD().Seconds(), ShortCalls: s.Short, ShortCallShare: s.ShortShare(), Refusals: s.RefusalsByReason(),
		InboundCalls: b.arrived, InboundRefusals: make(map[string]int, len(b.refused)), Alarms: []string{},
	}
	maps.Copy(q.InboundRefusals, b.refused)
	for what := range b.raised {
		q.Alarms = append(q.Alarms, what)
	}
	slices.Sort(q.Alarms)
	return State{Name: b.trunk.Name, Environment: b.trunk.Environment, Health: h, Quality: q}
}

func (b *trunkState) targetState(i int, now time.Time) domain.TargetHealth {
	h := b.health[b.targets[i].key]
	t := domain.TargetHealth{
		Target: b.targets[i].to.String(), Proxy: b.targets[i].proxy, Status: "up", Failures: h.failures, LastError: h.lastErr,
	}
	switch {
	case h.rests.After(now):
		t.Status, t.OutUntil = "resting", until(h.rests, now)
	case h.out.After(now):
		t.Status, t.OutUntil = "out", until(h.out, now)
	}
	if !h.pinged.IsZero() {
		at, fine := h.pinged.UTC(), h.pingErr == ""
		t.PingedAt, t.PingOK, t.PingCode, t.PingMillis = &at, &fine, h.ping.Code, h.ping.RTT.Milliseconds()
		if !fine && t.LastError == "" {
			t.LastError = h.pingErr
		}
	}
	return t
}

func until(t, now time.Time) *time.Time {
	if !t.After(now) {
		return nil
	}
	u := t.UTC()
	return &u
}
