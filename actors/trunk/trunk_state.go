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

// Pauses of a trunk or target that fails. After a throttling response a trunk pauses for minBackoff, doubling up to
// maxBackoff, or longer if its Retry-After says so. A target that failed failuresBeforeOut times in a row is tried
// last for outTime.
const (
	minBackoff        = time.Second
	maxBackoff        = time.Minute
	failuresBeforeOut = 3
	outTime           = 30 * time.Second
	maxRetryAfter     = 10 * time.Minute // maximum Retry-After that a carrier may request
)

// trunkState is the state of one trunk: its rate limit, channels, targets and health.
type trunkState struct {
	trunk           *domain.Trunk // read-only: slots of live calls refer to it
	channels        int
	nextSlotTime    time.Time // earliest time of the next call
	backoffUntil    time.Time // no call before this time
	backoffTime     time.Duration
	targets         []target
	routingTargets  []routing.Target // the targets in the form that package routing uses
	health          map[string]*health
	resolved        map[domain.Proxy][]resolve.Target // resolved addresses by proxy
	usedSinceLookup bool                              // used since the last look-up of its host names
	statistics      routing.CallStatistics
	raisedAlarms    map[string]time.Time // active alarms, with the time when they were raised
	lastErr         string
	inboundCalls    uint64
	inboundRefusals map[string]int // refused inbound calls by reason
	registration    *domain.TrunkRegistration
	probe           probe
}

// Intervals between probe calls to a trunk whose targets all fail.
const (
	minProbeInterval = 5 * time.Second
	maxProbeInterval = time.Minute
	probeRetry       = time.Second // delay of other requests while a probe call is in progress
)

// probe is the state of the calls that test whether a trunk works again after all its targets have failed.
type probe struct {
	call     string    // ID of the probe call; "": none
	failures int       // failed probes in a row
	next     time.Time // earliest time of the next probe
}

// waitUntil returns the time at which the next probe call may start. It is zero if a probe call may start now.
func (p *probe) waitUntil(now time.Time) time.Time {
	switch {
	case p.call != "":
		return now.Add(probeRetry)
	case p.next.After(now):
		return p.next
	}
	return time.Time{}
}

// scheduleNext sets the time of the next probe call after a probe call has failed.
func (p *probe) scheduleNext(now time.Time) {
	p.call, p.next = "", now.Add(min(minProbeInterval<<min(p.failures, 8), maxProbeInterval))
	p.failures++
}

// targetWorks reports whether a target may get a normal call. Otherwise the target is used only for a probe call, or if
// no trunk has a better target.
func (b *trunkState) targetWorks(key string, w *RequestSlot, now time.Time) bool {
	if w.MayProbe && b.allTargetsOut(now) {
		return false
	}
	h := b.health[key]
	return h == nil || !h.outUntil.After(now)
}

// allTargetsOut reports whether no target works: each has failed repeatedly or is currently tried only as the last.
func (b *trunkState) allTargetsOut(now time.Time) bool {
	return len(b.targets) > 0 && !slices.ContainsFunc(b.targets, func(t target) bool {
		h := b.health[t.key]
		return h == nil || h.failures < failuresBeforeOut && !h.outUntil.After(now)
	})
}

// target is one SIP server address of the trunk: a proxy, or one resolved address of a proxy's host name.
type target struct {
	to    resolve.Target
	proxy string // the proxy in the trunk's settings from which the target results
	key   string
}

// health is the health of a target. It is kept when the settings of the trunk change.
type health struct {
	failures      int       // failed INVITEs in a row
	lastSucceeded bool      // the last INVITE reached a callee or got a regular answer
	outUntil      time.Time // until this time the target is tried only after all others
	restUntil     time.Time // until this time the target is not tried
	lastErr       string
	missedPings   int // unanswered OPTIONS in a row
	pingedAt      time.Time
	ping          sip.PingResult
	pingErr       string
}

func newTrunkState() *trunkState {
	return &trunkState{
		trunk: new(domain.Trunk), health: make(map[string]*health), resolved: make(map[domain.Proxy][]resolve.Target),
		raisedAlarms: make(map[string]time.Time), inboundRefusals: make(map[string]int),
	}
}

