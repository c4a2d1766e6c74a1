package campaign

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/dialer"
	lists "github.com/callboard/callboard/domain/dnc"
)

func TestProgressEventIsDueAfterChange(t *testing.T) {
	t.Parallel()
	var p statusPublisher
	progress := &domain.Progress{Total: 100, ReportedAt: noon}
	due, at := p.due(progress, noon.Add(time.Hour))
	assert.Equal(t, []any{false, true}, []any{due, at.IsZero()}, "nothing has changed")
	p.committed(true, false)
	due, at = p.due(progress, noon)
	assert.False(t, due)
	due, _ = p.due(progress, at)
	assert.True(t, due)
	p.committed(true, true)
	due, _ = p.due(progress, at)
	assert.False(t, due, "the commit carried the event")
	p.adopt(&domain.Progress{Total: 100, ReportedPercent: 7})
	assert.True(t, p.changed, "an earlier process did not report all")
}

func TestEstimateIsReusedForAWhile(t *testing.T) {
	t.Parallel()
	var p statusPublisher
	asked := 0
	estimate := func(s domain.CampaignStatus, now time.Time) {
		p.estimate(s, now, func(time.Time) dialer.EstimateInput { asked++; return dialer.EstimateInput{} })
	}
	estimate(domain.CampaignRunning, noon)
	estimate(domain.CampaignRunning, noon.Add(estimateAge-1))
	assert.Equal(t, 1, asked)
	estimate(domain.CampaignPaused, noon.Add(estimateAge-1))
	estimate(domain.CampaignPaused, noon.Add(2*estimateAge))
	assert.Equal(t, 3, asked)
}

func TestWakeUpKeepsTheEarliestTime(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		t.Helper()
		var w wakeUp
		var woken []time.Duration
		begin := time.Now()
		pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor {
			return actor.ReceiveFunc(func(ctx actor.Context) {
				switch m := ctx.Message().(type) {
				case *actor.Started:
					w.set(ctx, begin.Add(time.Hour), begin)
					w.set(ctx, begin.Add(time.Minute), begin)
					w.set(ctx, begin.Add(2*time.Minute), begin) // later: the timer stays
				case wakeUpDue:
					w.onWakeUpDue(wakeUpDue{m.number - 1}) // of an earlier timer
					assert.NotNil(t, w.cancel)
					w.onWakeUpDue(m)
					assert.Nil(t, w.cancel)
					woken = append(woken, time.Since(begin))
					if len(woken) == 1 {
						w.set(ctx, begin, time.Now()) // in the past: the timer fires at once
					}
				}
			})
		}, 10))
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Equal(t, []time.Duration{time.Minute, time.Minute}, woken)
		sys.Root.Poison(pid)
		synctest.Wait()
	})
}

func TestZoneClosuresAreCounted(t *testing.T) {
	t.Parallel()
	rules, err := calendar.New(domain.Schedule{Timezone: "UTC"}, domain.CallingHours{Start: "09:00", End: "17:00", Timezone: "UTC"}, calendar.NewZones())
	require.NoError(t, err)
	w := rules.GlobalWindow()
	var c zoneClosures
	c.update(&w, noon, evening)
	assert.Zero(t, c.count, "it is closed now: the time is not over")
	c.update(&w, noon, noon.AddDate(0, 0, 3))
	five, nine := time.Date(2026, 3, 2, 17, 0, 0, 0, time.UTC), time.Date(2026, 3, 5, 9, 0, 0, 0, time.UTC)
	assert.Equal(t, []any{3, true, true, true}, []any{c.count, c.first.Equal(five), c.from.Equal(five.AddDate(0, 0, 2)), c.until.Equal(nine)})
	var restarted zoneClosures
	restarted.update(&w, noon, noon.AddDate(0, 0, 3))
	assert.Equal(t, c, restarted, "they follow from the calendar alone")
}

func TestContactHeapIsOrderedByTime(t *testing.T) {
	t.Parallel()
	var h contactHeap
	assert.True(t, h.first().IsZero())
	for i, minutes := range []int{30, 10, 20} {
		h.add(i, noon.Add(time.Duration(minutes)*time.Minute))
	}
	assert.Equal(t, noon.Add(10*time.Minute), h.first())
	assert.Equal(t, []bool{false, true}, []bool{h.due(noon), h.due(noon.Add(10 * time.Minute))})
	assert.Equal(t, noon.Add(10*time.Minute), h.remove(1))
	assert.True(t, h.remove(1).IsZero())
	assert.Equal(t, noon.Add(20*time.Minute), h.first())
}

func TestDecisionLogRulingOfDeniedNumber(t *testing.T) {
	t.Parallel()
	hit := &dnc.Match{ListID: "dnc_1", Origin: lists.Origin{Source: domain.DNCImport}}
	for name, c := range map[string]struct {
		denied numbers.NumberDenied
		ruling domain.Ruling
	}{
		"on a list":        {numbers.NumberDenied{Reason: numbers.DNC, Match: hit}, domain.Ruling{Rule: ruleDNC, Lists: []string{"dnc_1"}, Source: domain.DNCImport}},
		"called too often": {numbers.NumberDenied{Reason: numbers.Frequency, DayCount: 3, DayLimit: 3}, domain.Ruling{Rule: ruleFrequency, Count: 3, Limit: 3}},
		"in a call":        {numbers.NumberDenied{Reason: numbers.Busy}, domain.Ruling{Rule: ruleLine}},
		"not known":        {numbers.NumberDenied{Reason: numbers.Unknown}, domain.Ruling{Rule: ruleUnknown}},
	} {
		assert.Equal(t, c.ruling, rulingOfDenial(c.denied), name)
	}
}
