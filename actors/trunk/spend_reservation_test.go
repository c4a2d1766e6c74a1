package trunk_test

import (
	"context"
	"strconv"
	"sync/atomic"
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
)

// newCappedConfig returns a workspace with a spend cap, and a configuration with one trunk that has a price per minute.
func newCappedConfig(amount, perMinute string) (*domain.Workspace, trunk.Config) {
	w := &domain.Workspace{DefaultCountry: "US", Calling: domain.DestinationRules{DailySpendCap: &domain.Money{Amount: amount}}}
	return w, trunk.Config{
		Trunks:    []domain.Trunk{newTrunk("one", func(t *domain.Trunk) { t.Costs = []domain.Rate{{Prefix: "+1", Cost: perMinute}} })},
		Workspace: func() *domain.Workspace { return w },
	}
}

// grantedKeys returns, by call ID, the target keys of the granted slots.
func (a *slotRequester) grantedKeys() map[string]string {
	out := make(map[string]string)
	for _, m := range a.answers {
		if s, ok := m.(trunk.Slot); ok {
			out[s.CallID] = s.Key
		}
	}
	return out
}

// callOwner is an actor that ends its call when it gets SpendCapReached.
type callOwner struct {
	trunks *actor.PID
	call   string
	since  time.Time
	lasted time.Duration
}

func (o *callOwner) Receive(ctx actor.Context) {
	if m, ok := ctx.Message().(trunk.SpendCapReached); ok && m.CallID == o.call && o.lasted == 0 {
		o.lasted = time.Since(o.since)
		ctx.Send(o.trunks, trunk.CallEnded{CallID: o.call, TrunkID: "one", Talked: o.lasted})
	}
}

func TestSimultaneousCallsReserveTheirFirstMinute(t *testing.T) {
	for _, c := range []struct {
		amount, perMinute string
		granted           int
	}{{"1.00", "60", 0}, {"1.00", "0.30", 3}, {"1.00", "0.05", 20}, {"999999999999", "1000", 20}} {
		t.Run(c.amount+" at "+c.perMinute, func(t *testing.T) {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				_, cfg := newCappedConfig(c.amount, c.perMinute)
				a, ask, end := startTrunksWith(sys, cfg)
				for n := range 20 {
					sys.Root.Send(ask, slotRequest(strconv.Itoa(n)))
				}
				synctest.Wait()
				assert.Len(t, a.grantedKeys(), c.granted)
				for _, m := range a.answers {
					if no, ok := m.(trunk.SlotDenied); ok {
						require.NotNil(t, no.Err)
						assert.Equal(t, []any{trunk.ReasonSpendCap, domain.CodeSpendCap}, []any{no.Reason, no.Err.Code})
					}
				}
				for id, key := range a.grantedKeys() {
					sys.Root.Send(a.trunks, trunk.ReturnSlot{CallID: id, Key: key})
				}
				end()
			})
		})
	}
}

func TestLiveCallEndsWhenTheCapIsUsedUp(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		w, cfg := newCappedConfig("1.00", "0.30")
		a, ask, end := startTrunksWith(sys, cfg)
		o := &callOwner{trunks: a.trunks, call: "a", since: time.Now()}
		call := sys.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return o }))
		sys.Root.Send(a.trunks, trunk.BindCall{CallID: "a", Call: call})
		sys.Root.Send(ask, slotRequest("a"))
		synctest.Wait()
		sys.Root.Send(a.trunks, trunk.LegResult{CallID: "a", Key: a.grantedKeys()["a"], TrunkID: "one", Answered: true})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.InDelta(t, 180, o.lasted.Seconds(), 1, "three minutes of 0.30 within 1.00")
		assert.LessOrEqual(t, o.lasted, 3*time.Minute)
		w.Calling.DailySpendCap.Amount = "1.20"
		sys.Root.Send(ask, slotRequest("b"))
		synctest.Wait()
		assert.Contains(t, a.grantedKeys(), "b", "0.90 was spent, 0.30 is left")
		sys.Root.Poison(call)
		end()
	})
}

