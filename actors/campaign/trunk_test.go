package campaign_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
)

// useTrunkActor restarts the simulated process with the real trunk actor instead of prepared replies.
func (w *fixture) useTrunkActor(cfg trunk.Config) {
	w.Helper()
	cfg.Log = slog.New(slog.DiscardHandler)
	w.killProcess()
	w.trunkActor = func() actor.Actor { return trunk.New(cfg) }
	w.startProcess()
}

func testTrunk(change func(*domain.Trunk)) domain.Trunk {
	t := domain.Trunk{
		CallerIDs: []string{"+12025550100"},
		Meta:      domain.Meta{ID: "trunk_1", Environment: domain.Live}, Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}},
	}
	change(&t)
	return t
}

// waitingReasons returns all waiting reasons that the status shows within two seconds. Several are possible: between two
// slot denials the campaign waits for its pacing.
func (w *fixture) waitingReasons() map[string]bool {
	w.Helper()
	reasons := make(map[string]bool)
	for range 20 {
		if o := w.mustRequest(campaign.GetStatus{}); o.Waiting != nil {
			reasons[o.Waiting.Reason] = true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return reasons
}

func TestCampaignWaitsWhileItsTrunkRewritesNumbersWrongly(t *testing.T) {
	t.Parallel()
	withCampaign(t, 3, nil, func(w *fixture) {
		w.useTrunkActor(trunk.Config{Trunks: []domain.Trunk{testTrunk(func(t *domain.Trunk) { t.NumberAdd = "+44" })}})
		w.mustRequest(campaign.Start{})
		time.Sleep(10 * time.Second)
		assert.Contains(w, w.waitingReasons(), "trunk")
		o := w.mustRequest(campaign.GetStatus{})
		assert.Equal(w, []any{domain.CampaignRunning, 0, 3}, []any{o.Status, o.Skipped.Invalid, o.Progress.Remaining})

		w.sys.Root.Send(w.process.trunks, trunk.SetTrunks{Trunks: []domain.Trunk{testTrunk(func(*domain.Trunk) {})}})
		o = w.waitForStatus(time.Minute, domain.CampaignCompleted)
		assert.Equal(w, []any{0, 3}, []any{o.Skipped.Invalid, o.Progress.Attempted})
	})
}

func TestCampaignWaitsForTheSpendCap(t *testing.T) {
	t.Parallel()
	withCampaign(t, 3, nil, func(w *fixture) {
		ws := &domain.Workspace{DefaultCountry: "US", Calling: domain.DestinationRules{DailySpendCap: &domain.Money{Amount: "1.00"}}}
		w.useTrunkActor(trunk.Config{
			Workspace: func() *domain.Workspace { return ws },
			Trunks:    []domain.Trunk{testTrunk(func(t *domain.Trunk) { t.Costs = []domain.Rate{{Prefix: "+1", Cost: "2.00"}} })},
		})
		w.mustRequest(campaign.Start{})
		time.Sleep(10 * time.Second)
		o := w.mustRequest(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "spend_cap", o.Waiting.Reason)
		require.NotNil(w, o.Waiting.Until)
		assert.WithinDuration(w, time.Now().Add(50*time.Second), *o.Waiting.Until, 2*time.Second, "the cap is looked at once a minute")
		assert.Empty(w, w.callTimes())

		w.sys.Root.Send(w.process.trunks, trunk.SetTrunks{})
		time.Sleep(time.Minute)
		reasons := w.waitingReasons()
		assert.Contains(w, reasons, "trunk")
		assert.NotContains(w, reasons, "spend_cap", "the last refusal counts")
	})
}
