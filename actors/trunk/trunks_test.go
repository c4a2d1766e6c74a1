package trunk_test

import (
	"context"
	"log/slog"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

func newTrunk(id string, change func(*domain.Trunk)) domain.Trunk {
	t := domain.Trunk{
		CallerIDs: []string{"+12025550100"},
		Meta:      domain.Meta{ID: id, Environment: domain.Live},
		Proxies:   []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}},
	}
	if change != nil {
		change(&t)
	}
	return t
}

// slotRequester is an actor that forwards slot requests to the trunks actor and collects the answers.
type slotRequester struct {
	trunks      *actor.PID
	answers     []any
	answerTimes []time.Duration
	start       time.Time
}

func (a *slotRequester) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case trunk.RequestSlot:
		ctx.Request(a.trunks, m)
	case trunk.Slot:
		m.Via = nil
		a.answers, a.answerTimes = append(a.answers, m), append(a.answerTimes, time.Since(a.start))
	case trunk.SlotDenied:
		a.answers, a.answerTimes = append(a.answers, m), append(a.answerTimes, time.Since(a.start))
	}
}

func startTrunks(sys *actor.ActorSystem, trunks ...domain.Trunk) (*slotRequester, *actor.PID, func()) {
	cfg := trunk.Config{
		Trunks: trunks, Log: slog.New(slog.DiscardHandler),
		TestCarrier: func() (resolve.Target, bool) {
			return resolve.Target{Host: "127.0.0.1", Port: 5099, Transport: "udp"}, true
		},
	}
	pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return trunk.New(cfg) }, 100))
	a := &slotRequester{trunks: pid, start: time.Now()}
	ask := sys.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return a }))
	return a, ask, func() { sys.Root.Poison(ask); sys.Root.Poison(pid) }
}

func TestCallUsesTheTrunkWithTheLongestPrefix(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a, ask, end := startTrunks(sys,
			newTrunk("any", nil),
			newTrunk("us", func(t *domain.Trunk) { t.Prefixes = []string{"+1"} }),
			newTrunk("sim", func(t *domain.Trunk) { t.Prefixes, t.Simulator = []string{"+1500555"}, true }),
			newTrunk("test", func(t *domain.Trunk) { t.Environment, t.Simulator = domain.Test, true }))
		for _, w := range []trunk.RequestSlot{
			{To: "+442071838750", CallID: "1"},
			{To: "+12025550100", CallID: "2"},
			{To: "+15005550000", CallID: "3"},
			{To: "+12025550100", CallID: "4", Environment: domain.Test},
			{To: "+12025550100", CallID: "5", TrunkID: "any"},
			{To: "+12025550100", CallID: "6", TrunkID: "gone"},
		} {
			if w.Environment == "" {
				w.Environment = domain.Live
			}
			sys.Root.Send(ask, w)
		}
		synctest.Wait()
		got := make([]string, 0, 6)
		for _, h := range a.answers {
			switch m := h.(type) {
			case trunk.Slot:
				got = append(got, m.CallID+" "+m.Target.TrunkID)
			case trunk.SlotDenied:
				got = append(got, m.CallID+" "+m.Reason)
			}
		}
		assert.Equal(t, []string{"1 any", "2 us", "3 sim", "4 test", "5 any", "6 no_trunk"}, got)
		end()
	})
}

func TestCallsPerSecondAreEvenlySpaced(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a, ask, end := startTrunks(sys, newTrunk("slow", func(t *domain.Trunk) { t.CallsPerSecond = 2 }))
		for range 5 {
			sys.Root.Send(ask, trunk.RequestSlot{To: "+12025550100", Environment: domain.Live, CallID: "c"})
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		want := []time.Duration{0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond, 2 * time.Second}
		assert.Equal(t, want, a.answerTimes)
		end()
	})
}

func TestStoppedCallLeavesTheQueueForAChannel(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a, ask, end := startTrunks(sys, newTrunk("one", func(t *domain.Trunk) { t.MaxChannels = 1 }))
		leg := sys.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		for _, id := range []string{"a", "b"} {
			sys.Root.Send(ask, trunk.RequestSlot{To: "+12025550100", Environment: domain.Live, CallID: id})
		}
		synctest.Wait()
		require.Len(t, a.answers, 1, "b waits for the channel")
		sys.Root.Send(a.trunks, trunk.BindCall{CallID: "b", Call: leg})
		synctest.Wait()
		sys.Root.Poison(leg)
		synctest.Wait()
		sys.Root.Send(a.trunks, trunk.ReleaseCall{CallID: "a"})
		sys.Root.Send(ask, trunk.RequestSlot{To: "+12025550100", Environment: domain.Live, CallID: "c"})
		synctest.Wait()
		require.Len(t, a.answers, 2)
		assert.Equal(t, "c", a.answers[1].(trunk.Slot).CallID, "a slot for b would never be returned")
		end()
	})
}

