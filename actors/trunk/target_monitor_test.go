package trunk_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
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
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
)

// startTrunksWith starts a trunks actor with a configuration, and an actor that requests slots from it.
func startTrunksWith(sys *actor.ActorSystem, cfg trunk.Config) (*slotRequester, *actor.PID, func()) {
	cfg.Log = slog.New(slog.DiscardHandler)
	pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return trunk.New(cfg) }, 100))
	a := &slotRequester{trunks: pid, start: time.Now()}
	ask := sys.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return a }))
	synctest.Wait()
	return a, ask, func() { sys.Root.Poison(ask); sys.Root.Poison(pid) }
}

// lastAnswer returns the target host of the last answer if it was a granted slot, or the reason if it was a denial.
func lastAnswer(t *testing.T, a *slotRequester) string {
	t.Helper()
	synctest.Wait()
	require.NotEmpty(t, a.answers)
	switch m := a.answers[len(a.answers)-1].(type) {
	case trunk.Slot:
		return m.Target.Host
	case trunk.SlotDenied:
		return m.Reason
	}
	return "?"
}

func addSecondProxy(t *domain.Trunk) {
	t.Proxies = []domain.Proxy{
		{Host: "192.0.2.1", Port: 5060, Transport: "udp", Priority: 1}, {Host: "192.0.2.2", Port: 5060, Transport: "udp", Priority: 2},
	}
}

func slotRequest(id string) trunk.RequestSlot {
	return trunk.RequestSlot{To: "+12025550100", Environment: domain.Live, CallID: id}
}

func stateOf(t *testing.T, sys *actor.ActorSystem, pid *actor.PID) trunk.State {
	t.Helper()
	now, err := mailbox.Ask[trunk.Health](context.Background(), sys, pid, trunk.GetHealth{})
	require.NoError(t, err)
	return now.Trunks["one"]
}

func TestTargetRestsForItsRetryAfter(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		one := newTrunk("one", nil)
		a, ask, end := startTrunksWith(sys, trunk.Config{Trunks: []domain.Trunk{one}})
		sys.Root.Send(ask, slotRequest("a"))
		synctest.Wait()
		key := a.answers[0].(trunk.Slot).Key
		sys.Root.Send(a.trunks, trunk.LegResult{
			CallID: "a", Key: key, TrunkID: "one", Final: outcome.Final{Code: 503, RetryAfter: 4 * time.Second},
			Verdict: domain.Verdict{Reason: domain.ReasonTrunkError, NextLeg: domain.NextLegOtherTarget},
		})
		sys.Root.Send(ask, slotRequest("b"))
		synctest.Wait()
		assert.Len(t, a.answers, 1, "it waits for the target's pause to end")
		assert.Equal(t, []string{"down", "resting"}, []string{stateOf(t, sys, a.trunks).Health.Status, stateOf(t, sys, a.trunks).Health.Targets[0].Status})
		time.Sleep(5 * time.Second)
		assert.Equal(t, "192.0.2.1", lastAnswer(t, a))
		assert.Equal(t, 4*time.Second, a.answerTimes[1])
		end()
	})
}

func TestMissedPingDoesNotDemoteAWorkingTarget(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		trunks := newTrunk("one", addSecondProxy)
		trunks.OptionsPing = true
		ping := func(_ context.Context, _ domain.Environment, to resolve.Target) (sip.PingResult, error) {
			if to.Host == "192.0.2.1" {
				return sip.PingResult{}, errors.New("no answer")
			}
			return sip.PingResult{Code: 200, RTT: 3 * time.Millisecond}, nil
		}
		a, ask, end := startTrunksWith(sys, trunk.Config{Trunks: []domain.Trunk{trunks}, Ping: ping})
		sys.Root.Send(ask, slotRequest("a"))
		assert.Equal(t, "192.0.2.1", lastAnswer(t, a), "one miss is no news")
		time.Sleep(45 * time.Second)
		sys.Root.Send(ask, slotRequest("b"))
		assert.Equal(t, "192.0.2.2", lastAnswer(t, a), "two misses put it last")
		sys.Root.Send(a.trunks, trunk.LegResult{CallID: "a", Key: a.answers[0].(trunk.Slot).Key, TrunkID: "one", Answered: true})
		time.Sleep(5 * time.Minute)
		sys.Root.Send(ask, slotRequest("c"))
		assert.Equal(t, "192.0.2.1", lastAnswer(t, a), "its INVITEs succeed")
		h := stateOf(t, sys, a.trunks).Health
		assert.Equal(t, []any{"up", "up", false, true}, []any{h.Status, h.Targets[0].Status, *h.Targets[0].PingOK, *h.Targets[1].PingOK})
		end()
	})
}

