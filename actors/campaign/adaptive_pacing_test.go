package campaign_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/domain"
)

func TestAdaptiveCampaignSlowsDownWhileTrunkFails(t *testing.T) {
	t.Parallel()
	withCampaign(t, 900, func(c *domain.Campaign) {
		c.Pacing = domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 50, Mode: domain.PacingAdaptive}
	}, func(w *fixture) {
		n := 0
		w.changeRemoteSide(func() {
			w.callPlan = func(domain.Call) callPlan {
				if n++; n%3 == 0 && n < 600 {
					return callPlan{verdict: trunkFailed, duration: time.Second, reached: true}
				}
				return callPlan{verdict: done, duration: 5 * time.Second, reached: true}
			}
		})
		start := time.Now()
		w.mustRequest(campaign.Start{})
		time.Sleep(time.Minute)
		first := len(w.callTimes())
		time.Sleep(9 * time.Minute)
		assert.Greater(w, first, 45, "it begins at its pace")
		assert.Less(w, len(w.callTimes()), 350, "a third fails: it goes slower")
		w.waitForStatus(4*time.Hour, domain.CampaignCompleted)
		sent := w.callTimes()
		assert.Len(w, sent, 900)
		for i := 60; i < len(sent); i++ {
			require.Greater(w, sent[i].Sub(sent[i-60]), time.Minute, "never faster than it may")
		}
		last := sent[len(sent)-1].Sub(sent[len(sent)-60])
		assert.Less(w, last, 90*time.Second, "all is well again")
		w.Logf("900 calls in %s", time.Since(start))
	})
}
