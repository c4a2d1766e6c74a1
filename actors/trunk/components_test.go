package trunk

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
	"github.com/callboard/callboard/sip/outcome"
	sipregistration "github.com/callboard/callboard/sip/registration"
)

func stateOf(t *domain.Trunk) *trunkState {
	b := newTrunkState()
	b.setTrunk(t)
	return b
}

func newLedger() *spendLedger {
	return &spendLedger{known: true, meters: make(map[string]*meter), restored: make(map[string]domain.Amount), smsReserved: make(map[string]domain.Amount)}
}

func TestChannelsOfACallAreFreedWithTheirReservations(t *testing.T) {
	t.Parallel()
	b, spend := stateOf(&domain.Trunk{Meta: domain.Meta{ID: "trunk_1"}}), newLedger()
	all := callChannels{byCall: make(map[string]*channelsOfCall), spend: spend}
	for _, key := range []string{"one", "two"} {
		b.channels++
		all.add("call_1", "+12025550101", channel{state: b, trunk: b.trunk, key: key, reserved: 5})
	}
	all.addHeld("call_2", b) // of an earlier process
	assert.Equal(t, []any{3, domain.Amount(10)}, []any{b.channels, spend.reserved})
	c, to := all.find("call_1", "two")
	require.NotNil(t, c)
	assert.Equal(t, "+12025550101", to)
	b.probe.call = "call_1"
	all.release("call_1", "one")
	all.release("call_1", "one")
	assert.Equal(t, []any{2, domain.Amount(5), ""}, []any{b.channels, spend.reserved, b.probe.call}, "once")
	c, _ = all.find("call_1", "one")
	assert.Nil(t, c)
	all.releaseAll("call_1")
	all.releaseAll("call_2")
	all.releaseAll("call_3")
	assert.Equal(t, []any{0, domain.Amount(0), 0}, []any{b.channels, spend.reserved, len(all.byCall)})
}

func TestFailingTargetIsTriedLast(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := stateOf(&domain.Trunk{Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060}, {Host: "192.0.2.2", Port: 5060, Priority: 1}}})
	require.Len(t, b.targets, 2)
	one, two := b.targets[0].key, b.targets[1].key
	pick := func(tried ...string) string {
		i, _, ok := b.pickTarget(tried, now)
		if !ok {
			return ""
		}
		return b.targets[i].key
	}
	assert.Equal(t, []string{one, two, ""}, []string{pick(), pick(one), pick(one, two)})
	learn := func(key string, r LegResult) { r.Key = key; b.applyResult(&r, now) }
	fails := LegResult{Verdict: domain.Verdict{Reason: domain.ReasonTrunkError}, Final: outcome.Final{NoResponse: true}}
	for range failuresBeforeOut {
		assert.Equal(t, one, pick())
		learn(one, fails)
	}
	assert.Equal(t, []string{two, one}, []string{pick(), pick(two)}, "last")
	assert.Equal(t, "degraded", b.apiState(now, 0).Health.Status)
	for range failuresBeforeOut {
		learn(two, fails)
	}
	assert.True(t, b.allTargetsOut(now.Add(2*outTime)), "until one has worked")
	assert.Equal(t, []string{"down", "trunk_error no answer at all"}, []string{b.apiState(now, 0).Health.Status, b.apiState(now, 0).Health.LastError})
	b.setTrunk(&domain.Trunk{Proxies: b.trunk.Proxies[:1]})
	assert.Equal(t, "down", b.apiState(now, 0).Health.Status, "the health of a target outlives a change of its trunk")
	learn(one, LegResult{Verdict: domain.Verdict{Reason: domain.ReasonBusy}})
	assert.Equal(t, "up", b.apiState(now, 0).Health.Status, "the trunk did its work")
}

func TestThrottledTrunkWaitsTwiceAsLongEachTime(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := stateOf(&domain.Trunk{MaxChannels: 1, CallsPerSecond: 2})
	throttled := &LegResult{Verdict: domain.Verdict{Throttled: true}}
	var waits []time.Duration
	for range 3 {
		b.applyResult(throttled, now)
		until, why := b.blockedReason(now)
		assert.Equal(t, ReasonThrottled, why)
		waits = append(waits, until.Sub(now))
	}
	assert.Equal(t, []time.Duration{minBackoff, 2 * minBackoff, 4 * minBackoff}, waits)
	throttled.Final.RetryAfter = 24 * time.Hour
	b.applyResult(throttled, now)
	until, _ := b.blockedReason(now)
	assert.Equal(t, maxRetryAfter, until.Sub(now), "no more than that")
	b.takeSlot(until)
	_, why := b.blockedReason(until)
	assert.Equal(t, ReasonChannels, why)
	b.channels--
	next, why := b.blockedReason(until)
	assert.Equal(t, []any{ReasonThrottled, time.Second / 2}, []any{why, next.Sub(until)}, "two calls per second")
}

func TestProbeIntervalDoublesAfterEachFailure(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var p probe
	assert.Zero(t, p.waitUntil(now))
	p.call = "call_1"
	assert.Equal(t, now.Add(probeRetry), p.waitUntil(now), "one at a time")
	var waits []time.Duration
	for range 6 {
		p.scheduleNext(now)
		waits = append(waits, p.waitUntil(now).Sub(now))
	}
	assert.Equal(t, []time.Duration{minProbeInterval, 2 * minProbeInterval, 4 * minProbeInterval, 8 * minProbeInterval, maxProbeInterval, maxProbeInterval}, waits)
}

