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

// mixed retries busy and interrupted ones, so that every path is taken.
func mixed(c *domain.Campaign) {
	c.Pacing = domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 8}
	c.Retry = domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 0.01, RetryOn: []string{"busy", "no_answer", "interrupted"}}
}

func fates(c domain.Call) plan {
	n := int(c.To[len(c.To)-1] - '0')
	switch {
	case n < 3:
		return plan{verdict: busy, lasts: time.Second, reached: true}
	case n == 9:
		return plan{verdict: done, lasts: 12 * time.Second, reached: true}
	case n == 3 && c.Attempt == 1:
		return plan{verdict: noAnswer, lasts: 3 * time.Second, reached: true}
	}
	return plan{verdict: done, lasts: 4 * time.Second, reached: true}
}

// complete runs a campaign to its end and checks that nobody was forgotten and
// nobody rung twice for one attempt.
func (w *world) complete(n int) {
	w.Helper()
	o := w.until(time.Hour, domain.CampaignCompleted)
	sum := o.Skipped.Total() + o.Expired
	for _, v := range o.Outcomes {
		sum += v
	}
	assert.Equal(w, n, sum, "everybody has an outcome")
	assert.Zero(w, o.Progress.Remaining+o.Progress.InProgress)
	w.onceEach()
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	assert.Empty(w, w.store.kinds["attempt"], "no attempt is left open")
	opened, closed := types(w.store.events)[event.CallStarted], types(w.store.events)[event.CallEnded]
	assert.Equal(w, opened, closed, "each call that began ended once")
}

func TestAKilledProcessForgetsNobodyAndRingsNobodyTwice(t *testing.T) {
	t.Parallel()
	const n = 24
	for _, kind := range []fault{lost, unheard} {
		for at := 1; at <= 57; at += 7 {
			in(t, n, mixed, func(w *world) {
				w.ends = fates
				w.store.latency = 3 * time.Millisecond
				crash := make(chan struct{}, 1)
				w.store.judge = func(i int, _ commit.Change) fault {
					if i != at {
						return none
					}
					crash <- struct{}{}
					return kind
				}
				go func() { _, _ = w.ask(campaign.Start{}) }()
				<-crash
				w.kill()
				time.Sleep(time.Second)
				w.begin()
				if o, err := w.ask(campaign.Start{}); assert.NoError(w, err) && o.Status == domain.CampaignRunning {
					w.complete(n)
				}
				for number, rung := range w.rung {
					assert.LessOrEqual(w, rung, 3, number)
				}
			})
		}
	}
}

func TestManyKillsInOneCampaign(t *testing.T) {
	t.Parallel()
	const n = 80
	in(t, n, mixed, func(w *world) {
		w.ends = fates
		w.store.latency = 4 * time.Millisecond
		w.must(campaign.Start{})
		for i := range 15 {
			time.Sleep(time.Duration(300+i*137) * time.Millisecond)
			w.kill()
			open := w.store.progress().InProgress
			assert.LessOrEqual(w, open, 8)
			w.begin()
		}
		w.complete(n)
		interrupted := 0
		for _, e := range w.store.told(event.CallEnded) {
			if bytes.Contains(e.Data, []byte(`"interrupted"`)) {
				interrupted++
			}
		}
		assert.Positive(w, interrupted)
	})
}

func TestAStoreThatFailsInBetweenStopsTheDialling(t *testing.T) {
	t.Parallel()
	const n = 30
	for _, kind := range []fault{lost, unheard, conflicted} {
		in(t, n, mixed, func(w *world) {
			w.ends = fates
			w.store.judge = func(i int, _ commit.Change) fault {
				if i%5 == 4 {
					return kind
				}
				return none
			}
			w.must(campaign.Start{})
			w.complete(n)
		})
	}
}