func TestUnansweredLegReleasesItsReservation(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		_, cfg := newCappedConfig("0.30", "0.30")
		a, ask, end := startTrunksWith(sys, cfg)
		for _, id := range []string{"a", "b", "c"} {
			sys.Root.Send(ask, slotRequest(id))
			synctest.Wait()
			require.Contains(t, a.grantedKeys(), id)
			sys.Root.Send(ask, slotRequest(id+" at the same time"))
			synctest.Wait()
			require.NotContains(t, a.grantedKeys(), id+" at the same time")
			switch id {
			case "a":
				sys.Root.Send(a.trunks, trunk.LegResult{CallID: id, Key: a.grantedKeys()[id], TrunkID: "one", Verdict: domain.Verdict{Reason: domain.ReasonBusy}})
			case "b":
				sys.Root.Send(a.trunks, trunk.ReturnSlot{CallID: id, Key: a.grantedKeys()[id]})
			}
		}
		end()
	})
}

// resumeMessage returns the message that resumes the meter of call a, which was answered at the given time.
func resumeMessage(answered time.Time) trunk.ResumeMeter {
	return trunk.ResumeMeter{CallID: "a", Environment: domain.Live, PerMinute: 100_000, Answered: answered}
}

func TestResumedCallIsMeteredOnceFromItsAnswer(t *testing.T) {
	for name, handedOver := range map[string]bool{"after a crash": false, "after a hand-over": true} {
		t.Run(name, func(t *testing.T) {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				_, cfg := newCappedConfig("1.00", "0.10")
				d := &memoryStates{states: map[string]domain.TrunkState{}}
				d.attachTo(&cfg)
				cfg.ReadLedgerSpend = func(context.Context, time.Time) (domain.Amount, error) { return 0, nil }
				a, ask, end := startTrunksWith(sys, cfg)
				call := sys.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
				sys.Root.Send(a.trunks, trunk.BindCall{CallID: "a", Call: call})
				sys.Root.Send(ask, slotRequest("a"))
				synctest.Wait()
				answered := time.Now()
				sys.Root.Send(a.trunks, trunk.LegResult{CallID: "a", Key: a.grantedKeys()["a"], TrunkID: "one", Answered: true})
				time.Sleep(5*time.Minute + 11*time.Second)
				if handedOver { // the call actor stops before the states are stored
					sys.Root.Poison(call)
					synctest.Wait()
					_, err := mailbox.Ask[trunk.StatesFlushed](t.Context(), sys, a.trunks, trunk.FlushStates{})
					require.NoError(t, err)
				}
				end()
				sys.Root.Poison(call)
				time.Sleep(time.Second)

				a, ask, end = startTrunksWith(sys, cfg)
				synctest.Wait()
				sys.Root.Send(a.trunks, resumeMessage(answered))
				for n := range 6 { // six of ten minutes are paid, so four are left
					sys.Root.Send(ask, slotRequest(strconv.Itoa(n)))
				}
				synctest.Wait()
				assert.Len(t, a.grantedKeys(), 4)
				end()
			})
		})
	}
}

// readSpent returns today's cost as the trunks actor reports it.
func readSpent(t *testing.T, sys *actor.ActorSystem, trunks *actor.PID) float64 {
	t.Helper()
	now, err := mailbox.Ask[trunk.Health](t.Context(), sys, trunks, trunk.GetHealth{})
	require.NoError(t, err)
	return float64(now.Spent)
}

func TestCallResumedBeforeTheLedgerIsReadCountsOnce(t *testing.T) {
	for name, stops := range map[string]bool{"and lives": false, "and stops": true} {
		t.Run(name, func(t *testing.T) {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				_, cfg := newCappedConfig("9.00", "0.10")
				day := time.Now().Unix() / 86400
				cfg.LoadSpending = func(context.Context) (domain.Spending, error) {
					return domain.Spending{Day: day, Micros: 700_000, Live: map[string]domain.Amount{"a": 500_000}}, nil
				}
				read := make(chan struct{})
				cfg.ReadLedgerSpend = func(context.Context, time.Time) (domain.Amount, error) { <-read; return 0, nil }
				a, _, end := startTrunksWith(sys, cfg)
				call := sys.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
				sys.Root.Send(a.trunks, trunk.BindCall{CallID: "a", Call: call})
				sys.Root.Send(a.trunks, resumeMessage(time.Now().Add(-5*time.Minute)))
				synctest.Wait()
				if stops {
					sys.Root.Poison(call)
					synctest.Wait()
				}
				close(read)
				synctest.Wait()
				assert.InDelta(t, 700_000, readSpent(t, sys, a.trunks), 1000)
				if stops {
					sys.Root.Send(a.trunks, resumeMessage(time.Now().Add(-5*time.Minute)))
					assert.InDelta(t, 700_000, readSpent(t, sys, a.trunks), 1000, "resumed once more")
				}
				end()
				sys.Root.Poison(call)
			})
		})
	}
}

