package campaign_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

func TestCampaignCallsEveryContactOnce(t *testing.T) {
	t.Parallel()
	withCampaign(t, 600, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 3000, MaxConcurrent: 50} }, func(w *fixture) {
		o := w.mustRequest(campaign.Start{})
		assert.Equal(w, domain.CampaignRunning, o.Status)
		assert.NotNil(w, o.Timing.EstimatedCompletion)
		o = w.waitForStatus(10*time.Minute, domain.CampaignCompleted)
		assert.Equal(w, "exhausted", o.CompletionReason)
		assert.Equal(w, 600, o.Outcomes[domain.OutcomeCompleted])
		assert.Equal(w, 600, o.Progress.Attempted)
		assert.Len(w, w.started, 600)
		assert.Len(w, w.callsByNumber, 600)
		assert.Zero(w, w.repeatedEnds, "each end is acknowledged at once")
		w.checkOneCallPerAttempt()
		assert.LessOrEqual(w, w.maxLive, 50)
		got := types(w.store.events)
		assert.Equal(w, 600, got[event.CallStarted])
		assert.Equal(w, 600, got[event.CallEnded])
		assert.Equal(w, 600, got[event.CampaignCallCompleted])
		assert.Equal(w, 1, got[event.CampaignStarted])
		assert.Equal(w, 1, got[event.CampaignCompleted])
		assert.GreaterOrEqual(w, got[event.CampaignProgress], 20)
		marks := w.store.progressMarks()
		assert.Len(w, marks, 20, "one at each five per cent, the last one at the end")
		last := marks[len(marks)-1]
		assert.Equal(w, []int{100, 600, 600, 600, 600}, []int{last.Percent, last.Total, last.Attempted, last.Finished, last.Outcomes[domain.OutcomeCompleted]})
		for i := 1; i < len(marks); i++ {
			assert.Greater(w, marks[i].Finished, marks[i-1].Finished)
			assert.False(w, marks[i].At.Before(marks[i-1].At))
		}
	})
}

func TestCampaignKeepsPaceAndConcurrencyLimit(t *testing.T) {
	t.Parallel()
	withCampaign(t, 60, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 3} }, func(w *fixture) {
		w.store.latency = 7 * time.Millisecond
		w.mustRequest(campaign.Start{})
		w.waitForStatus(10*time.Minute, domain.CampaignCompleted)
		sent := w.callTimes()
		require.Len(w, sent, 60)
		for i := 1; i < len(sent); i++ {
			require.GreaterOrEqual(w, sent[i].Sub(sent[i-1]), time.Second)
		}
		assert.Equal(w, 3, w.maxLive)
	})
}

func TestStalledCommitCausesNoBurst(t *testing.T) {
	t.Parallel()
	withCampaign(t, 250, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 6000, MaxConcurrent: 400} }, func(w *fixture) {
		w.store.latency = 5 * time.Millisecond
		w.mustRequest(campaign.Start{})
		time.Sleep(time.Second)
		w.store.withLock(func(m *memoryStore) { m.latency = 900 * time.Millisecond })
		time.Sleep(3 * time.Second)
		w.store.withLock(func(m *memoryStore) { m.latency = 5 * time.Millisecond })
		w.waitForStatus(10*time.Minute, domain.CampaignCompleted)
		sent := w.callTimes()
		for i := 1; i < len(sent); i++ {
			require.GreaterOrEqual(w, sent[i].Sub(sent[i-1]), 10*time.Millisecond)
		}
	})
}

func TestCampaignStartsThreeHundredAttemptsPerSecond(t *testing.T) {
	t.Parallel()
	withCampaign(t, 900, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 24000, MaxConcurrent: 600} }, func(w *fixture) {
		w.store.latency = 8 * time.Millisecond
		w.callPlan = func(domain.Call) callPlan { return callPlan{verdict: busy, duration: time.Second, reached: true} }
		w.mustRequest(campaign.Start{})
		w.waitForStatus(time.Minute, domain.CampaignCompleted)
		sent := w.callTimes()
		took := sent[len(sent)-1].Sub(sent[0])
		w.Logf("900 attempts in %s", took)
		assert.Less(w, took, 3*time.Second)
	})
}

