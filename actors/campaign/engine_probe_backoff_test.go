package campaign

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
)

func TestEngineProbesBackOffDuringOutage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	unable := &call.Ended{Verdict: domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonAgentUnavailable}, Call: domain.Call{AnsweredAt: &now}}
	busy := &call.Ended{Verdict: domain.Verdict{Outcome: domain.OutcomeBusy, Reason: domain.ReasonBusy}}
	good := &call.Ended{Verdict: domain.Verdict{Outcome: domain.OutcomeCompleted, Reason: domain.ReasonCompleted}, Call: domain.Call{AnsweredAt: &now}}
	var o engineOutage
	for _, wait := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 2 * time.Minute, 2 * time.Minute} {
		o.callEnded(unable, now)
		o.callEnded(unable, now.Add(time.Second)) // this call was live at the same time, so it is not counted again
		o.callEnded(busy, now.Add(time.Second))   // says nothing about the engines
		assert.Equal(t, now.Add(wait), o.until)
		now = o.until
	}
	assert.Equal(t, 6, o.failures)
	o.recovered = true
	o.callEnded(unable, now)
	assert.False(t, o.recovered, "they answered, and were of no use all the same")
	now = o.until
	o.callEnded(good, now)
	assert.Equal(t, engineOutage{}, o)
}
