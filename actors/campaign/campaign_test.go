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

func TestACampaignRingsEverybodyOnce(t *testing.T) {
	t.Parallel()
	in(t, 600, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 3000, MaxConcurrent: 50} }, func(w *world) {
		o := w.must(campaign.Start{})
		assert.Equal(w, domain.CampaignRunning, o.Status)
		assert.NotNil(w, o.Timing.EstimatedCompletion)
		o = w.until(10*time.Minute, domain.CampaignCompleted)
		assert.Equal(w, "exhausted", o.CompletionReason)
		assert.Equal(w, 600, o.Outcomes[domain.OutcomeCompleted])
		assert.Equal(w, 600, o.Progress.Attempted)
		assert.Len(w, w.started, 600)
		assert.Len(w, w.rung, 600)
		assert.Zero(w, w.repeats, "each end is acknowledged at once")
		w.onceEach()
		assert.LessOrEqual(w, w.most, 50)
		got := types(w.store.events)
		assert.Equal(w, 600, got[event.CallStarted])
		assert.Equal(w, 600, got[event.CallEnded])
		assert.Equal(w, 600, got[event.CampaignCallCompleted])
		assert.Equal(w, 1, got[event.CampaignStarted])
		assert.Equal(w, 1, got[event.CampaignCompleted])
		assert.GreaterOrEqual(w, got[event.CampaignProgress], 20)
		marks := w.store.marks()
		assert.Len(w, marks, 20, "one at each five per cent, the last one at the end")
		last := marks[len(marks)-1]
		assert.Equal(w, []int{100, 600, 600, 600, 600}, []int{last.Percent, last.Total, last.Attempted, last.Finished, last.Outcomes[domain.OutcomeCompleted]})
		for i := 1; i < len(marks); i++ {
			assert.Greater(w, marks[i].Finished, marks[i-1].Finished)
			assert.False(w, marks[i].At.Before(marks[i-1].At))
		}
	})
}

func TestACampaignKeepsItsPaceAndItsWidth(t *testing.T) {
	t.Parallel()
	in(t, 60, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 3} }, func(w *world) {
		w.store.latency = 7 * time.Millisecond
		w.must(campaign.Start{})
		w.until(10*time.Minute, domain.CampaignCompleted)
		sent := w.calls()
		require.Len(w, sent, 60)
		for i := 1; i < len(sent); i++ {
			require.GreaterOrEqual(w, sent[i].Sub(sent[i-1]), time.Second)
		}
		assert.Equal(w, 3, w.most)
	})
}

func TestACommitThatStallsReleasesNoBurst(t *testing.T) {
	t.Parallel()
	in(t, 250, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 6000, MaxConcurrent: 400} }, func(w *world) {
		w.store.latency = 5 * time.Millisecond
		w.must(campaign.Start{})
		time.Sleep(time.Second)
		w.store.set(func(m *memory) { m.latency = 900 * time.Millisecond })
		time.Sleep(3 * time.Second)
		w.store.set(func(m *memory) { m.latency = 5 * time.Millisecond })
		w.until(10*time.Minute, domain.CampaignCompleted)
		sent := w.calls()
		for i := 1; i < len(sent); i++ {
			require.GreaterOrEqual(w, sent[i].Sub(sent[i-1]), 10*time.Millisecond)
		}
	})
}

func TestThreeHundredAttemptsASecond(t *testing.T) {
	t.Parallel()
	in(t, 900, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 24000, MaxConcurrent: 600} }, func(w *world) {
		w.store.latency = 8 * time.Millisecond
		w.ends = func(domain.Call) plan { return plan{verdict: busy, lasts: time.Second, reached: true} }
		w.must(campaign.Start{})
		w.until(time.Minute, domain.CampaignCompleted)
		sent := w.calls()
		took := sent[len(sent)-1].Sub(sent[0])
		w.Logf("900 attempts in %s", took)
		assert.Less(w, took, 3*time.Second)
	})
}

func TestRetriesFireExactlyWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	in(t, 3, func(c *domain.Campaign) {
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 1.5, RetryOn: []string{"no_answer"}}
	}, func(w *world) {
		w.ends = func(c domain.Call) plan {
			switch {
			case c.To == number(1):
				return plan{verdict: busy, lasts: time.Second, reached: true}
			case c.To == number(2) && c.Attempt == 2:
				return plan{verdict: done, lasts: time.Second, reached: true}
			}
			return plan{verdict: noAnswer, lasts: 30 * time.Second, reached: true}
		}
		w.must(campaign.Start{})
		time.Sleep(time.Minute)
		o := w.must(campaign.GetStatus{})
		assert.Equal(w, 2, o.Progress.Remaining)
		assert.Equal(w, 3, o.Progress.Attempted)
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "retry", o.Waiting.Reason)
		require.NotNil(w, o.Waiting.Until)
		o = w.until(10*time.Hour, domain.CampaignCompleted)
		assert.Equal(w, 1, o.Outcomes[domain.OutcomeNoAnswer])
		assert.Equal(w, 1, o.Outcomes[domain.OutcomeBusy])
		assert.Equal(w, 1, o.Outcomes[domain.OutcomeCompleted])
		first, second := w.started[domain.AttemptID(campaignID, 0, 1)][0], w.started[domain.AttemptID(campaignID, 0, 2)][0]
		third := w.started[domain.AttemptID(campaignID, 0, 3)][0]
		assert.Equal(w, 90*time.Minute+30*time.Second, second.Sub(first))
		assert.Equal(w, 90*time.Minute+30*time.Second, third.Sub(second))
		assert.NotContains(w, w.started, domain.AttemptID(campaignID, 0, 4))
		assert.NotContains(w, w.started, domain.AttemptID(campaignID, 1, 2))
		assert.Len(w, w.store.told(event.CampaignCallCompleted), 6)
	})
}

func TestThrottledAndUnsentAttemptsAreFreeAndComeBack(t *testing.T) {
	t.Parallel()
	in(t, 4, nil, func(w *world) {
		n := 0
		w.ends = func(domain.Call) plan {
			n++
			switch {
			case n <= 3:
				return plan{verdict: throttled, lasts: 100 * time.Millisecond, reached: true}
			case n <= 6:
				return plan{verdict: notSent, lasts: 100 * time.Millisecond}
			}
			return plan{verdict: done, lasts: time.Second, reached: true}
		}
		w.must(campaign.Start{})
		o := w.until(time.Hour, domain.CampaignCompleted)
		assert.Equal(w, 4, o.Outcomes[domain.OutcomeCompleted])
		assert.Len(w, w.calls(), 10)
		assert.Len(w, w.started, 4, "it is the same attempt each time")
		assert.Equal(w, 4, w.store.progress().Attempts)
		assert.Len(w, w.store.told(event.CallEnded), 10)
		assert.Len(w, w.store.told(event.CampaignCallCompleted), 4)
		bills := 0
		for k := range w.store.rows {
			if k.Kind == "ledger" {
				bills++
			}
		}
		assert.Equal(w, 4, bills)
	})
}

func TestACampaignWaitsForLinesAndTrunks(t *testing.T) {
	t.Parallel()
	in(t, 20, nil, func(w *world) {
		w.kill()
		w.limit = 1
		w.begin()
		var blocked atomic.Bool
		blocked.Store(true)
		w.noSlot = func() (trunk.SlotDenied, bool) {
			return trunk.SlotDenied{Reason: "throttled", Until: time.Now().Add(3 * time.Second)}, blocked.Load()
		}
		w.must(campaign.Start{})
		time.Sleep(time.Second)
		o := w.must(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "trunk", o.Waiting.Reason)
		require.NotNil(w, o.Waiting.Until)
		assert.Empty(w, w.calls())
		blocked.Store(false)
		time.Sleep(3 * time.Second)
		assert.NotEmpty(w, w.calls(), "the lines were given back")
		w.until(time.Hour, domain.CampaignCompleted)
		w.onceEach()
	})
}