func TestLiveCallIsMeteredWhileAnOperatorRemovesTheCap(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		with, cfg := newCappedConfig("1.00", "0.30")
		without := *with
		without.Calling.DailySpendCap = nil
		var reads int
		var stays atomic.Bool
		cfg.Workspace = func() *domain.Workspace { // the cap is removed and set again between any two reads
			if reads++; !stays.Load() && reads%2 == 0 {
				return &without
			}
			return with
		}
		a, ask, end := startTrunksWith(sys, cfg)
		o := &callOwner{trunks: a.trunks, call: "a", since: time.Now()}
		call := sys.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return o }))
		sys.Root.Send(a.trunks, trunk.BindCall{CallID: "a", Call: call})
		sys.Root.Send(ask, slotRequest("a"))
		synctest.Wait()
		require.Contains(t, a.grantedKeys(), "a")
		sys.Root.Send(a.trunks, trunk.LegResult{CallID: "a", Key: a.grantedKeys()["a"], TrunkID: "one", Answered: true})
		time.Sleep(90 * time.Second)
		stays.Store(true)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.InDelta(t, 180, o.lasted.Seconds(), 1, "three minutes of 0.30 within 1.00")
		sys.Root.Poison(call)
		end()
	})
}

func TestCallIsMeteredAtThePriceOfItsSlot(t *testing.T) {
	free := newTrunk("one", nil)
	for name, trunks := range map[string][]domain.Trunk{
		"the trunk is deleted while the call rings": nil,
		"its costs are removed meanwhile":           {free},
	} {
		t.Run(name, func(t *testing.T) {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				_, cfg := newCappedConfig("5.00", "0.30")
				d := &memoryStates{states: map[string]domain.TrunkState{}}
				d.attachTo(&cfg)
				a, ask, end := startTrunksWith(sys, cfg)
				sys.Root.Send(ask, slotRequest("a"))
				synctest.Wait()
				sys.Root.Send(a.trunks, trunk.SetTrunks{Trunks: trunks})
				sys.Root.Send(a.trunks, trunk.LegResult{CallID: "a", Key: a.grantedKeys()["a"], TrunkID: "one", Answered: true})
				time.Sleep(10*time.Minute + 15*time.Second)
				assert.InDelta(t, 3_075_000, readSpent(t, sys, a.trunks), 1000)
				d.mu.Lock()
				assert.InDelta(t, 3_075_000, float64(d.spent.Micros), 80_000, "it is stored now and then")
				d.mu.Unlock()
				sys.Root.Send(a.trunks, trunk.CallEnded{CallID: "a", TrunkID: "one", Talked: 10 * time.Minute})
				assert.InDelta(t, 3_000_000, readSpent(t, sys, a.trunks), 1)
				end()
			})
		})
	}
}

func TestResumedCallOfADeletedTrunkIsMetered(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		_, cfg := newCappedConfig("5.00", "0.30")
		cfg.Trunks = nil
		a, _, end := startTrunksWith(sys, cfg)
		sys.Root.Send(a.trunks, resumeMessage(time.Now()))
		time.Sleep(10 * time.Minute)
		assert.InDelta(t, 1_000_000, readSpent(t, sys, a.trunks), 1000)
		end()
	})
}

func TestFailedNumberRewriteIsReportedAsNoTrunk(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a, ask, end := startTrunks(sys, newTrunk("one", func(t *domain.Trunk) { t.NumberAdd = "+44" }))
		sys.Root.Send(ask, slotRequest("a"))
		short := slotRequest("b")
		short.To = "911"
		sys.Root.Send(ask, short)
		synctest.Wait()
		require.Len(t, a.answers, 2)
		rewritten, forbidden := a.answers[0].(trunk.SlotDenied), a.answers[1].(trunk.SlotDenied)
		require.NotNil(t, rewritten.Err)
		assert.Equal(t, []any{trunk.ReasonNoTrunk, domain.CodeDestinationNotAllowed}, []any{rewritten.Reason, rewritten.Err.Code})
		assert.Contains(t, rewritten.Err.Message, "number_add")
		assert.Equal(t, trunk.ReasonForbidden, forbidden.Reason)
		end()
	})
}
