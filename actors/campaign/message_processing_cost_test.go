package campaign_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
)

// The test measures the cost of a message by the number of attempts that the actor examines. This number must not grow with
// the number of pending attempts.
func TestMessageCostIsIndependentOfPendingAttempts(t *testing.T) {
	t.Parallel()
	for _, wide := range []int{20, 500} {
		withCampaign(t, 600, func(c *domain.Campaign) {
			c.Pacing = domain.Pacing{CallsPerMinute: 6_000_000, MaxConcurrent: wide}
		}, func(w *fixture) {
			slots := make(chan struct{})
			w.noSlot = func() (trunk.SlotDenied, bool) { <-slots; return trunk.SlotDenied{}, false }
			defer func() {
				select {
				case <-slots:
				default:
					close(slots)
				}
			}()
			w.mustRequest(campaign.Start{})
			time.Sleep(time.Second)
			for range 100 {
				w.mustRequest(campaign.GetStatus{})
			}
			synctest.Wait()
			assert.Zero(w, w.process.campaign.DueChecks(), "nothing is due")
			time.Sleep(9500 * time.Millisecond)
			synctest.Wait()
			assert.Greater(w, w.process.campaign.DueChecks(), wide*9/10, "their permits are over")
			close(slots)
			w.waitForStatus(10*time.Minute, domain.CampaignCompleted)
			w.checkOneCallPerAttempt()
			for i := range 600 {
				assert.Equal(w, 1, w.callCount(number(i)))
			}
		})
	}
}