func TestCallingHoursParkContactsUntilTheirZoneOpens(t *testing.T) {
	t.Parallel()
	// The bubble begins on 2000-01-01 00:00 UTC: 19:00 in New York, 01:00 in Berlin.
	in(t, 600, func(c *domain.Campaign) {
		c.Compliance.CallingHours = domain.CallingHours{Start: "09:00", End: "20:00", Timezone: "local"}
		c.Pacing = domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 100}
	}, func(w *world) {
		w.contacts(600, func(i int) domain.Contact {
			switch {
			case i == 599:
				return domain.Contact{Phone: "+870773111111"} // of no country
			case i%2 == 0:
				return domain.Contact{Phone: "+12125550100"}
			}
			return domain.Contact{Phone: "+493012345678"}
		})
		start := time.Now()
		w.must(campaign.Start{})
		time.Sleep(time.Minute)
		assert.Len(w, w.calls(), 300, "New York is open")
		o := w.must(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "calling_hours", o.Waiting.Reason)
		assert.Equal(w, start.Add(8*time.Hour), o.Waiting.Until.Local())
		assert.Equal(w, domain.Skipped{Hours: 1}, o.Skipped)
		o = w.until(10*time.Hour, domain.CampaignCompleted)
		sent := w.calls()
		assert.Len(w, sent, 599)
		assert.Equal(w, start.Add(8*time.Hour), sent[300])
		for i := 1; i < len(sent); i++ {
			require.GreaterOrEqual(w, sent[i].Sub(sent[i-1]), 100*time.Millisecond, "no burst at the edge of a window")
		}
		assert.Equal(w, 599, o.Outcomes[domain.OutcomeCompleted])
	})
}

func TestContactsThatMayNotBeRungAreSkipped(t *testing.T) {
	t.Parallel()
	in(t, 5, nil, func(w *world) {
		w.kill()
		w.contacts(5, func(i int) domain.Contact {
			return domain.Contact{Phone: []string{"+12025550100", "911", "+493012345678", "+19005551234", "+12025550101"}[i]}
		})
		w.calling = func() domain.DestinationRules { return domain.DestinationRules{Countries: []string{"US"}} }
		w.check = func(c domain.Contact) (campaign.SkipReason, bool) { return campaign.SkipDNC, c.Phone != "+12025550101" }
		w.begin()
		w.must(campaign.Start{})
		o := w.until(time.Hour, domain.CampaignCompleted)
		assert.Equal(w, domain.Skipped{DNC: 1, Invalid: 3}, o.Skipped)
		assert.Equal(w, map[string]int{"+12025550100": 1}, w.rung)
	})
}

// TestCallsThatNoTargetTookCostNoAttempt lets the carrier be away for an hour: nobody's attempt counts, the campaign is
// not paused, and everybody is rung afterwards. Where the carrier works and is silent for one number, that one's does.
func TestCallsThatNoTargetTookCostNoAttempt(t *testing.T) {
	t.Parallel()
	in(t, 5, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *world) {
		untaken := trunkFailed
		untaken.NoTarget, untaken.TrunkOut = true, true
		w.ends = func(domain.Call) plan { return plan{verdict: untaken, lasts: 5 * time.Second, reached: true} }
		w.must(campaign.Start{})
		time.Sleep(time.Hour)
		o := w.must(campaign.GetStatus{})
		assert.Equal(w, domain.CampaignRunning, o.Status)
		assert.Zero(w, o.Outcomes[domain.OutcomeFailed])
		w.change(func() {
			w.ends = func(c domain.Call) plan {
				one := untaken
				one.TrunkOut = false
				if c.To == number(2) {
					return plan{verdict: one, lasts: 5 * time.Second, reached: true}
				}
				return plan{verdict: done, lasts: 5 * time.Second, reached: true}
			}
		})
		o = w.until(time.Hour, domain.CampaignCompleted)
		assert.Equal(w, []int{4, 1}, []int{o.Outcomes[domain.OutcomeCompleted], o.Outcomes[domain.OutcomeFailed]})
	})
}

