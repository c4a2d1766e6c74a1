package trunk_test

import (
	"context"
	"errors"
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
	"github.com/callboard/callboard/sip/outcome"
)

// memoryStates stores the states of trunks in memory.
type memoryStates struct {
	mu       sync.Mutex
	states   map[string]domain.TrunkState
	spent    domain.Spending
	commits  int
	failures int // number of the next commits that fail
}

func (d *memoryStates) attachTo(cfg *trunk.Config) {
	cfg.SaveStates = func(_ context.Context, states []domain.TrunkState, gone []string, s *domain.Spending) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.failures > 0 {
			d.failures--
			return errors.New("the store is away")
		}
		d.commits++
		for _, one := range states {
			d.states[one.TrunkID] = one
		}
		for _, id := range gone {
			delete(d.states, id)
		}
		if s != nil {
			d.spent = *s
		}
		return nil
	}
	cfg.LoadStates = func(context.Context) ([]domain.TrunkState, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		var out []domain.TrunkState
		for _, one := range d.states {
			out = append(out, one)
		}
		return out, nil
	}
	cfg.LoadSpending = func(context.Context) (domain.Spending, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.spent, nil
	}
}

func (d *memoryStates) commitCount() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.commits
}

func TestRestartRestoresTrunkStates(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		d := &memoryStates{states: map[string]domain.TrunkState{"long gone": {TrunkID: "long gone"}}, failures: 1}
		alarms := 0
		cfg := trunk.Config{
			Trunks: []domain.Trunk{newTrunk("one", func(t *domain.Trunk) {
				addSecondProxy(t)
				t.Alarms = domain.TrunkAlarms{MaxShortCallShare: 0.5, MinCalls: 3}
			})},
			SendAlarm: func(context.Context, trunk.Alarm) { alarms++ },
		}
		d.attachTo(&cfg)
		a, ask, end := startTrunksWith(sys, cfg)
		sys.Root.Send(ask, slotRequest("a"))
		synctest.Wait()
		key := a.answers[0].(trunk.Slot).Key
		for range 500 {
			sys.Root.Send(a.trunks, trunk.LegResult{TrunkID: "one", Answered: true})
			sys.Root.Send(a.trunks, trunk.CallEnded{TrunkID: "one", Talked: time.Second})
		}
		for range 3 {
			sys.Root.Send(a.trunks, trunk.LegResult{
				CallID: "a", Key: key, TrunkID: "one", Final: outcome.Final{NoResponse: true}, Verdict: domain.Verdict{Reason: domain.ReasonTrunkError},
			})
		}
		sys.Root.Send(a.trunks, trunk.InboundCallArrived{TrunkID: "one"})
		sys.Root.Send(a.trunks, trunk.InboundCallArrived{TrunkID: "one", Refusal: "unknown_number"})
		time.Sleep(25 * time.Second)
		synctest.Wait()
		before := stateOf(t, sys, a.trunks)
		assert.Equal(t, 1, d.commitCount(), "one commit for all of it, once the store is back")
		end()
		time.Sleep(time.Second)

		a, ask, end = startTrunksWith(sys, cfg)
		after := stateOf(t, sys, a.trunks)
		assert.Equal(t, before.Quality, after.Quality)
		assert.Equal(t, before.Health.Targets, after.Health.Targets)
		assert.Equal(t, "out", after.Health.Targets[0].Status)
		sys.Root.Send(ask, slotRequest("b"))
		assert.Equal(t, "192.0.2.2", lastAnswer(t, a), "the target is still out")
		sys.Root.Send(a.trunks, trunk.LegResult{TrunkID: "one", Answered: true})
		sys.Root.Send(a.trunks, trunk.CallEnded{TrunkID: "one", Talked: time.Second})
		_, err := mailbox.Ask[trunk.StatesFlushed](t.Context(), sys, a.trunks, trunk.FlushStates{})
		require.NoError(t, err)
		assert.Equal(t, 1, alarms, "an active alarm is not sent again")
		d.mu.Lock()
		assert.Len(t, d.states, 1, "states of deleted trunks are removed")
		d.mu.Unlock()
		sys.Root.Send(a.trunks, trunk.SetTrunks{})
		time.Sleep(11 * time.Second)
		_, err = mailbox.Ask[trunk.StatesFlushed](t.Context(), sys, a.trunks, trunk.FlushStates{})
		require.NoError(t, err)
		d.mu.Lock()
		assert.Empty(t, d.states)
		d.mu.Unlock()
		end()
		time.Sleep(2 * time.Hour)

		a, _, end = startTrunksWith(sys, cfg)
		assert.Zero(t, stateOf(t, sys, a.trunks).Quality.Attempts)
		end()
	})
}