func TestAnOutageOfTheStoreIsSurvived(t *testing.T) {
	t.Parallel()
	const n = 80
	in(t, n, mixed, func(w *world) {
		w.ends = fates
		w.must(campaign.Start{})
		time.Sleep(3 * time.Second)
		w.store.set(func(m *memory) { m.down = true })
		time.Sleep(500 * time.Millisecond)
		before := len(w.calls())
		time.Sleep(10 * time.Second)
		assert.Len(w, w.calls(), before, "nobody is rung meanwhile")
		o := w.must(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "store", o.Waiting.Reason)
		_, err := w.ask(campaign.Pause{})
		assert.Equal(w, domain.CodeUnavailable, domain.CodeOf(err))
		w.store.set(func(m *memory) { m.down = false })
		w.complete(n)
	})
}

func TestCampaignIsPausedWhileTheStoreIsFull(t *testing.T) {
	t.Parallel()
	const n = 80
	in(t, n, mixed, func(w *world) {
		w.ends = fates
		w.must(campaign.Start{})
		time.Sleep(3 * time.Second)
		w.store.set(func(m *memory) { m.full = true })
		time.Sleep(time.Second)
		before, commits := len(w.calls()), 0
		w.store.set(func(m *memory) { commits = m.commits })
		time.Sleep(50 * time.Second)
		assert.Len(w, w.calls(), before, "nobody is called meanwhile")
		w.store.set(func(m *memory) { commits = m.commits - commits })
		assert.Less(w, commits, 15, "it tries again each five seconds")
		o := w.must(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "store", o.Waiting.Reason)
		began := time.Now()
		assert.Equal(w, domain.CampaignPaused, w.must(campaign.Pause{}).Status)
		assert.Less(w, time.Since(began), time.Second, "at once")
		_, err := w.ask(campaign.Resume{})
		assert.Equal(w, domain.CodeStoreFull, domain.CodeOf(err))
		w.kill()
		w.begin()
		w.store.set(func(m *memory) { m.full = false })
		time.Sleep(20 * time.Second)
		assert.Equal(w, domain.CampaignPaused, w.must(campaign.GetStatus{}).Status, "it is in the store")
		assert.Len(w, w.calls(), before)
		w.must(campaign.Resume{})
		w.complete(n)
	})
}

func TestAnOwnerThatWasReplacedStops(t *testing.T) {
	t.Parallel()
	in(t, 50, mixed, func(w *world) {
		w.store.judge = func(i int, _ commit.Change) fault {
			if i >= 10 {
				return fenced
			}
			return none
		}
		w.must(campaign.Start{})
		time.Sleep(time.Minute)
		n := len(w.calls())
		assert.Less(w, n, 50)
		time.Sleep(time.Minute)
		assert.Len(w, w.calls(), n)
	})
}

func TestAPanicAtAnyMessageForgetsNobody(t *testing.T) {
	t.Parallel()
	const n = 24
	kinds := []string{
		"campaign.Start", "lines.Permit", "trunk.Slot", "campaign.committed", "campaign.contactsRead", "campaign.loaded",
		"campaign.scriptRead", "campaign.sendDue", "campaign.wakeUpDue", "call.Ended", "campaign.GetStatus", "campaign.CampaignChanged",
	}
	for _, kind := range kinds {
		for _, which := range []int{1, 4} {
			in(t, n, mixed, func(w *world) {
				w.ends = fates
				w.store.latency = 3 * time.Millisecond
				seen, thrown := 0, 0
				w.before = func(m any) {
					if fmt.Sprintf("%T", m) == kind {
						if seen++; seen == which || seen == which+5 {
							thrown++
							panic("planted at " + kind)
						}
					}
				}
				_, _ = w.ask(campaign.Start{})
				time.Sleep(2 * time.Second)
				w.tell(campaign.CampaignChanged{})
				if w.store.progress().LastOpenAt.IsZero() {
					_, _ = w.ask(campaign.Start{})
				}
				w.complete(n)
				if which == 1 {
					assert.Positive(w, thrown, kind)
				}
			})
		}
	}
}

// A commit of the incarnation that failed may come through after the next one
// has read the store.
func TestACommitOfAPredecessorIsNoticed(t *testing.T) {
	t.Parallel()
	const n = 24
	for _, kind := range []string{"lines.Permit", "trunk.Slot", "call.Ended"} {
		in(t, n, mixed, func(w *world) {
			w.ends = fates
			w.store.latency = 300 * time.Millisecond // longer than the restart takes
			seen := 0
			w.before = func(m any) {
				if fmt.Sprintf("%T", m) == kind {
					if seen++; seen%9 == 0 && seen < 60 {
						panic("planted at " + kind)
					}
				}
			}
			w.must(campaign.Start{})
			w.complete(n)
		})
	}
}