func TestAFailingTrunkPausesTheCampaign(t *testing.T) {
	t.Parallel()
	in(t, 100, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *world) {
		w.ends = func(domain.Call) plan { return plan{verdict: trunkFailed, lasts: 5 * time.Second, reached: true} }
		w.must(campaign.Start{})
		o := w.until(time.Minute, domain.CampaignPaused)
		assert.Equal(w, "trunk_failures", o.PauseReason)
		assert.LessOrEqual(w, len(w.calls()), 11)
		time.Sleep(time.Minute)
		w.change(func() { w.ends = nil })
		o = w.must(campaign.Resume{})
		assert.Equal(w, domain.CampaignRunning, o.Status)
		assert.Empty(w, o.PauseReason)
		w.until(time.Hour, domain.CampaignCompleted)
		assert.Equal(w, map[event.Type]int{event.CampaignPaused: 1, event.CampaignResumed: 1, event.CampaignStarted: 1},
			types(w.store.told(event.CampaignPaused, event.CampaignResumed, event.CampaignStarted)))
	})
}

func TestTheScheduleStartsAndEndsACampaign(t *testing.T) {
	t.Parallel()
	in(t, 1000, func(c *domain.Campaign) {
		start, end := time.Now().Add(time.Hour), time.Now().Add(time.Hour+time.Minute)
		c.Schedule.Start, c.Schedule.End = &start, &end
		c.Pacing.CallsPerMinute = 60
	}, func(w *world) {
		begun := time.Now()
		o := w.must(campaign.Start{})
		assert.Equal(w, domain.CampaignScheduled, o.Status)
		assert.Equal(w, "schedule", o.Waiting.Reason)
		assert.Equal(w, domain.CampaignPaused, w.must(campaign.Pause{}).Status)
		assert.Equal(w, domain.CampaignScheduled, w.must(campaign.Resume{}).Status)
		w.kill()
		w.begin()
		w.until(2*time.Hour, domain.CampaignRunning)
		o = w.until(2*time.Hour, domain.CampaignCompleted)
		assert.Equal(w, "window_ended", o.CompletionReason)
		sent := w.calls()
		assert.Equal(w, begun.Add(time.Hour), sent[0])
		assert.True(w, sent[len(sent)-1].Before(begun.Add(time.Hour+time.Minute)))
		assert.Equal(w, 1000-len(sent), o.Expired)
		assert.Equal(w, len(sent), o.Outcomes[domain.OutcomeCompleted])
		assert.Zero(w, o.Progress.Remaining)
	})
}

func TestPauseStopsNewCallsAndLiveOnesGoOn(t *testing.T) {
	t.Parallel()
	in(t, 100, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *world) {
		w.must(campaign.Start{})
		time.Sleep(10500 * time.Millisecond)
		o := w.must(campaign.Pause{})
		assert.Equal(w, domain.CampaignPaused, o.Status)
		assert.Nil(w, o.Timing.EstimatedCompletion)
		n := len(w.calls())
		assert.Positive(w, o.Progress.InProgress)
		time.Sleep(time.Minute)
		o = w.must(campaign.Pause{})
		assert.Zero(w, o.Progress.InProgress)
		assert.Len(w, w.calls(), n)
		w.must(campaign.Resume{})
		w.until(time.Hour, domain.CampaignCompleted)
		w.onceEach()
	})
}