func TestRepeatedAlarmIsSentAfterFifteenMinutes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := stateOf(&domain.Trunk{Meta: domain.Meta{ID: "trunk_1"}})
	l := trunkAlarms{sentAt: make(map[string]time.Time)}
	raise := func(at time.Time) bool {
		before := l.sentAt["trunk_1asr"]
		l.raise(nil, b, Alarm{Measure: string(routing.ASR)}, at)
		return !l.sentAt["trunk_1asr"].Equal(before)
	}
	assert.True(t, raise(now))
	assert.False(t, raise(now.Add(time.Hour)), "it is on")
	l.lower(nil, b, string(routing.ASR))
	assert.False(t, raise(now.Add(time.Minute)), "too soon")
	assert.NotEmpty(t, b.raisedAlarms, "the trunk shows it")
	l.lower(nil, b, string(routing.ASR))
	assert.True(t, raise(now.Add(alarmRepeat)))
}

func TestCallerIDsListTheTrunksOwnAndUnboundNumbers(t *testing.T) {
	t.Parallel()
	numbers := []*domain.PhoneNumber{{Number: "+2", TrunkID: ""}, {Number: "+3", TrunkID: "trunk_2"}, {Number: "+4", TrunkID: "trunk_1"}}
	assert.Equal(t, []string{"+1", "+4", "+2"}, CallerIDs(&domain.Trunk{Meta: domain.Meta{ID: "trunk_1"}, CallerIDs: []string{"+1"}}, numbers))
}

func TestTrunkRegistersAtItsFirstProxy(t *testing.T) {
	t.Parallel()
	_, ok := registerTo(&domain.Trunk{Proxies: []domain.Proxy{{Host: "a"}}})
	assert.False(t, ok, "no credentials")
	to, ok := registerTo(&domain.Trunk{Auth: &domain.TrunkAuth{Username: "u"}, Proxies: []domain.Proxy{{Host: "a", Priority: 2}, {Host: "b", Priority: 1}, {Host: "c", Priority: 1}}})
	require.True(t, ok)
	assert.Equal(t, []string{"b", "u"}, []string{to.Target.Host, to.User})
}

func TestStateOfAReplacedRegistrationIsIgnored(t *testing.T) {
	t.Parallel()
	var r registrations
	b := stateOf(&domain.Trunk{})
	r.update(b, sipregistration.State{Status: sipregistration.Failed})
	assert.Nil(t, b.registration, "the trunk does not register any more")
	b.registration = &domain.TrunkRegistration{}
	at := time.Now()
	r.update(b, sipregistration.State{Status: sipregistration.Failed, Code: 403, RetryAt: at})
	assert.Equal(t, []any{string(sipregistration.Failed), 403, true}, []any{b.registration.Status, b.registration.Code, b.registration.RetryAt.Equal(at)})
	assert.Nil(t, b.registration.Expires)
	r.update(b, sipregistration.State{Status: sipregistration.Removed})
	assert.Equal(t, 403, b.registration.Code)
}

func TestFailedRegistrationStartIsRetried(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		t.Helper()
		var tries atomic.Int32
		register := func(sipregistration.Config) (*sipregistration.Registration, error) {
			tries.Add(1)
			return nil, errors.New("SIP is not listening")
		}
		tr := domain.Trunk{Meta: domain.Meta{ID: "trunk_1"}, Register: true, Auth: &domain.TrunkAuth{Username: "u"}, Proxies: []domain.Proxy{{Host: "a"}}}
		b, plain := stateOf(&tr), stateOf(&domain.Trunk{Meta: domain.Meta{ID: "trunk_2"}})
		r := registrations{register: register, log: slog.New(slog.DiscardHandler), byTrunk: make(map[string]registrationChild)}
		pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor {
			return actor.ReceiveFunc(func(ctx actor.Context) {
				switch m := ctx.Message().(type) {
				case func(actor.Context):
					m(ctx)
				case Registered:
					r.update(b, m.State)
				}
			})
		}, 10))
		do := func(f func(actor.Context)) {
			sys.Root.Send(pid, f)
			synctest.Wait()
		}
		do(func(ctx actor.Context) { r.set(ctx, []*trunkState{b, plain}) })
		do(func(actor.Context) {
			assert.Equal(t, []any{1, string(sipregistration.Failed)}, []any{len(r.byTrunk), b.registration.Status})
		})
		assert.Equal(t, int32(1), tries.Load())
		time.Sleep(registerRetry)
		synctest.Wait()
		assert.Equal(t, int32(2), tries.Load())
		do(func(ctx actor.Context) { r.set(ctx, []*trunkState{b, plain}) })
		assert.Equal(t, int32(2), tries.Load(), "its settings are the same")
		do(func(ctx actor.Context) {
			changed := tr
			changed.FromDomain = "carrier.example"
			b.setTrunk(&changed)
			r.set(ctx, []*trunkState{b, plain})
		})
		assert.Equal(t, int32(3), tries.Load())
		do(func(ctx actor.Context) {
			r.set(ctx, []*trunkState{plain})
			assert.Empty(t, r.byTrunk)
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, int32(3), tries.Load(), "the trunk was deleted")
		sys.Root.Poison(pid)
		synctest.Wait()
	})
}