func TestRetriesStartExactlyWhenDue(t *testing.T) {
	t.Parallel()
	withCampaign(t, 3, func(c *domain.Campaign) {
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 1.5, RetryOn: []string{"no_answer"}}
	}, func(w *fixture) {
		w.callPlan = func(c domain.Call) callPlan {
			switch {
			case c.To == number(1):
				return callPlan{verdict: busy, duration: time.Second, reached: true}
			case c.To == number(2) && c.Attempt == 2:
				return callPlan{verdict: done, duration: time.Second, reached: true}
			}
			return callPlan{verdict: noAnswer, duration: 30 * time.Second, reached: true}
		}
		w.mustRequest(campaign.Start{})
		time.Sleep(time.Minute)
		o := w.mustRequest(campaign.GetStatus{})
		assert.Equal(w, 2, o.Progress.Remaining)
		assert.Equal(w, 3, o.Progress.Attempted)
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "retry", o.Waiting.Reason)
		require.NotNil(w, o.Waiting.Until)
		o = w.waitForStatus(10*time.Hour, domain.CampaignCompleted)
		assert.Equal(w, 1, o.Outcomes[domain.OutcomeNoAnswer])
		assert.Equal(w, 1, o.Outcomes[domain.OutcomeBusy])
		assert.Equal(w, 1, o.Outcomes[domain.OutcomeCompleted])
		first, second := w.started[domain.AttemptID(campaignID, 0, 1)][0], w.started[domain.AttemptID(campaignID, 0, 2)][0]
		third := w.started[domain.AttemptID(campaignID, 0, 3)][0]
		assert.Equal(w, 90*time.Minute+30*time.Second, second.Sub(first))
		assert.Equal(w, 90*time.Minute+30*time.Second, third.Sub(second))
		assert.NotContains(w, w.started, domain.AttemptID(campaignID, 0, 4))
		assert.NotContains(w, w.started, domain.AttemptID(campaignID, 1, 2))
		assert.Len(w, w.store.eventsOf(event.CampaignCallCompleted), 6)
	})
}

func TestThrottledAndUnsentAttemptsAreUncountedAndRepeated(t *testing.T) {
	t.Parallel()
	withCampaign(t, 4, nil, func(w *fixture) {
		n := 0
		w.callPlan = func(domain.Call) callPlan {
			n++
			switch {
			case n <= 3:
				return callPlan{verdict: throttled, duration: 100 * time.Millisecond, reached: true}
			case n <= 6:
				return callPlan{verdict: notSent, duration: 100 * time.Millisecond}
			}
			return callPlan{verdict: done, duration: time.Second, reached: true}
		}
		w.mustRequest(campaign.Start{})
		o := w.waitForStatus(time.Hour, domain.CampaignCompleted)
		assert.Equal(w, 4, o.Outcomes[domain.OutcomeCompleted])
		assert.Len(w, w.callTimes(), 10)
		assert.Len(w, w.started, 4, "it is the same attempt each time")
		assert.Equal(w, 4, w.store.progress().Attempts)
		assert.Len(w, w.store.eventsOf(event.CallEnded), 10)
		assert.Len(w, w.store.eventsOf(event.CampaignCallCompleted), 4)
		bills := 0
		for k := range w.store.rows {
			if k.Kind == "ledger" {
				bills++
			}
		}
		assert.Equal(w, 4, bills)
	})
}

func TestCampaignWaitsForPermitsAndTrunkSlots(t *testing.T) {
	t.Parallel()
	withCampaign(t, 20, nil, func(w *fixture) {
		w.killProcess()
		w.limit = 1
		w.startProcess()
		var blocked atomic.Bool
		blocked.Store(true)
		w.noSlot = func() (trunk.SlotDenied, bool) {
			return trunk.SlotDenied{Reason: "throttled", Until: time.Now().Add(3 * time.Second)}, blocked.Load()
		}
		w.mustRequest(campaign.Start{})
		time.Sleep(time.Second)
		o := w.mustRequest(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "trunk", o.Waiting.Reason)
		require.NotNil(w, o.Waiting.Until)
		assert.Empty(w, w.callTimes())
		blocked.Store(false)
		time.Sleep(3 * time.Second)
		assert.NotEmpty(w, w.callTimes(), "the lines were given back")
		w.waitForStatus(time.Hour, domain.CampaignCompleted)
		w.checkOneCallPerAttempt()
	})
}