func TestAPausedCampaignEndsAsOneThatRuns(t *testing.T) {
	t.Parallel()
	in(t, 3, nil, func(w *world) { // its last calls end while it is paused
		w.ends = func(domain.Call) plan { return plan{verdict: done, lasts: 20 * time.Second, reached: true} }
		w.must(campaign.Start{})
		time.Sleep(10 * time.Second)
		o := w.must(campaign.Pause{})
		require.Equal(w, []any{domain.CampaignPaused, 3}, []any{o.Status, o.Progress.InProgress})
		o = w.until(time.Minute, domain.CampaignCompleted)
		assert.Equal(w, "exhausted", o.CompletionReason)
		assert.Equal(w, 3, o.Outcomes[domain.OutcomeCompleted])
	})
	var end time.Time
	in(t, 100, func(c *domain.Campaign) {
		c.Pacing.CallsPerMinute = 60
		end = time.Now().Add(time.Hour)
		c.Schedule.End = &end
	}, func(w *world) { // its window ends while it is paused
		w.must(campaign.Start{})
		time.Sleep(10500 * time.Millisecond)
		w.must(campaign.Pause{})
		rung := len(w.calls())
		time.Sleep(58 * time.Minute)
		assert.Equal(w, domain.CampaignPaused, w.must(campaign.GetStatus{}).Status)
		o := w.until(10*time.Minute, domain.CampaignCompleted)
		assert.Equal(w, []any{"window_ended", 100 - rung}, []any{o.CompletionReason, o.Expired})
		assert.Len(w, w.store.told(event.CampaignCompleted), 1)
		assert.Len(w, w.calls(), rung)
	})
}

func TestCancelEndsACampaignForGood(t *testing.T) {
	t.Parallel()
	for _, hangup := range []bool{false, true} {
		in(t, 100, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *world) {
			w.ends = func(domain.Call) plan { return plan{verdict: done, lasts: 8 * time.Second, reached: true} }
			w.must(campaign.Start{})
			time.Sleep(10500 * time.Millisecond)
			o := w.must(campaign.Cancel{HangupActive: hangup})
			assert.Equal(w, domain.CampaignCancelled, o.Status)
			assert.Zero(w, o.Progress.Remaining)
			live := o.Progress.InProgress
			assert.Positive(w, live)
			time.Sleep(100 * time.Millisecond)
			o = w.must(campaign.GetStatus{})
			if hangup {
				assert.Zero(w, o.Progress.InProgress)
			} else {
				assert.Equal(w, live, o.Progress.InProgress)
			}
			time.Sleep(time.Minute)
			o = w.must(campaign.GetStatus{})
			assert.Equal(w, 100, o.Outcomes[domain.OutcomeCancelled]+o.Outcomes[domain.OutcomeCompleted])
			assert.Len(w, w.store.told(event.CampaignCancelled), 1)
			marks := w.store.marks()
			last := marks[len(marks)-1]
			assert.Equal(w, []int{100, 100}, []int{last.Percent, last.Finished}, "the calls that went on are in the course")
			_, err := w.ask(campaign.Resume{})
			var refused *domain.Error
			require.ErrorAs(w, err, &refused)
			assert.Equal(w, domain.CodeInvalidState, refused.Code)
			assert.Equal(w, domain.CampaignCancelled, refused.Extra["current_status"])
			assert.Equal(w, []domain.CampaignStatus{domain.CampaignPaused}, refused.Extra["allowed_from"])
		})
	}
}

func TestNobodyToRingIsRefusedUnlessTheCampaignStaysOpen(t *testing.T) {
	t.Parallel()
	in(t, 0, nil, func(w *world) {
		_, err := w.ask(campaign.Start{})
		assert.Equal(w, domain.CodeNoContacts, domain.CodeOf(err))
	})
	in(t, 0, func(c *domain.Campaign) { c.AutoComplete = false }, func(w *world) {
		o := w.must(campaign.Start{})
		assert.Equal(w, "no_contacts", o.Waiting.Reason)
		w.contacts(3, func(i int) domain.Contact { return domain.Contact{Phone: number(i)} })
		p := w.store.progress()
		p.Total = 3
		w.store.seed(&p)
		w.tell(campaign.ContactsAdded{})
		time.Sleep(time.Minute)
		assert.Equal(w, 3, w.must(campaign.GetStatus{}).Outcomes[domain.OutcomeCompleted])
		assert.Equal(w, domain.CampaignRunning, w.must(campaign.GetStatus{}).Status)
	})
}

