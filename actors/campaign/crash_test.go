package campaign_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// withRetries configures retries of busy and interrupted calls, so that the test covers every course of an attempt.
func withRetries(c *domain.Campaign) {
	c.Pacing = domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 8}
	c.Retry = domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 0.01, RetryOn: []string{"busy", "no_answer", "interrupted"}}
}

func plannedResult(c domain.Call) callPlan {
	n := int(c.To[len(c.To)-1] - '0')
	switch {
	case n < 3:
		return callPlan{verdict: busy, duration: time.Second, reached: true}
	case n == 9:
		return callPlan{verdict: done, duration: 12 * time.Second, reached: true}
	case n == 3 && c.Attempt == 1:
		return callPlan{verdict: noAnswer, duration: 3 * time.Second, reached: true}
	}
	return callPlan{verdict: done, duration: 4 * time.Second, reached: true}
}

// runToEnd runs a campaign to its end and checks that every contact has an outcome and no attempt was called twice.
func (w *fixture) runToEnd(n int) {
	w.Helper()
	o := w.waitForStatus(time.Hour, domain.CampaignCompleted)
	sum := o.Skipped.Total() + o.Expired
	for _, v := range o.Outcomes {
		sum += v
	}
	assert.Equal(w, n, sum, "every contact has an outcome")
	assert.Zero(w, o.Progress.Remaining+o.Progress.InProgress)
	w.checkOneCallPerAttempt()
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	assert.Empty(w, w.store.kinds["attempt"], "no attempt is left open")
	opened, closed := types(w.store.events)[event.CallStarted], types(w.store.events)[event.CallEnded]
	assert.Equal(w, opened, closed, "each call that began ended once")
}

func TestKilledProcessLosesAndRepeatsNoContact(t *testing.T) {
	t.Parallel()
	const n = 24
	for _, kind := range []commitFault{commitLost, replyLost} {
		for at := 1; at <= 57; at += 7 {
			withCampaign(t, n, withRetries, func(w *fixture) {
				w.callPlan = plannedResult
				w.store.latency = 3 * time.Millisecond
				crash := make(chan struct{}, 1)
				w.store.injectFault = func(i int, _ commit.Change) commitFault {
					if i != at {
						return none
					}
					crash <- struct{}{}
					return kind
				}
				go func() { _, _ = w.request(campaign.Start{}) }()
				<-crash
				w.killProcess()
				time.Sleep(time.Second)
				w.startProcess()
				if o, err := w.request(campaign.Start{}); assert.NoError(w, err) && o.Status == domain.CampaignRunning {
					w.runToEnd(n)
				}
				for number, rung := range w.callsByNumber {
					assert.LessOrEqual(w, rung, 3, number)
				}
			})
		}
	}
}

func TestCampaignSurvivesManyKills(t *testing.T) {
	t.Parallel()
	const n = 80
	withCampaign(t, n, withRetries, func(w *fixture) {
		w.callPlan = plannedResult
		w.store.latency = 4 * time.Millisecond
		w.mustRequest(campaign.Start{})
		for i := range 15 {
			time.Sleep(time.Duration(300+i*137) * time.Millisecond)
			w.killProcess()
			open := w.store.progress().InProgress
			assert.LessOrEqual(w, open, 8)
			w.startProcess()
		}
		w.runToEnd(n)
		interrupted := 0
		for _, e := range w.store.eventsOf(event.CallEnded) {
			if bytes.Contains(e.Data, []byte(`"interrupted"`)) {
				interrupted++
			}
		}
		assert.Positive(w, interrupted)
	})
}

func TestFailingCommitsStopDialing(t *testing.T) {
	t.Parallel()
	const n = 30
	for _, kind := range []commitFault{commitLost, replyLost, commitConflict} {
		withCampaign(t, n, withRetries, func(w *fixture) {
			w.callPlan = plannedResult
			w.store.injectFault = func(i int, _ commit.Change) commitFault {
				if i%5 == 4 {
					return kind
				}
				return none
			}
			w.mustRequest(campaign.Start{})
			w.runToEnd(n)
		})
	}
}