func TestHostNameExpandsToAllItsAddresses(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		var mu sync.Mutex
		leads := []string{"192.0.2.11", "192.0.2.12"}
		named := newTrunk("one", func(t *domain.Trunk) { t.Proxies = []domain.Proxy{{Host: "sip.example.com"}} })
		a, ask, end := startTrunksWith(sys, trunk.Config{Trunks: []domain.Trunk{named}, Resolve: func(_ context.Context, to resolve.Target) ([]resolve.Target, error) {
			mu.Lock()
			defer mu.Unlock()
			var out []resolve.Target
			for _, host := range leads {
				out = append(out, resolve.Target{Host: host, Port: 5070, Transport: "tcp", TrunkID: to.TrunkID})
			}
			return out, nil
		}})
		w := slotRequest("a")
		var got []string
		for range 3 {
			sys.Root.Send(ask, w)
			got = append(got, lastAnswer(t, a))
			if s, ok := a.answers[len(a.answers)-1].(trunk.Slot); ok {
				assert.Equal(t, resolve.Target{Host: s.Target.Host, Port: 5070, Transport: "tcp", TrunkID: "one", Name: "sip.example.com"}, s.Target)
				w.Tried = append(w.Tried, s.Key)
			}
		}
		assert.Equal(t, []string{"192.0.2.11", "192.0.2.12", "exhausted"}, got)
		mu.Lock()
		leads = []string{"192.0.2.13"}
		mu.Unlock()
		time.Sleep(time.Minute)
		sys.Root.Send(ask, slotRequest("b"))
		assert.Equal(t, "192.0.2.13", lastAnswer(t, a), "the host name has another address")
		end()
	})
}

func TestShortCallsRaiseOneAlarmUntilRecovery(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		var mu sync.Mutex
		var alarms []string
		cfg := trunk.Config{
			Trunks: []domain.Trunk{newTrunk("one", func(t *domain.Trunk) { t.Alarms = domain.TrunkAlarms{MaxShortCallShare: 0.5, MinCalls: 4} })},
			SendAlarm: func(_ context.Context, a trunk.Alarm) {
				mu.Lock()
				defer mu.Unlock()
				alarms = append(alarms, a.Measure+map[bool]string{true: " over"}[a.Recovered])
			},
		}
		a, _, end := startTrunksWith(sys, cfg)
		for _, talked := range []int{2, 3, 4, 60, 5, 1} {
			sys.Root.Send(a.trunks, trunk.LegResult{TrunkID: "one", Answered: true})
			sys.Root.Send(a.trunks, trunk.CallEnded{TrunkID: "one", Talked: time.Duration(talked) * time.Second})
		}
		synctest.Wait()
		q := stateOf(t, sys, a.trunks).Quality
		assert.Equal(t, []any{6, 5, []string{"short_call_share"}}, []any{q.Answered, q.ShortCalls, q.Alarms})
		time.Sleep(2 * time.Hour)
		sys.Root.Send(a.trunks, trunk.CallEnded{TrunkID: "one", Talked: time.Minute})
		synctest.Wait()
		mu.Lock()
		assert.Equal(t, []string{"short_call_share", "short_call_share over"}, alarms)
		mu.Unlock()
		end()
	})
}