func TestContactsThatComeWhileACampaignIsReadAreSeen(t *testing.T) {
	t.Parallel()
	in(t, 0, nil, func(w *world) {
		w.must(campaign.GetStatus{})
		w.store.slow.Store(true)
		w.tell(campaign.ContactsAdded{}) // reads that nobody is there
		w.contacts(3, func(i int) domain.Contact { return domain.Contact{Phone: number(i)} })
		p := w.store.progress()
		p.Total = 3
		w.store.seed(&p)
		w.tell(campaign.ContactsAdded{})
		w.store.slow.Store(false)
		time.Sleep(time.Minute)
		w.must(campaign.Start{})
		w.until(time.Hour, domain.CampaignCompleted)
	})
}

func TestAScriptThatIsGoneIsTold(t *testing.T) {
	t.Parallel()
	in(t, 3, nil, func(w *world) {
		w.scriptErr = domain.Errorf(domain.CodeNotFound, "no such agent")
		_, err := w.ask(campaign.Start{})
		assert.Equal(w, domain.CodeNotFound, domain.CodeOf(err))
		w.change(func() { w.scriptErr = nil })
		w.must(campaign.Start{})
		w.until(time.Hour, domain.CampaignCompleted)
	})
}

func TestADrainedCampaignOpensNothingAndKeepsItsEnds(t *testing.T) {
	t.Parallel()
	in(t, 100, func(c *domain.Campaign) { c.Pacing.CallsPerMinute = 60 }, func(w *world) {
		w.must(campaign.Start{})
		time.Sleep(10 * time.Second)
		w.tell(campaign.Drain{})
		n := len(w.calls())
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(w, w.calls(), n)
		o := w.must(campaign.GetStatus{})
		assert.Zero(w, o.Progress.InProgress)
		assert.Equal(w, n, o.Outcomes[domain.OutcomeCompleted])
	})
}

// The bubble begins on a Saturday: office hours, a weekend, a pause and retries
// lie between the beginning and the end.
func TestTheEstimateOfARealCampaignHolds(t *testing.T) {
	t.Parallel()
	in(t, 800, func(c *domain.Campaign) {
		c.Schedule = domain.Schedule{Timezone: "UTC", Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday"}}
		c.Compliance.CallingHours = domain.CallingHours{Start: "09:00", End: "17:00", Timezone: "local"}
		c.Pacing = domain.Pacing{CallsPerMinute: 1, MaxConcurrent: 10}
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 1.5, RetryOn: []string{"no_answer"}}
	}, func(w *world) {
		rung := make(map[string]int)
		w.change(func() {
			w.ends = func(c domain.Call) plan {
				rung[c.To]++
				if (len(c.To)+int(c.To[11])*7+int(c.To[10])*3+rung[c.To])%5 < 2 {
					return plan{verdict: noAnswer, lasts: 30 * time.Second, reached: true}
				}
				return plan{verdict: done, lasts: 50 * time.Second, reached: true}
			}
		})
		start := time.Now()
		w.must(campaign.Start{})
		says := make(map[time.Time]time.Time)
		var paused time.Time
		for {
			time.Sleep(47 * time.Minute)
			o := w.must(campaign.GetStatus{})
			if o.Status == domain.CampaignCompleted {
				break
			}
			final := o.Progress.Total - o.Progress.Remaining - o.Progress.InProgress
			if final > 350 && paused.IsZero() {
				w.must(campaign.Pause{})
				assert.Nil(w, w.must(campaign.GetStatus{}).Timing.EstimatedCompletion)
				time.Sleep(5 * time.Hour)
				paused = time.Now()
				w.must(campaign.Resume{})
				o = w.must(campaign.GetStatus{})
			}
			if e := o.Timing.EstimatedCompletion; final > 80 && !paused.IsZero() && assert.NotNil(w, e) {
				says[time.Now()] = *e
			}
		}
		sent := w.calls()
		end := sent[len(sent)-1]
		whole := end.Sub(start)
		require.Greater(w, len(says), 10)
		for at, e := range says {
			assert.InDelta(w, 0, e.Sub(end).Seconds()/whole.Seconds(), 0.1, "said on %s", at)
		}
	})
}