func TestCampaignSurvivesStoreOutage(t *testing.T) {
	t.Parallel()
	const n = 80
	withCampaign(t, n, withRetries, func(w *fixture) {
		w.callPlan = plannedResult
		w.mustRequest(campaign.Start{})
		time.Sleep(3 * time.Second)
		w.store.withLock(func(m *memoryStore) { m.down = true })
		time.Sleep(500 * time.Millisecond)
		before := len(w.callTimes())
		time.Sleep(10 * time.Second)
		assert.Len(w, w.callTimes(), before, "no call starts meanwhile")
		o := w.mustRequest(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "store", o.Waiting.Reason)
		_, err := w.request(campaign.Pause{})
		assert.Equal(w, domain.CodeUnavailable, domain.CodeOf(err))
		w.store.withLock(func(m *memoryStore) { m.down = false })
		w.runToEnd(n)
	})
}

func TestCampaignIsPausedWhileTheStoreIsFull(t *testing.T) {
	t.Parallel()
	const n = 80
	withCampaign(t, n, withRetries, func(w *fixture) {
		w.callPlan = plannedResult
		w.mustRequest(campaign.Start{})
		time.Sleep(3 * time.Second)
		w.store.withLock(func(m *memoryStore) { m.full = true })
		time.Sleep(time.Second)
		before, commits := len(w.callTimes()), 0
		w.store.withLock(func(m *memoryStore) { commits = m.commits })
		time.Sleep(50 * time.Second)
		assert.Len(w, w.callTimes(), before, "no call starts meanwhile")
		w.store.withLock(func(m *memoryStore) { commits = m.commits - commits })
		assert.Less(w, commits, 15, "it tries again each five seconds")
		o := w.mustRequest(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "store", o.Waiting.Reason)
		began := time.Now()
		assert.Equal(w, domain.CampaignPaused, w.mustRequest(campaign.Pause{}).Status)
		assert.Less(w, time.Since(began), time.Second, "at once")
		_, err := w.request(campaign.Resume{})
		assert.Equal(w, domain.CodeStoreFull, domain.CodeOf(err))
		w.killProcess()
		w.startProcess()
		w.store.withLock(func(m *memoryStore) { m.full = false })
		time.Sleep(20 * time.Second)
		assert.Equal(w, domain.CampaignPaused, w.mustRequest(campaign.GetStatus{}).Status, "it is in the store")
		assert.Len(w, w.callTimes(), before)
		w.mustRequest(campaign.Resume{})
		w.runToEnd(n)
	})
}

func TestFencedCampaignStops(t *testing.T) {
	t.Parallel()
	withCampaign(t, 50, withRetries, func(w *fixture) {
		w.store.injectFault = func(i int, _ commit.Change) commitFault {
			if i >= 10 {
				return commitFenced
			}
			return none
		}
		w.mustRequest(campaign.Start{})
		time.Sleep(time.Minute)
		n := len(w.callTimes())
		assert.Less(w, n, 50)
		time.Sleep(time.Minute)
		assert.Len(w, w.callTimes(), n)
	})
}

func TestPanicAtAnyMessageLosesNoContact(t *testing.T) {
	t.Parallel()
	const n = 24
	kinds := []string{
		"campaign.Start", "lines.Permit", "trunk.Slot", "campaign.batchCommitted", "campaign.contactsRead", "campaign.snapshotLoaded",
		"campaign.scriptRead", "campaign.sendDue", "campaign.wakeUpDue", "call.Ended", "campaign.GetStatus", "campaign.RowChanged",
	}
	for _, kind := range kinds {
		for _, which := range []int{1, 4} {
			withCampaign(t, n, withRetries, func(w *fixture) {
				w.callPlan = plannedResult
				w.store.latency = 3 * time.Millisecond
				seen, thrown := 0, 0
				w.onMessage = func(m any) {
					if fmt.Sprintf("%T", m) == kind {
						if seen++; seen == which || seen == which+5 {
							thrown++
							panic("planted at " + kind)
						}
					}
				}
				_, _ = w.request(campaign.Start{})
				time.Sleep(2 * time.Second)
				w.send(campaign.RowChanged{})
				if w.store.progress().LastOpenAt.IsZero() {
					_, _ = w.request(campaign.Start{})
				}
				w.runToEnd(n)
				if which == 1 {
					assert.Positive(w, thrown, kind)
				}
			})
		}
	}
}

