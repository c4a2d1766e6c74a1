package campaign_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/domain"
)

// Whoever looks at the board sees what the actor would say.
func TestAStatusIsShownUntilSomethingHappens(t *testing.T) {
	var board *domain.CampaignStatusObject
	in(t, 40, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *world) {
		w.show = func(s *domain.CampaignStatusObject) { w.change(func() { board = s }) }
		w.kill()
		w.begin()
		w.must(campaign.Begin{})
		held, taken := 0, 0
		for range 3000 {
			var up *domain.CampaignStatusObject
			w.change(func() { up = board })
			now := w.must(campaign.Status{})
			if up == nil {
				taken++
			} else {
				held++
				// These two go with the time alone, which is why a board is young.
				shown := *up
				shown.Waiting, now.Waiting = nil, nil
				shown.Timing.EstimatedCompletion, now.Timing.EstimatedCompletion = nil, nil
				assert.Equal(w, now, shown)
			}
			time.Sleep(20 * time.Millisecond)
			synctest.Wait()
		}
		assert.Equal(w, domain.CampaignCompleted, w.must(campaign.Status{}).Status)
		assert.Greater(w, held, 100)
		assert.Greater(w, taken, 40)
	})
}