func TestStoppedCallReleasesItsChannel(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a, ask, end := startTrunks(sys, newTrunk("one", func(t *domain.Trunk) { t.MaxChannels = 1 }))
		call := sys.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		sys.Root.Send(ask, trunk.RequestSlot{To: "+12025550100", Environment: domain.Live, CallID: "a"})
		sys.Root.Send(ask, trunk.RequestSlot{To: "+12025550100", Environment: domain.Live, CallID: "b"})
		synctest.Wait()
		require.Len(t, a.answers, 1)
		sys.Root.Send(a.trunks, trunk.BindCall{CallID: "a", Call: call})
		time.Sleep(time.Second)
		synctest.Wait()
		sys.Root.Poison(call)
		synctest.Wait()
		require.Len(t, a.answers, 2)
		assert.Equal(t, "b", a.answers[1].(trunk.Slot).CallID)
		assert.Equal(t, time.Second, a.answerTimes[1])
		end()
	})
}

func TestWaitingRequestIsDeniedAfterFiveSeconds(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a, ask, end := startTrunks(sys, newTrunk("one", func(t *domain.Trunk) { t.MaxChannels = 1 }))
		for _, id := range []string{"a", "b"} {
			sys.Root.Send(ask, trunk.RequestSlot{To: "+12025550100", Environment: domain.Live, CallID: id})
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Len(t, a.answers, 2)
		assert.Equal(t, trunk.SlotDenied{CallID: "b", Reason: trunk.ReasonChannels}, a.answers[1])
		assert.Equal(t, 5*time.Second, a.answerTimes[1])
		end()
	})
}

func TestThrottledTrunkWaitsForItsRetryAfter(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a, ask, end := startTrunks(sys, newTrunk("one", nil))
		sys.Root.Send(a.trunks, trunk.LegResult{TrunkID: "one", Final: outcome.Final{RetryAfter: 3 * time.Second}, Verdict: domain.Verdict{Throttled: true}})
		sys.Root.Send(ask, trunk.RequestSlot{To: "+12025550100", Environment: domain.Live, CallID: "a"})
		time.Sleep(4 * time.Second)
		synctest.Wait()
		assert.Equal(t, []time.Duration{3 * time.Second}, a.answerTimes)
		end()
	})
}

func TestFailoverFollowsPriorityAndSkipsTriedTargets(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a, ask, end := startTrunks(sys, newTrunk("one", func(t *domain.Trunk) {
			t.Proxies = []domain.Proxy{
				{Host: "192.0.2.3", Port: 5060, Transport: "udp", Priority: 2},
				{Host: "192.0.2.1", Port: 5060, Transport: "udp", Priority: 1},
			}
		}))
		var tried []string
		var hosts []string
		for range 3 {
			sys.Root.Send(ask, trunk.RequestSlot{To: "+12025550100", Environment: domain.Live, CallID: "a", Tried: tried})
			synctest.Wait()
			switch m := a.answers[len(a.answers)-1].(type) {
			case trunk.Slot:
				hosts, tried = append(hosts, m.Target.Host), append(tried, m.Key)
			case trunk.SlotDenied:
				hosts = append(hosts, m.Reason)
			}
		}
		assert.Equal(t, []string{"192.0.2.1", "192.0.2.3", "exhausted"}, hosts)
		end()
	})
}

func TestOnlySourcesOfTrunksAreAdmitted(t *testing.T) {
	b := trunk.NewSources()
	b.Set(context.Background(), b.NextUpdate(), "ws", []domain.Trunk{
		newTrunk("proxy", nil),
		newTrunk("net", func(t *domain.Trunk) { t.Inbound.AllowedIPs = []string{"198.51.100.0/24", "203.0.113.9"} }),
	})
	got := map[string]string{}
	for _, a := range []string{"192.0.2.1", "::ffff:192.0.2.1", "198.51.100.77", "203.0.113.9", "203.0.113.8", "127.0.0.1"} {
		ad := b.Admit(transport.Source{Addr: netip.AddrPortFrom(netip.MustParseAddr(a), 5060)})
		got[a] = ad.TrunkID
	}
	assert.Equal(t, map[string]string{
		"192.0.2.1": "proxy", "::ffff:192.0.2.1": "proxy", "198.51.100.77": "net", "203.0.113.9": "net",
		"203.0.113.8": "", "127.0.0.1": "",
	}, got)
}

func TestWaitingRequestsDoNotBlockOtherTrunks(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		narrow := func(prefix string) func(*domain.Trunk) {
			return func(t *domain.Trunk) { t.MaxChannels, t.Prefixes = 1, []string{prefix} }
		}
		a, ask, end := startTrunks(sys, newTrunk("uk", narrow("+44")), newTrunk("us", narrow("+1")))
		for id, to := range []string{"+442071838750", "+12025550100", "+442071838751", "+12025550101"} {
			sys.Root.Send(ask, trunk.RequestSlot{To: to, Environment: domain.Live, CallID: string(rune('a' + id))})
			synctest.Wait()
		}
		require.Len(t, a.answers, 2, "both are busy")
		sys.Root.Send(a.trunks, trunk.ReleaseCall{CallID: "b"})
		synctest.Wait()
		require.Len(t, a.answers, 3)
		assert.Equal(t, "d", a.answers[2].(trunk.Slot).CallID)
		sys.Root.Send(a.trunks, trunk.SetTrunks{Trunks: []domain.Trunk{newTrunk("us", narrow("+1"))}})
		synctest.Wait()
		assert.Equal(t, trunk.SlotDenied{CallID: "c", Reason: trunk.ReasonNoTrunk}, a.answers[3])
		assert.Zero(t, a.answerTimes[3])
		end()
	})
}
