package campaign_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/domain"
)

// With a time factor, one day of a test campaign passes in minutes, including its start, calling hours, retries and end.
// Calls keep their real duration.
func TestTimeFactorShortensDayOfTestCampaign(t *testing.T) {
	t.Parallel()
	const factor = 240 // a day in six minutes
	withCampaign(t, 40, func(c *domain.Campaign) {
		c.Environment = domain.Test
		c.Test = &domain.TestMode{TimeFactor: factor}
		start, end := time.Now().Add(4*time.Hour), time.Now().Add(48*time.Hour)
		c.Schedule.Start, c.Schedule.End = &start, &end
		c.Compliance.CallingHours = domain.CallingHours{Start: "06:00", End: "08:00", Timezone: "UTC"}
		c.Pacing = domain.Pacing{CallsPerMinute: 2, MaxConcurrent: 50}
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 20, RetryOn: []string{"busy"}}
	}, func(w *fixture) {
		w.callPlan = func(c domain.Call) callPlan {
			if c.Attempt == 1 && c.To == number(7) {
				return callPlan{verdict: busy, duration: time.Second, reached: true}
			}
			return callPlan{verdict: done, duration: 5 * time.Second, reached: true}
		}
		begun := time.Now() // midnight
		o := w.mustRequest(campaign.Start{})
		assert.Equal(w, domain.CampaignScheduled, o.Status)
		o = w.waitForStatus(2*time.Minute, domain.CampaignRunning)
		assert.WithinDuration(w, begun.Add(time.Minute), time.Now(), time.Second, "four hours in a minute")
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "calling_hours", o.Waiting.Reason)
		assert.WithinDuration(w, begun.Add(90*time.Second), *o.Waiting.Until, time.Second, "reported in real time")
		time.Sleep(time.Minute)
		sent := w.callTimes()
		require.Len(w, sent, 40)
		assert.WithinDuration(w, begun.Add(90*time.Second), sent[0], time.Second, "at six by its clock")
		for i := 1; i < len(sent); i++ {
			assert.GreaterOrEqual(w, sent[i].Sub(sent[i-1]), 30*time.Second/factor, "its pace")
		}
		w.killProcess()
		w.startProcess()
		w.waitForStatus(12*time.Minute, domain.CampaignCompleted)
		sent = w.callTimes()
		require.Len(w, sent, 41)
		assert.WithinDuration(w, begun.Add(90*time.Second+6*time.Minute), sent[40], 2*time.Second, "at six of the next day: twenty hours after the first it is closed")
		assert.Empty(w, w.store.kinds["ledger"], "nothing is billed")
	})
}

func TestTimeFactorShortensScheduleOfTestCampaign(t *testing.T) {
	t.Parallel()
	withCampaign(t, 1000, func(c *domain.Campaign) {
		c.Environment, c.Test = domain.Test, &domain.TestMode{TimeFactor: 60}
		end := time.Now().Add(time.Hour)
		c.Schedule.End = &end
		c.Pacing = domain.Pacing{CallsPerMinute: 1, MaxConcurrent: 50}
	}, func(w *fixture) {
		begun := time.Now()
		w.mustRequest(campaign.Start{})
		o := w.waitForStatus(3*time.Minute, domain.CampaignCompleted)
		assert.Equal(w, "window_ended", o.CompletionReason)
		assert.WithinDuration(w, begun.Add(time.Minute), time.Now(), 10*time.Second)
		assert.InDelta(w, 60, len(w.callTimes()), 2)
		assert.Equal(w, 1000, o.Expired+o.Outcomes[domain.OutcomeCompleted])
	})
}
