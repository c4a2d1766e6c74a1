package trunk_test

import (
	"context"
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

// workspaceWithCap returns the configuration of a workspace with a daily_spend_cap of 1.00. spent returns the sum of
// the workspace's billing ledger.
func workspaceWithCap(spent func(context.Context, time.Time) (domain.Amount, error)) trunk.Config {
	w := &domain.Workspace{DefaultCountry: "US", Calling: domain.DestinationRules{DailySpendCap: &domain.Money{Amount: "1.00"}}}
	return trunk.Config{Workspace: func() *domain.Workspace { return w }, ReadLedgerSpend: spent}
}

// assertCapLeaves checks that an SMS message with the price micros fits under the spend cap, and a higher price does
// not.
func assertCapLeaves(t *testing.T, sys *actor.ActorSystem, trunks *actor.PID, micros domain.Amount, why string) {
	t.Helper()
	fits := func(micros domain.Amount) bool {
		ask := trunk.CheckDestination{To: "+12025550100", Environment: domain.Live, Message: "probe", Micros: micros}
		got, err := mailbox.Ask[trunk.DestinationChecked](t.Context(), sys, trunks, ask)
		require.NoError(t, err)
		sys.Root.Send(trunks, trunk.SettleSMS{Message: "probe"})
		if got.Err != nil {
			assert.Equal(t, domain.CodeSpendCap, got.Err.Code, why)
		}
		return got.Err == nil
	}
	assert.True(t, fits(micros), why)
	assert.False(t, fits(micros+1), why)
}

func TestSMSPriceCountsOnceHoweverItIsSettled(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a, _, end := startTrunksWith(sys, workspaceWithCap(func(context.Context, time.Time) (domain.Amount, error) { return 0, nil }))
		tell := func(m any) { sys.Root.Send(a.trunks, m) }
		stored, found := trunk.SettleSMS{Message: "a", Micros: 100_000}, trunk.SettleSMS{Message: "a", Micros: 100_000, AlreadyStored: true}
		tell(found)
		assertCapLeaves(t, sys, a.trunks, 1_000_000, "without a reservation only the storing process counts the price")
		tell(trunk.ReserveSMS{Message: "a", Micros: 100_000})
		tell(trunk.ReserveSMS{Message: "a", Micros: 100_000})
		assertCapLeaves(t, sys, a.trunks, 900_000, "the price is reserved once")
		for range 2 {
			tell(found)
			assertCapLeaves(t, sys, a.trunks, 900_000, "found")
		}
		tell(stored)
		assertCapLeaves(t, sys, a.trunks, 900_000, "found before it was settled")
		tell(trunk.ReserveSMS{Message: "b", Micros: 100_000})
		tell(trunk.SettleSMS{Message: "b", Micros: 100_000})
		tell(trunk.SettleSMS{Message: "b", Micros: 100_000, AlreadyStored: true})
		assertCapLeaves(t, sys, a.trunks, 800_000, "settled before it was found")
		tell(trunk.ReserveSMS{Message: "c", Micros: 100_000})
		tell(trunk.SettleSMS{Message: "c", AlreadyStored: true})
		assertCapLeaves(t, sys, a.trunks, 800_000, "it failed")
		end()
	})
}

func TestSMSSentDuringTheLedgerReadCountsOnce(t *testing.T) {
	for name, first := range map[string]domain.Amount{"the ledger knows it": 300_000, "it does not yet": 200_000} {
		t.Run(name, func(t *testing.T) {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				reads := make(chan domain.Amount)
				a, _, end := startTrunksWith(sys, workspaceWithCap(func(context.Context, time.Time) (domain.Amount, error) { return <-reads, nil }))
				sys.Root.Send(a.trunks, trunk.ReserveSMS{Message: "a", Micros: 100_000})
				sys.Root.Send(a.trunks, trunk.SettleSMS{Message: "a", Micros: 100_000})
				synctest.Wait()
				reads <- first
				reads <- 300_000
				synctest.Wait()
				assertCapLeaves(t, sys, a.trunks, 700_000, "spent before, and the message")
				sys.Root.Send(a.trunks, trunk.SettleSMS{Message: "b", Micros: 100_000})
				assertCapLeaves(t, sys, a.trunks, 600_000, "later messages are settled at once")
				end()
			})
		})
	}
}
