package trunk_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
)

// capped is a workspace with a cap over one trunk with a price for a minute.
func capped(amount, perMinute string) (*domain.Workspace, trunk.Config) {
	w := &domain.Workspace{DefaultCountry: "US", Calling: domain.Calling{DailySpendCap: &domain.Money{Amount: amount}}}
	return w, trunk.Config{
		Trunks:    []domain.Trunk{tr("one", func(t *domain.Trunk) { t.Costs = []domain.Rate{{Prefix: "+1", Cost: perMinute}} })},
		Workspace: func() *domain.Workspace { return w },
	}
}

// granted are the calls that got a slot, by the keys of their slots.
func (a *asker) granted() map[string]string {
	out := make(map[string]string)
	for _, m := range a.heard {
		if s, ok := m.(trunk.Slot); ok {
			out[s.CallID] = s.Key
		}
	}
	return out
}

// owner ends a call when it is told to.
type owner struct {
	trunks *actor.PID
	call   string
	since  time.Time
	lasted time.Duration
}

func (o *owner) Receive(ctx actor.Context) {
	if m, ok := ctx.Message().(trunk.OutOfMoney); ok && m.CallID == o.call && o.lasted == 0 {
		o.lasted = time.Since(o.since)
		ctx.Send(o.trunks, trunk.Ended{CallID: o.call, TrunkID: "one", Talked: o.lasted})
	}
}

func TestCallsPlacedAtOnceReserveTheirFirstMinute(t *testing.T) {
	for _, c := range []struct {
		amount, perMinute string
		granted           int
	}{{"1.00", "60", 0}, {"1.00", "0.30", 3}, {"1.00", "0.05", 20}, {"999999999999", "1000", 20}} {
		t.Run(c.amount+" at "+c.perMinute, func(t *testing.T) {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				_, cfg := capped(c.amount, c.perMinute)
				a, ask, end := launch(sys, cfg)
				for n := range 20 {
					sys.Root.Send(ask, want(strconv.Itoa(n)))
				}
				synctest.Wait()
				assert.Len(t, a.granted(), c.granted)
				for _, m := range a.heard {
					if no, ok := m.(trunk.NoSlot); ok {
						require.NotNil(t, no.Err)
						assert.Equal(t, []any{trunk.SpendCap, domain.CodeSpendCap}, []any{no.Reason, no.Err.Code})
					}
				}
				for id, key := range a.granted() {
					sys.Root.Send(a.trunks, trunk.Return{CallID: id, Key: key})
				}
				end()
			})
		})
	}
}

func TestLiveCallEndsAtTheEndOfItsPaidMinute(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		w, cfg := capped("1.00", "0.30")
		a, ask, end := launch(sys, cfg)
		o := &owner{trunks: a.trunks, call: "a", since: time.Now()}
		call := sys.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return o }))
		sys.Root.Send(a.trunks, trunk.Bind{CallID: "a", Call: call})
		sys.Root.Send(ask, want("a"))
		synctest.Wait()
		sys.Root.Send(a.trunks, trunk.Result{CallID: "a", Key: a.granted()["a"], TrunkID: "one", Answered: true})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.InDelta(t, 180, o.lasted.Seconds(), 1, "three minutes of 0.30 within 1.00")
		assert.LessOrEqual(t, o.lasted, 3*time.Minute)
		w.Calling.DailySpendCap.Amount = "1.20"
		sys.Root.Send(ask, want("b"))
		synctest.Wait()
		assert.Contains(t, a.granted(), "b", "0.90 was spent, 0.30 is left")
		sys.Root.Poison(call)
		end()
	})
}

func TestMoneyOfALegThatEndsUnansweredIsFreeAgain(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		_, cfg := capped("0.30", "0.30")
		a, ask, end := launch(sys, cfg)
		for _, id := range []string{"a", "b", "c"} {
			sys.Root.Send(ask, want(id))
			synctest.Wait()
			require.Contains(t, a.granted(), id)
			sys.Root.Send(ask, want(id+" beside"))
			synctest.Wait()
			require.NotContains(t, a.granted(), id+" beside")
			switch id {
			case "a":
				sys.Root.Send(a.trunks, trunk.Result{CallID: id, Key: a.granted()[id], TrunkID: "one", Verdict: domain.Verdict{Reason: domain.ReasonBusy}})
			case "b":
				sys.Root.Send(a.trunks, trunk.Return{CallID: id, Key: a.granted()[id]})
			}
		}
		end()
	})
}

func TestResumedCallCountsFromItsAnswerAndOnce(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		_, cfg := capped("1.00", "0.10")
		d := &drawer{states: map[string]domain.TrunkState{}}
		d.serve(&cfg)
		cfg.Spent = func(context.Context, time.Time) (domain.Amount, error) { return 0, nil }
		a, ask, end := launch(sys, cfg)
		sys.Root.Send(ask, want("a"))
		synctest.Wait()
		answered := time.Now()
		sys.Root.Send(a.trunks, trunk.Result{CallID: "a", Key: a.granted()["a"], TrunkID: "one", Answered: true})
		time.Sleep(5*time.Minute + 11*time.Second)
		end()
		time.Sleep(time.Second)

		a, ask, end = launch(sys, cfg)
		synctest.Wait()
		sys.Root.Send(a.trunks, trunk.Resume{CallID: "a", TrunkID: "one", To: "+12025550100", Answered: answered})
		for n := range 6 { // six minutes of ten are paid: four are left
			sys.Root.Send(ask, want(strconv.Itoa(n)))
		}
		synctest.Wait()
		assert.Len(t, a.granted(), 4)
		end()
	})
}
