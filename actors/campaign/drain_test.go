package campaign_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/domain"
)

func TestACampaignThatGrowsAfterTheDrainOpensNothing(t *testing.T) {
	t.Parallel()
	in(t, 10, nil, func(w *world) {
		w.draining.Store(true)
		w.must(campaign.Start{})
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Empty(w, w.calls())
		assert.Equal(w, domain.CampaignRunning, w.must(campaign.GetStatus{}).Status, "the next process goes on with it")
		w.kill()
		w.draining.Store(false)
		w.begin()
		w.complete(10)
	})
}