// setTrunk replaces the settings of the trunk and computes its targets again.
func (b *trunkState) setTrunk(t *domain.Trunk) {
	b.trunk = t
	for p := range b.resolved {
		if !slices.Contains(t.Proxies, p) {
			delete(b.resolved, p)
		}
	}
	b.updateTargets()
}

// updateTargets computes the targets of the trunk. A proxy is one target, or one for each resolved address of its host
// name.
func (b *trunkState) updateTargets() {
	b.targets, b.routingTargets = b.targets[:0], b.routingTargets[:0]
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
			b.routingTargets = append(b.routingTargets, routing.Target{
				Key: key, Proxy: i, Priority: p.Priority, Weight: p.Weight, OutUntil: h.outUntil, RestsUntil: h.restUntil,
			})
		}
	}
	b.health = kept
}

// unresolvedProxies returns the proxies whose host is a name. A trunk with an outbound proxy has none, because the
// outbound proxy resolves the names.
func (b *trunkState) unresolvedProxies() []domain.Proxy {
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

// pickTarget returns the index of the next target for a call. If all remaining targets must not be tried now, until is
// the time at which the first may be tried again.
func (b *trunkState) pickTarget(tried []string, now time.Time) (i int, until time.Time, ok bool) {
	b.usedSinceLookup = true
	return routing.SelectTarget(b.routingTargets, tried, now, rand.ExpFloat64)
}

// blockedReason returns why the trunk cannot take a call now, and until when. why is empty if it can take a call.
func (b *trunkState) blockedReason(now time.Time) (until time.Time, why string) {
	switch {
	case b.backoffUntil.After(now):
		return b.backoffUntil, ReasonThrottled
	case b.trunk.MaxChannels > 0 && b.channels >= b.trunk.MaxChannels:
		return time.Time{}, ReasonChannels
	case b.nextSlotTime.After(now):
		return b.nextSlotTime, ReasonThrottled
	}
	return time.Time{}, ""
}

// takeSlot occupies a channel and sets the earliest time of the next call. The calls of a rate-limited trunk are evenly
// spaced, so that no burst follows a pause.
func (b *trunkState) takeSlot(now time.Time) {
	b.channels++
	if b.trunk.CallsPerSecond > 0 {
		b.nextSlotTime = now.Add(time.Duration(float64(time.Second) / b.trunk.CallsPerSecond))
	}
}

// applyResult updates the health and the statistics of the trunk from the result of a leg.
func (b *trunkState) applyResult(m *LegResult, now time.Time) {
	switch {
	case m.Answered:
		b.statistics.CountAnswered(now)
		b.markWorking(m.Key)
		return
	case m.Verdict.Throttled && !m.Redirected:
		b.backoffTime = min(max(2*b.backoffTime, minBackoff), maxBackoff)
		b.backoffUntil = now.Add(max(b.backoffTime, min(m.Final.RetryAfter, maxRetryAfter)))
		b.lastErr = "throttled"
	case m.Verdict.Reason == domain.ReasonTrunkError || m.Verdict.Reason == domain.ReasonTrunkRejected:
		b.lastErr = strings.TrimSpace(string(m.Verdict.Reason) + " " + responseText(m.Final))
		b.recordTargetFailure(m, now)
	case m.Verdict.Reason == domain.ReasonCancelled || m.Verdict.Reason == domain.ReasonNotSent:
		return
	default:
		b.markWorking(m.Key) // busy, no answer or declined: the trunk works
	}
	b.statistics.CountRefused(string(m.Verdict.Reason), now)
}

func responseText(f outcome.Final) string {
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

// recordTargetFailure records a failed call to a target of the trunk. A target that sent Retry-After is not tried
// for that time. A target that fails repeatedly, or that also failed its OPTIONS request, is tried last.
func (b *trunkState) recordTargetFailure(m *LegResult, now time.Time) {
	h := b.health[m.Key]
	if h == nil || m.Redirected {
		return
	}
	if m.CallID == b.probe.call {
		b.probe.scheduleNext(now)
	}
	h.failures++
	h.lastSucceeded, h.lastErr = false, b.lastErr
	if m.Final.RetryAfter > 0 {
		h.restUntil = now.Add(min(m.Final.RetryAfter, maxRetryAfter))
	}
	if h.failures >= failuresBeforeOut || h.missedPings > 0 || m.Final.RetryAfter > 0 {
		h.outUntil = now.Add(max(outTime, min(m.Final.RetryAfter, maxRetryAfter)))
	}
	b.publishHealth(m.Key, h)
}

func (b *trunkState) markWorking(key string) {
	b.backoffTime, b.lastErr, b.probe = 0, "", probe{}
	if h := b.health[key]; h != nil {
		*h = health{lastSucceeded: true, missedPings: h.missedPings, pingedAt: h.pingedAt, ping: h.ping, pingErr: h.pingErr}
		b.publishHealth(key, h)
	}
}

// applyPing records the result of an OPTIONS request to a target. An unanswered OPTIONS does not demote a target whose
// INVITEs succeed. An answer makes a failed target usable at once.
func (b *trunkState) applyPing(key string, p sip.PingResult, err error, now time.Time) {
	h := b.health[key]
	if h == nil {
		return
	}
	h.pingedAt, h.ping, h.pingErr = now, p, ""
	switch {
	case err != nil:
		h.missedPings++
		h.pingErr = err.Error()
		if !h.lastSucceeded && h.missedPings >= 2 {
			h.outUntil = now.Add(2 * pingInterval)
		}
	case p.Code == 503: // the target is alive but accepts no calls
		h.missedPings = 0
		if !h.lastSucceeded {
			h.outUntil = now.Add(2 * pingInterval)
		}
	default:
		h.missedPings, h.failures, h.outUntil, b.probe = 0, 0, time.Time{}, probe{}
	}
	b.publishHealth(key, h)
}

// publishHealth copies the health of a target to routingTargets, from which package routing selects.
func (b *trunkState) publishHealth(key string, h *health) {
	for i := range b.routingTargets {
		if b.routingTargets[i].Key == key {
			b.routingTargets[i].OutUntil, b.routingTargets[i].RestsUntil = h.outUntil, h.restUntil
		}
	}
}

// apiState returns the state of the trunk as the API shows it.
func (b *trunkState) apiState(now time.Time, waiting int) State {
	h := domain.TrunkHealth{
		Status: "up", Channels: b.channels, Waiting: waiting, LastError: b.lastErr, Targets: []domain.TargetHealth{},
		BackoffUntil: futureTime(b.backoffUntil, now), Registration: b.registration,
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
	case out > 0 || h.BackoffUntil != nil || len(b.raisedAlarms) > 0:
		h.Status = "degraded"
	}
	s := b.statistics.Totals(now)
	q := domain.TrunkQuality{
		WindowSeconds: int(routing.StatisticsWindow / time.Second), Attempts: s.Attempts, Answered: s.Answered, ASR: s.ASR(),
		ACDSeconds: s.ACD().Seconds(), ShortCalls: s.Short, ShortCallShare: s.ShortShare(), Refusals: s.RefusalsByReason(),
		InboundCalls: b.inboundCalls, InboundRefusals: make(map[string]int, len(b.inboundRefusals)), Alarms: []string{},
	}
	maps.Copy(q.InboundRefusals, b.inboundRefusals)
	for what := range b.raisedAlarms {
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
	case h.restUntil.After(now):
		t.Status, t.OutUntil = "resting", futureTime(h.restUntil, now)
	case h.outUntil.After(now):
		t.Status, t.OutUntil = "out", futureTime(h.outUntil, now)
	}
	if !h.pingedAt.IsZero() {
		at, fine := h.pingedAt.UTC(), h.pingErr == ""
		t.PingedAt, t.PingOK, t.PingCode, t.PingMillis = &at, &fine, h.ping.Code, h.ping.RTT.Milliseconds()
		if !fine && t.LastError == "" {
			t.LastError = h.pingErr
		}
	}
	return t
}

func futureTime(t, now time.Time) *time.Time {
	if !t.After(now) {
		return nil
	}
	u := t.UTC()
	return &u
}