// A commit of a failed campaign actor may become durable after its successor has read the store. The successor must notice
// that.
func TestLateCommitOfFormerActorIsDetected(t *testing.T) {
	t.Parallel()
	const n = 24
	for _, kind := range []string{"lines.Permit", "trunk.Slot", "call.Ended"} {
		withCampaign(t, n, withRetries, func(w *fixture) {
			w.callPlan = plannedResult
			w.store.latency = 300 * time.Millisecond // longer than the restart takes
			seen := 0
			w.onMessage = func(m any) {
				if fmt.Sprintf("%T", m) == kind {
					if seen++; seen%9 == 0 && seen < 60 {
						panic("planted at " + kind)
					}
				}
			}
			w.mustRequest(campaign.Start{})
			w.runToEnd(n)
		})
	}
}

func TestDialingContinuesWhenClockIsSetBack(t *testing.T) {
	t.Parallel()
	withCampaign(t, 12, withRetries, func(w *fixture) {
		w.mustRequest(campaign.Start{})
		time.Sleep(500 * time.Millisecond)
		w.killProcess()
		ahead := w.store.progress()
		ahead.LastOpenAt = time.Now().Add(time.Hour)
		w.store.storeRecords(&ahead)
		w.startProcess()
		w.waitForStatus(time.Minute, domain.CampaignCompleted)
	})
}

func TestNoCallWhenCallingHoursEndDuringCommit(t *testing.T) {
	t.Parallel()
	withCampaign(t, 5, func(c *domain.Campaign) {
		withRetries(c)
		c.Schedule.Timezone = "UTC"
		c.Compliance.CallingHours = domain.CallingHours{Start: "00:30", End: "00:10", Timezone: "UTC"} // across midnight: closed for twenty minutes
	}, func(w *fixture) {
		w.store.latency = 3 * time.Second
		time.Sleep(10*time.Minute - 4*time.Second)
		w.mustRequest(campaign.Start{})
		time.Sleep(10 * time.Second)
		assert.Empty(w, w.callTimes(), "the attempts were opened before the hours ended and would be sent after")
		w.waitForStatus(time.Hour, domain.CampaignCompleted)
		assert.Len(w, w.callTimes(), 5)
	})
}

func TestAbandonedCallCountsAsConcurrentUntilItsEnd(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} { // another crash after the attempts are closed
		withCampaign(t, 8, func(c *domain.Campaign) { withRetries(c); c.Pacing.MaxConcurrent = 2 }, func(w *fixture) {
			w.callPlan = func(domain.Call) callPlan { return callPlan{verdict: done, duration: time.Minute, reached: true} }
			w.mustRequest(campaign.Start{})
			time.Sleep(2 * time.Second)
			require.Len(w, w.callTimes(), 2)
			left := w.openCalls()
			w.killProcess()
			if again {
				w.startProcess()
				time.Sleep(5 * time.Second)
				require.Empty(w, w.openCalls(), "both are closed")
				w.killProcess()
				until := time.Now().Add(30 * time.Second)
				w.abandoned = map[string]time.Time{left[0]: until, left[1]: until}
			}
			w.startProcess()
			time.Sleep(10 * time.Second)
			require.Len(w, w.callTimes(), 2, "both may still ring")
			w.send(campaign.DialogEnded{CallID: left[0]})
			time.Sleep(time.Second)
			require.Len(w, w.callTimes(), 3)
			time.Sleep(32 * time.Second)
			require.Len(w, w.callTimes(), 4, "a dialog without an end expires")
		})
	}
}

func TestNumberRequestsAreRepeatedAfterLoss(t *testing.T) {
	t.Parallel()
	withCampaign(t, 3, withRetries, func(w *fixture) {
		var asked []int
		var first, returned int
		w.numbers = w.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch m := ctx.Message().(type) {
			case numbers.RequestNumber:
				asked = append(asked, m.Generation)
				if m.Generation == 1 { // a panic loses the request
					first++
					return
				}
				ctx.Send(ctx.Sender(), numbers.NumberGranted{CallID: m.CallID, Generation: 1}) // a late reply
				ctx.Send(ctx.Sender(), numbers.NumberGranted{CallID: m.CallID, Generation: m.Generation})
			case numbers.ReleaseNumber:
				returned++
			}
		}))
		defer w.sys.Root.Poison(w.numbers)
		w.killProcess()
		w.startProcess()
		w.mustRequest(campaign.Start{})
		begun := time.Now()
		time.Sleep(9 * time.Second)
		synctest.Wait()
		require.Len(w, w.callTimes(), 3, "before their permits would have run out: %v", asked)
		assert.Less(w, w.callTimes()[0].Sub(begun), 3*time.Second)
		assert.Equal(w, 3, first)
		assert.Zero(w, returned, "no grant of a called number is returned")
	})
}