func TestContactsWaitUntilTheirZoneOpens(t *testing.T) {
	t.Parallel()
	// The fake clock starts at 2000-01-01 00:00 UTC. That is 19:00 in New York and 01:00 in Berlin.
	withCampaign(t, 600, func(c *domain.Campaign) {
		c.Compliance.CallingHours = domain.CallingHours{Start: "09:00", End: "20:00", Timezone: "local"}
		c.Pacing = domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 100}
	}, func(w *fixture) {
		w.storeContacts(600, func(i int) domain.Contact {
			switch {
			case i == 599:
				return domain.Contact{Phone: "+870773111111"} // of no country
			case i%2 == 0:
				return domain.Contact{Phone: "+12125550100"}
			}
			return domain.Contact{Phone: "+493012345678"}
		})
		start := time.Now()
		w.mustRequest(campaign.Start{})
		time.Sleep(time.Minute)
		assert.Len(w, w.callTimes(), 300, "New York is open")
		o := w.mustRequest(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "calling_hours", o.Waiting.Reason)
		assert.Equal(w, start.Add(8*time.Hour), o.Waiting.Until.Local())
		assert.Equal(w, domain.Skipped{Hours: 1}, o.Skipped)
		o = w.waitForStatus(10*time.Hour, domain.CampaignCompleted)
		sent := w.callTimes()
		assert.Len(w, sent, 599)
		assert.Equal(w, start.Add(8*time.Hour), sent[300])
		for i := 1; i < len(sent); i++ {
			require.GreaterOrEqual(w, sent[i].Sub(sent[i-1]), 100*time.Millisecond, "no burst at the edge of a window")
		}
		assert.Equal(w, 599, o.Outcomes[domain.OutcomeCompleted])
	})
}

func TestForbiddenContactsAreSkipped(t *testing.T) {
	t.Parallel()
	withCampaign(t, 5, nil, func(w *fixture) {
		w.killProcess()
		w.storeContacts(5, func(i int) domain.Contact {
			return domain.Contact{Phone: []string{"+12025550100", "911", "+493012345678", "+19005551234", "+12025550101"}[i]}
		})
		w.calling = func() domain.DestinationRules { return domain.DestinationRules{Countries: []string{"US"}} }
		w.check = func(c domain.Contact) (campaign.SkipReason, bool) { return campaign.SkipDNC, c.Phone != "+12025550101" }
		w.startProcess()
		w.mustRequest(campaign.Start{})
		o := w.waitForStatus(time.Hour, domain.CampaignCompleted)
		assert.Equal(w, domain.Skipped{DNC: 1, Invalid: 3}, o.Skipped)
		assert.Equal(w, map[string]int{"+12025550100": 1}, w.callsByNumber)
	})
}

// The carrier is down for an hour. No attempt may count, the campaign must not pause, and every contact must be called
// afterwards. If the carrier works but is silent for one number, that number's attempt counts.
func TestCallsWithoutTrunkTargetCostNoAttempt(t *testing.T) {
	t.Parallel()
	withCampaign(t, 5, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *fixture) {
		untaken := trunkFailed
		untaken.NoTarget, untaken.TrunkOut = true, true
		w.callPlan = func(domain.Call) callPlan {
			return callPlan{verdict: untaken, duration: 5 * time.Second, reached: true}
		}
		w.mustRequest(campaign.Start{})
		time.Sleep(time.Hour)
		o := w.mustRequest(campaign.GetStatus{})
		assert.Equal(w, domain.CampaignRunning, o.Status)
		assert.Zero(w, o.Outcomes[domain.OutcomeFailed])
		w.changeRemoteSide(func() {
			w.callPlan = func(c domain.Call) callPlan {
				one := untaken
				one.TrunkOut = false
				if c.To == number(2) {
					return callPlan{verdict: one, duration: 5 * time.Second, reached: true}
				}
				return callPlan{verdict: done, duration: 5 * time.Second, reached: true}
			}
		})
		o = w.waitForStatus(time.Hour, domain.CampaignCompleted)
		assert.Equal(w, []int{4, 1}, []int{o.Outcomes[domain.OutcomeCompleted], o.Outcomes[domain.OutcomeFailed]})
	})
}

