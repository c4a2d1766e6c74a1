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

// routed restarts the process with the actor of the trunks instead of answers of
// the test's own.
func (w *world) routed(cfg trunk.Config) {
	w.Helper()
	cfg.Log = slog.New(slog.DiscardHandler)
	w.kill()
	w.route = func() actor.Actor { return trunk.New(cfg) }
	w.begin()
}

func carrier(change func(*domain.Trunk)) domain.Trunk {
	t := domain.Trunk{
		CallerIDs: []string{"+12025550100"},
		Meta:      domain.Meta{ID: "trunk_1", Environment: domain.Live}, Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}},
	}
	change(&t)
	return t
}

// waitingReasons are the reasons that the status shows within two seconds: between
// two refusals of a slot the pace may be one of them.
func (w *world) waitingReasons() map[string]bool {
	w.Helper()
	reasons := make(map[string]bool)
	for range 20 {
		if o := w.must(campaign.GetStatus{}); o.Waiting != nil {
			reasons[o.Waiting.Reason] = true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return reasons
}

func TestCampaignWaitsWhileItsTrunkRewritesNumbersWrongly(t *testing.T) {
	t.Parallel()
	in(t, 3, nil, func(w *world) {
		w.routed(trunk.Config{Trunks: []domain.Trunk{carrier(func(t *domain.Trunk) { t.NumberAdd = "+44" })}})
		w.must(campaign.Start{})
		time.Sleep(10 * time.Second)
		assert.Contains(w, w.waitingReasons(), "trunk")
		o := w.must(campaign.GetStatus{})
		assert.Equal(w, []any{domain.CampaignRunning, 0, 3}, []any{o.Status, o.Skipped.Invalid, o.Progress.Remaining})

		w.sys.Root.Send(w.alive.trunks, trunk.SetTrunks{Trunks: []domain.Trunk{carrier(func(*domain.Trunk) {})}})
		o = w.until(time.Minute, domain.CampaignCompleted)
		assert.Equal(w, []any{0, 3}, []any{o.Skipped.Invalid, o.Progress.Attempted})
	})
}

func TestCampaignWaitsForTheSpendCap(t *testing.T) {
	t.Parallel()
	in(t, 3, nil, func(w *world) {
		ws := &domain.Workspace{DefaultCountry: "US", Calling: domain.DestinationRules{DailySpendCap: &domain.Money{Amount: "1.00"}}}
		w.routed(trunk.Config{
			Workspace: func() *domain.Workspace { return ws },
			Trunks:    []domain.Trunk{carrier(func(t *domain.Trunk) { t.Costs = []domain.Rate{{Prefix: "+1", Cost: "2.00"}} })},
		})
		w.must(campaign.Start{})
		time.Sleep(10 * time.Second)
		o := w.must(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "spend_cap", o.Waiting.Reason)
		require.NotNil(w, o.Waiting.Until)
		assert.WithinDuration(w, time.Now().Add(50*time.Second), *o.Waiting.Until, 2*time.Second, "the cap is looked at once a minute")
		assert.Empty(w, w.calls())

		w.sys.Root.Send(w.alive.trunks, trunk.SetTrunks{})
		time.Sleep(time.Minute)
		reasons := w.waitingReasons()
		assert.Contains(w, reasons, "trunk")
		assert.NotContains(w, reasons, "spend_cap", "the last refusal counts")
	})
}
