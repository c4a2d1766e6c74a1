package campaign_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/domain"
)

func TestCampaignStartedDuringDrainMakesNoCalls(t *testing.T) {
	t.Parallel()
	withCampaign(t, 10, nil, func(w *fixture) {
		w.draining.Store(true)
		w.mustRequest(campaign.Start{})
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Empty(w, w.callTimes())
		assert.Equal(w, domain.CampaignRunning, w.mustRequest(campaign.GetStatus{}).Status, "the next process goes on with it")
		w.killProcess()
		w.draining.Store(false)
		w.startProcess()
		w.runToEnd(10)
	})
}