func TestFailingTrunkPausesCampaign(t *testing.T) {
	t.Parallel()
	withCampaign(t, 100, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *fixture) {
		w.callPlan = func(domain.Call) callPlan {
			return callPlan{verdict: trunkFailed, duration: 5 * time.Second, reached: true}
		}
		w.mustRequest(campaign.Start{})
		o := w.waitForStatus(time.Minute, domain.CampaignPaused)
		assert.Equal(w, "trunk_failures", o.PauseReason)
		assert.LessOrEqual(w, len(w.callTimes()), 11)
		time.Sleep(time.Minute)
		w.changeRemoteSide(func() { w.callPlan = nil })
		o = w.mustRequest(campaign.Resume{})
		assert.Equal(w, domain.CampaignRunning, o.Status)
		assert.Empty(w, o.PauseReason)
		w.waitForStatus(time.Hour, domain.CampaignCompleted)
		assert.Equal(w, map[event.Type]int{event.CampaignPaused: 1, event.CampaignResumed: 1, event.CampaignStarted: 1},
			types(w.store.eventsOf(event.CampaignPaused, event.CampaignResumed, event.CampaignStarted)))
	})
}

func TestScheduleStartsAndEndsCampaign(t *testing.T) {
	t.Parallel()
	withCampaign(t, 1000, func(c *domain.Campaign) {
		start, end := time.Now().Add(time.Hour), time.Now().Add(time.Hour+time.Minute)
		c.Schedule.Start, c.Schedule.End = &start, &end
		c.Pacing.CallsPerMinute = 60
	}, func(w *fixture) {
		begun := time.Now()
		o := w.mustRequest(campaign.Start{})
		assert.Equal(w, domain.CampaignScheduled, o.Status)
		assert.Equal(w, "schedule", o.Waiting.Reason)
		assert.Equal(w, domain.CampaignPaused, w.mustRequest(campaign.Pause{}).Status)
		assert.Equal(w, domain.CampaignScheduled, w.mustRequest(campaign.Resume{}).Status)
		w.killProcess()
		w.startProcess()
		w.waitForStatus(2*time.Hour, domain.CampaignRunning)
		o = w.waitForStatus(2*time.Hour, domain.CampaignCompleted)
		assert.Equal(w, "window_ended", o.CompletionReason)
		sent := w.callTimes()
		assert.Equal(w, begun.Add(time.Hour), sent[0])
		assert.True(w, sent[len(sent)-1].Before(begun.Add(time.Hour+time.Minute)))
		assert.Equal(w, 1000-len(sent), o.Expired)
		assert.Equal(w, len(sent), o.Outcomes[domain.OutcomeCompleted])
		assert.Zero(w, o.Progress.Remaining)
	})
}

func TestPauseStopsNewCallsButNotLiveCalls(t *testing.T) {
	t.Parallel()
	withCampaign(t, 100, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *fixture) {
		w.mustRequest(campaign.Start{})
		time.Sleep(10500 * time.Millisecond)
		o := w.mustRequest(campaign.Pause{})
		assert.Equal(w, domain.CampaignPaused, o.Status)
		assert.Nil(w, o.Timing.EstimatedCompletion)
		n := len(w.callTimes())
		assert.Positive(w, o.Progress.InProgress)
		time.Sleep(time.Minute)
		o = w.mustRequest(campaign.Pause{})
		assert.Zero(w, o.Progress.InProgress)
		assert.Len(w, w.callTimes(), n)
		w.mustRequest(campaign.Resume{})
		w.waitForStatus(time.Hour, domain.CampaignCompleted)
		w.checkOneCallPerAttempt()
	})
}