func TestRestartRestoresTodaysSpending(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		w := &domain.Workspace{DefaultCountry: "US", Calling: domain.DestinationRules{DailySpendCap: &domain.Money{Amount: "1.00"}}}
		d, ledger := &memoryStates{states: map[string]domain.TrunkState{}}, domain.Amount(0)
		cfg := trunk.Config{
			Trunks:          []domain.Trunk{newTrunk("one", func(t *domain.Trunk) { t.Costs = []domain.Rate{{Prefix: "+1", Cost: "0.10"}} })},
			Workspace:       func() *domain.Workspace { return w },
			ReadLedgerSpend: func(context.Context, time.Time) (domain.Amount, error) { return ledger, nil },
		}
		d.attachTo(&cfg)
		a, ask, end := startTrunksWith(sys, cfg)
		for _, id := range []string{"whole", "whole/1", "cut"} {
			sys.Root.Send(ask, slotRequest(id))
			synctest.Wait()
			slot := a.answers[len(a.answers)-1].(trunk.Slot)
			sys.Root.Send(a.trunks, trunk.LegResult{CallID: id, Key: slot.Key, TrunkID: "one", Answered: true, TransferLeg: id == "whole/1"})
			time.Sleep(time.Second)
		}
		time.Sleep(2 * time.Minute)
		sys.Root.Send(a.trunks, trunk.CallEnded{CallID: "whole", TrunkID: "one", Talked: 2 * time.Minute})
		sys.Root.Send(a.trunks, trunk.CallEnded{CallID: "whole/1", TrunkID: "one", Talked: 3 * time.Minute, TransferLeg: true})
		ledger = 200_000 // the row of the whole call
		time.Sleep(2*time.Minute + 15*time.Second)
		end() // the interrupted call has lasted four minutes
		time.Sleep(time.Second)

		for range 2 { // nothing counts twice after another restart
			a, ask, end = startTrunksWith(sys, cfg)
			_, err := mailbox.Ask[trunk.StatesFlushed](t.Context(), sys, a.trunks, trunk.FlushStates{})
			require.NoError(t, err)
			d.mu.Lock()
			assert.InDelta(t, 300_000+400_000, int64(d.spent.Micros), 40_000)
			d.mu.Unlock()
			w.Calling.DailySpendCap.Amount = "0.85"
			sys.Root.Send(ask, slotRequest("more"))
			assert.Equal(t, "spend_cap_reached", lastAnswer(t, a))
			w.Calling.DailySpendCap.Amount = "1.10"
			sys.Root.Send(ask, slotRequest("more"))
			assert.Equal(t, "192.0.2.1", lastAnswer(t, a))
			end()
			time.Sleep(time.Second)
		}
		ledger = 0
		time.Sleep(24 * time.Hour)
		a, ask, end = startTrunksWith(sys, cfg)
		w.Calling.DailySpendCap.Amount = "0.10"
		sys.Root.Send(ask, slotRequest("tomorrow"))
		assert.Equal(t, "192.0.2.1", lastAnswer(t, a))
		end()
	})
}

func TestSpendingIsUnknownUntilTheLedgerIsRead(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		reads := 0
		a, _, end := startTrunksWith(sys, trunk.Config{ReadLedgerSpend: func(context.Context, time.Time) (domain.Amount, error) {
			if reads++; reads == 1 {
				return 0, errors.New("the store is away")
			}
			return 700, nil
		}})
		time.Sleep(time.Second)
		now, err := mailbox.Ask[trunk.Health](t.Context(), sys, a.trunks, trunk.GetHealth{})
		require.NoError(t, err)
		assert.False(t, now.SpentKnown)
		time.Sleep(10 * time.Second)
		now, err = mailbox.Ask[trunk.Health](t.Context(), sys, a.trunks, trunk.GetHealth{})
		require.NoError(t, err)
		assert.Equal(t, []any{domain.Amount(700), true}, []any{now.Spent, now.SpentKnown})
		end()
	})
}
