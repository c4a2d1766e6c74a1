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

// What a message costs is what is looked through for it.
func TestAMessageCostsTheSameHoweverManyAttemptsAreOnTheirWay(t *testing.T) {
	t.Parallel()
	for _, wide := range []int{20, 500} {
		in(t, 600, func(c *domain.Campaign) {
			c.Pacing = domain.Pacing{CallsPerMinute: 6_000_000, MaxConcurrent: wide}
		}, func(w *world) {
			slots := make(chan struct{})
			w.noSlot = func() (trunk.SlotDenied, bool) { <-slots; return trunk.SlotDenied{}, false }
			defer func() {
				select {
				case <-slots:
				default:
					close(slots)
				}
			}()
			w.must(campaign.Start{})
			time.Sleep(time.Second)
			for range 100 {
				w.must(campaign.GetStatus{})
			}
			synctest.Wait()
			assert.Zero(w, w.alive.made.Looks(), "nothing is due")
			time.Sleep(9500 * time.Millisecond)
			synctest.Wait()
			assert.Greater(w, w.alive.made.Looks(), wide*9/10, "their permits are over")
			close(slots)
			w.until(10*time.Minute, domain.CampaignCompleted)
			w.onceEach()
			for i := range 600 {
				assert.Equal(w, 1, w.rings(number(i)))
			}
		})
	}
}