func TestPausedCampaignCompletes(t *testing.T) {
	t.Parallel()
	withCampaign(t, 3, nil, func(w *fixture) { // its last calls end while it is paused
		w.callPlan = func(domain.Call) callPlan { return callPlan{verdict: done, duration: 20 * time.Second, reached: true} }
		w.mustRequest(campaign.Start{})
		time.Sleep(10 * time.Second)
		o := w.mustRequest(campaign.Pause{})
		require.Equal(w, []any{domain.CampaignPaused, 3}, []any{o.Status, o.Progress.InProgress})
		o = w.waitForStatus(time.Minute, domain.CampaignCompleted)
		assert.Equal(w, "exhausted", o.CompletionReason)
		assert.Equal(w, 3, o.Outcomes[domain.OutcomeCompleted])
	})
	var end time.Time
	withCampaign(t, 100, func(c *domain.Campaign) {
		c.Pacing.CallsPerMinute = 60
		end = time.Now().Add(time.Hour)
		c.Schedule.End = &end
	}, func(w *fixture) { // its schedule ends while it is paused
		w.mustRequest(campaign.Start{})
		time.Sleep(10500 * time.Millisecond)
		w.mustRequest(campaign.Pause{})
		rung := len(w.callTimes())
		time.Sleep(58 * time.Minute)
		assert.Equal(w, domain.CampaignPaused, w.mustRequest(campaign.GetStatus{}).Status)
		o := w.waitForStatus(10*time.Minute, domain.CampaignCompleted)
		assert.Equal(w, []any{"window_ended", 100 - rung}, []any{o.CompletionReason, o.Expired})
		assert.Len(w, w.store.eventsOf(event.CampaignCompleted), 1)
		assert.Len(w, w.callTimes(), rung)
	})
}

func TestCancelEndsCampaign(t *testing.T) {
	t.Parallel()
	for _, hangup := range []bool{false, true} {
		withCampaign(t, 100, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *fixture) {
			w.callPlan = func(domain.Call) callPlan { return callPlan{verdict: done, duration: 8 * time.Second, reached: true} }
			w.mustRequest(campaign.Start{})
			time.Sleep(10500 * time.Millisecond)
			o := w.mustRequest(campaign.Cancel{HangupActive: hangup})
			assert.Equal(w, domain.CampaignCancelled, o.Status)
			assert.Zero(w, o.Progress.Remaining)
			live := o.Progress.InProgress
			assert.Positive(w, live)
			time.Sleep(100 * time.Millisecond)
			o = w.mustRequest(campaign.GetStatus{})
			if hangup {
				assert.Zero(w, o.Progress.InProgress)
			} else {
				assert.Equal(w, live, o.Progress.InProgress)
			}
			time.Sleep(time.Minute)
			o = w.mustRequest(campaign.GetStatus{})
			assert.Equal(w, 100, o.Outcomes[domain.OutcomeCancelled]+o.Outcomes[domain.OutcomeCompleted])
			assert.Len(w, w.store.eventsOf(event.CampaignCancelled), 1)
			marks := w.store.progressMarks()
			last := marks[len(marks)-1]
			assert.Equal(w, []int{100, 100}, []int{last.Percent, last.Finished}, "the calls that went on are in the course")
			_, err := w.request(campaign.Resume{})
			var refused *domain.Error
			require.ErrorAs(w, err, &refused)
			assert.Equal(w, domain.CodeInvalidState, refused.Code)
			assert.Equal(w, domain.CampaignCancelled, refused.Extra["current_status"])
			assert.Equal(w, []domain.CampaignStatus{domain.CampaignPaused}, refused.Extra["allowed_from"])
		})
	}
}

func TestStartWithoutContactsIsRefusedUnlessAutoCompleteIsOff(t *testing.T) {
	t.Parallel()
	withCampaign(t, 0, nil, func(w *fixture) {
		_, err := w.request(campaign.Start{})
		assert.Equal(w, domain.CodeNoContacts, domain.CodeOf(err))
	})
	withCampaign(t, 0, func(c *domain.Campaign) { c.AutoComplete = false }, func(w *fixture) {
		o := w.mustRequest(campaign.Start{})
		assert.Equal(w, "no_contacts", o.Waiting.Reason)
		w.storeContacts(3, func(i int) domain.Contact { return domain.Contact{Phone: number(i)} })
		p := w.store.progress()
		p.Total = 3
		w.store.storeRecords(&p)
		w.send(campaign.ContactsAdded{})
		time.Sleep(time.Minute)
		assert.Equal(w, 3, w.mustRequest(campaign.GetStatus{}).Outcomes[domain.OutcomeCompleted])
		assert.Equal(w, domain.CampaignRunning, w.mustRequest(campaign.GetStatus{}).Status)
	})
}