func TestAClockThatWasSetBackDoesNotStopTheDialling(t *testing.T) {
	t.Parallel()
	in(t, 12, mixed, func(w *world) {
		w.must(campaign.Start{})
		time.Sleep(500 * time.Millisecond)
		w.kill()
		ahead := w.store.progress()
		ahead.LastOpenAt = time.Now().Add(time.Hour)
		w.store.seed(&ahead)
		w.begin()
		w.until(time.Minute, domain.CampaignCompleted)
	})
}

func TestNobodyIsRungWhoseHoursEndedDuringTheCommit(t *testing.T) {
	t.Parallel()
	in(t, 5, func(c *domain.Campaign) {
		mixed(c)
		c.Schedule.Timezone = "UTC"
		c.Compliance.CallingHours = domain.CallingHours{Start: "00:30", End: "00:10", Timezone: "UTC"} // over midnight: closed for twenty minutes
	}, func(w *world) {
		w.store.latency = 3 * time.Second
		time.Sleep(10*time.Minute - 4*time.Second)
		w.must(campaign.Start{})
		time.Sleep(10 * time.Second)
		assert.Empty(w, w.calls(), "the attempts were opened before the hours ended and would be sent after")
		w.until(time.Hour, domain.CampaignCompleted)
		assert.Len(w, w.calls(), 5)
	})
}

func TestACallThatACrashLeftCountsUntilItHasEnded(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} { // another crash, once the attempts are closed
		in(t, 8, func(c *domain.Campaign) { mixed(c); c.Pacing.MaxConcurrent = 2 }, func(w *world) {
			w.ends = func(domain.Call) plan { return plan{verdict: done, lasts: time.Minute, reached: true} }
			w.must(campaign.Start{})
			time.Sleep(2 * time.Second)
			require.Len(w, w.calls(), 2)
			left := w.openCalls()
			w.kill()
			if again {
				w.begin()
				time.Sleep(5 * time.Second)
				require.Empty(w, w.openCalls(), "both are closed")
				w.kill()
				until := time.Now().Add(30 * time.Second)
				w.left = map[string]time.Time{left[0]: until, left[1]: until}
			}
			w.begin()
			time.Sleep(10 * time.Second)
			require.Len(w, w.calls(), 2, "both may still ring")
			w.tell(campaign.DialogEnded{CallID: left[0]})
			time.Sleep(time.Second)
			require.Len(w, w.calls(), 3)
			time.Sleep(32 * time.Second)
			require.Len(w, w.calls(), 4, "a dialog that nobody ends is given up")
		})
	}
}

func TestTheOwnerOfTheNumbersIsAskedAgainThatForgotItsQuestions(t *testing.T) {
	t.Parallel()
	in(t, 3, mixed, func(w *world) {
		var asked []int
		var first, returned int
		w.numbers = w.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch m := ctx.Message().(type) {
			case numbers.RequestNumber:
				asked = append(asked, m.Generation)
				if m.Generation == 1 { // it is lost to a panic
					first++
					return
				}
				ctx.Send(ctx.Sender(), numbers.NumberGranted{CallID: m.CallID, Generation: 1}) // late
				ctx.Send(ctx.Sender(), numbers.NumberGranted{CallID: m.CallID, Generation: m.Generation})
			case numbers.ReleaseNumber:
				returned++
			}
		}))
		defer w.sys.Root.Poison(w.numbers)
		w.kill()
		w.begin()
		w.must(campaign.Start{})
		begun := time.Now()
		time.Sleep(9 * time.Second)
		synctest.Wait()
		require.Len(w, w.calls(), 3, "before their permits would have run out: %v", asked)
		assert.Less(w, w.calls()[0].Sub(begun), 3*time.Second)
		assert.Equal(w, 3, first)
		assert.Zero(w, returned, "no number is given back that is rung")
	})
}