func TestDailySpendCapCountsLiveCalls(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		w := &domain.Workspace{DefaultCountry: "US", Calling: domain.DestinationRules{DailySpendCap: &domain.Money{Amount: "1.00"}, MaxCallMinutes: 7}}
		cfg := trunk.Config{
			Trunks:          []domain.Trunk{newTrunk("one", func(t *domain.Trunk) { t.Costs = []domain.Rate{{Prefix: "+1", Cost: "0.10"}} })},
			Workspace:       func() *domain.Workspace { return w },
			ReadLedgerSpend: func(context.Context, time.Time) (domain.Amount, error) { return 500_000, nil },
		}
		a, ask, end := startTrunksWith(sys, cfg)
		sys.Root.Send(ask, slotRequest("a"))
		synctest.Wait()
		slot := a.answers[0].(trunk.Slot)
		assert.Equal(t, 7*time.Minute, slot.MaxDuration)
		sys.Root.Send(a.trunks, trunk.LegResult{CallID: "a", Key: slot.Key, TrunkID: "one", Answered: true})
		var got []string
		for _, at := range []time.Duration{3 * time.Minute, time.Minute, time.Minute} {
			time.Sleep(at)
			sys.Root.Send(ask, slotRequest("b"))
			got = append(got, lastAnswer(t, a))
		}
		assert.Equal(t, []string{"192.0.2.1", "spend_cap_reached", "spend_cap_reached"}, got, "0.50 before, 0.10 per reserved minute of the live call, and 0.10 for the first minute of another call")
		sys.Root.Send(a.trunks, trunk.CallEnded{CallID: "a", TrunkID: "one", Talked: 3 * time.Minute})
		sys.Root.Send(ask, slotRequest("c"))
		assert.Equal(t, "192.0.2.1", lastAnswer(t, a), "the call was shorter than reserved")
		w.Calling.DailySpendCap.Amount = "2.00"
		for number, code := range map[string]domain.Code{"2025550100": "", "+442071838750": domain.CodeDestinationNotAllowed, "911": domain.CodeDestinationNotAllowed, "sip:x": domain.CodeDestinationNotAllowed} {
			c, err := mailbox.Ask[trunk.DestinationChecked](context.Background(), sys, a.trunks, trunk.CheckDestination{To: number, Environment: domain.Live})
			require.NoError(t, err)
			if code == "" {
				assert.Nil(t, c.Err, number)
				assert.Equal(t, "+12025550100", c.To)
				continue
			}
			require.NotNil(t, c.Err, number)
			assert.Equal(t, code, c.Err.Code, number)
		}
		end()
	})
}

func TestInviteShowsTheCallerInTheTrunksFormat(t *testing.T) {
	slot := trunk.Slot{
		From:   "+12025550100",
		Target: resolve.Target{Host: "192.0.2.1", Name: "sip.example.com"},
		Via: &domain.Trunk{
			NumberFormat: "digits", CallerIDs: []string{"+12025550100"}, CallerIDHeaders: []string{domain.HeaderAsserted, domain.HeaderDiversion},
			Auth: &domain.TrunkAuth{Username: "u", Password: "p"},
		},
	}
	var open, withheld sip.Invite
	require.NoError(t, slot.FillInvite(&open, "+12025550123", trunk.Caller{Number: "+12025550177", Name: "Ann", Diversion: "+12025550111", Identity: "a.b.c;ppt=shaken, d.e.f;ppt=div"}))
	require.NoError(t, slot.FillInvite(&withheld, "+12025550123", trunk.Caller{Number: domain.Anonymous, Name: "Ann", Diversion: "+12025550111", Identity: "a.b.c;ppt=shaken"}))
	assert.Equal(t, sip.Invite{
		Target: slot.Target, To: "12025550123", From: "12025550177", FromName: "Ann", Credentials: &auth.Credentials{Username: "u", Password: "p"},
		Headers: []message.Header{
			{Name: "P-Asserted-Identity", Value: "<sip:12025550177@sip.example.com>"},
			{Name: "Diversion", Value: "<sip:12025550111@sip.example.com>;reason=unconditional"},
			{Name: "Identity", Value: "a.b.c;ppt=shaken"},
			{Name: "Identity", Value: "d.e.f;ppt=div"},
		},
	}, open)
	assert.Equal(t, []any{"anonymous", "Anonymous", "anonymous.invalid", []message.Header{
		{Name: "Privacy", Value: "id"},
		{Name: "P-Asserted-Identity", Value: "<sip:12025550100@sip.example.com>"},
		{Name: "Diversion", Value: "<sip:12025550111@sip.example.com>;reason=unconditional"},
	}}, []any{withheld.From, withheld.FromName, withheld.FromDomain, withheld.Headers})
}