func TestContactsAddedDuringLoadAreCalled(t *testing.T) {
	t.Parallel()
	withCampaign(t, 0, nil, func(w *fixture) {
		w.mustRequest(campaign.GetStatus{})
		w.store.slowLists.Store(true)
		w.send(campaign.ContactsAdded{}) // finds no contacts
		w.storeContacts(3, func(i int) domain.Contact { return domain.Contact{Phone: number(i)} })
		p := w.store.progress()
		p.Total = 3
		w.store.storeRecords(&p)
		w.send(campaign.ContactsAdded{})
		w.store.slowLists.Store(false)
		time.Sleep(time.Minute)
		w.mustRequest(campaign.Start{})
		w.waitForStatus(time.Hour, domain.CampaignCompleted)
	})
}

func TestStartWithDeletedScriptIsRefused(t *testing.T) {
	t.Parallel()
	withCampaign(t, 3, nil, func(w *fixture) {
		w.scriptErr = domain.Errorf(domain.CodeNotFound, "no such agent")
		_, err := w.request(campaign.Start{})
		assert.Equal(w, domain.CodeNotFound, domain.CodeOf(err))
		w.changeRemoteSide(func() { w.scriptErr = nil })
		w.mustRequest(campaign.Start{})
		w.waitForStatus(time.Hour, domain.CampaignCompleted)
	})
}

func TestDrainedCampaignStartsNoCallsAndCommitsEnds(t *testing.T) {
	t.Parallel()
	withCampaign(t, 100, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *fixture) {
		w.mustRequest(campaign.Start{})
		time.Sleep(10 * time.Second)
		w.send(campaign.Drain{})
		n := len(w.callTimes())
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(w, w.callTimes(), n)
		o := w.mustRequest(campaign.GetStatus{})
		assert.Zero(w, o.Progress.InProgress)
		assert.Equal(w, n, o.Outcomes[domain.OutcomeCompleted])
	})
}

// The fake clock starts on a Saturday. The estimate must be accurate although calling hours, a weekend, a pause and retries
// lie ahead.
func TestEstimatedCompletionIsAccurate(t *testing.T) {
	t.Parallel()
	withCampaign(t, 800, func(c *domain.Campaign) {
		c.Schedule = domain.Schedule{Timezone: "UTC", Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday"}}
		c.Compliance.CallingHours = domain.CallingHours{Start: "09:00", End: "17:00", Timezone: "local"}
		c.Pacing = domain.Pacing{CallsPerMinute: 1, MaxConcurrent: 10}
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 1.5, RetryOn: []string{"no_answer"}}
	}, func(w *fixture) {
		rung := make(map[string]int)
		w.changeRemoteSide(func() {
			w.callPlan = func(c domain.Call) callPlan {
				rung[c.To]++
				if (len(c.To)+int(c.To[11])*7+int(c.To[10])*3+rung[c.To])%5 < 2 {
					return callPlan{verdict: noAnswer, duration: 30 * time.Second, reached: true}
				}
				return callPlan{verdict: done, duration: 50 * time.Second, reached: true}
			}
		})
		start := time.Now()
		w.mustRequest(campaign.Start{})
		says := make(map[time.Time]time.Time)
		var paused time.Time
		for {
			time.Sleep(47 * time.Minute)
			o := w.mustRequest(campaign.GetStatus{})
			if o.Status == domain.CampaignCompleted {
				break
			}
			final := o.Progress.Total - o.Progress.Remaining - o.Progress.InProgress
			if final > 350 && paused.IsZero() {
				w.mustRequest(campaign.Pause{})
				assert.Nil(w, w.mustRequest(campaign.GetStatus{}).Timing.EstimatedCompletion)
				time.Sleep(5 * time.Hour)
				paused = time.Now()
				w.mustRequest(campaign.Resume{})
				o = w.mustRequest(campaign.GetStatus{})
			}
			if e := o.Timing.EstimatedCompletion; final > 80 && !paused.IsZero() && assert.NotNil(w, e) {
				says[time.Now()] = *e
			}
		}
		sent := w.callTimes()
		end := sent[len(sent)-1]
		whole := end.Sub(start)
		require.Greater(w, len(says), 10)
		for at, e := range says {
			assert.InDelta(w, 0, e.Sub(end).Seconds()/whole.Seconds(), 0.1, "said on %s", at)
		}
	})
}
