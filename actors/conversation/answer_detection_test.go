package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media/amd"
)

func TestAnswerDetectionDecidesByStageAndVerdict(t *testing.T) {
	t.Parallel()
	type event struct {
		before       answerDetection
		by           amd.Class
		absent, over bool
		onMachine    string
	}
	for name, c := range map[string]struct {
		event
		do     answerAction
		counts bool
		stage  messageStage
	}{
		"a person, and the pathway waits":         {event{before: answerDetection{waitsForVerdict: true}, by: amd.Human}, beginPathway, true, noMessage},
		"a person, and the pathway runs":          {event{by: amd.Human}, noAnswerAction, true, noMessage},
		"a machine, and nothing is to be done":    {event{before: answerDetection{waitsForVerdict: true}, by: amd.Voicemail}, beginPathway, true, noMessage},
		"voicemail, and the call is to end":       {event{by: amd.Voicemail, onMachine: domain.AMDHangup}, endCall, true, noMessage},
		"voicemail that gets a message":           {event{by: amd.Voicemail, onMachine: domain.AMDMessage}, awaitBeep, true, messageAwaitsBeep},
		"a fax that cannot get a message":         {event{by: amd.Fax, onMachine: domain.AMDMessage}, endCall, true, noMessage},
		"a machine after the pathway's end":       {event{by: amd.Voicemail, over: true, onMachine: domain.AMDHangup}, noAnswerAction, true, noMessage},
		"a person, before the beep":               {event{before: answerDetection{stage: messageAwaitsBeep}, by: amd.Human, absent: true}, resumePathway, true, noMessage},
		"a fax, before the beep":                  {event{before: answerDetection{stage: messageAwaitsBeep}, by: amd.Fax, absent: true}, endCall, true, messageAwaitsBeep},
		"voicemail again, before the beep":        {event{before: answerDetection{stage: messageAwaitsBeep}, by: amd.Voicemail, absent: true}, noAnswerAction, true, messageAwaitsBeep},
		"a person, while the message is said":     {event{before: answerDetection{stage: messageBeforeBeep}, by: amd.Human, absent: true}, noAnswerAction, false, messageBeforeBeep},
		"a machine after a key":                   {event{before: answerDetection{isPerson: true}, by: amd.Voicemail, onMachine: domain.AMDHangup}, noAnswerAction, false, noMessage},
		"a machine on hold":                       {event{by: amd.Voicemail, absent: true, onMachine: domain.AMDHangup}, noAnswerAction, false, noMessage},
		"a verdict on hold, as the pathway waits": {event{before: answerDetection{waitsForVerdict: true}, by: amd.Voicemail, absent: true, onMachine: domain.AMDHangup}, noAnswerAction, true, noMessage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.before
			do, counts := a.onVerdict(c.by, situation{c.absent, c.over, c.onMachine})
			assert.Equal(t, c.do, do)
			assert.Equal(t, c.counts, counts)
			assert.Equal(t, c.stage, a.stage)
		})
	}
}

func TestVoicemailMessageStartsAtBeepOrEndOfGreeting(t *testing.T) {
	t.Parallel()
	beepAt := func(at time.Duration) func(a *answerDetection) answerAction {
		return func(a *answerDetection) answerAction { return a.onBeep(at) }
	}
	for name, c := range map[string]struct {
		stage messageStage
		event func(a *answerDetection) answerAction
		do    answerAction
		after messageStage
	}{
		"the beep":                       {messageAwaitsBeep, beepAt(time.Second), awaitAnotherBeep, messageAfterBeep},
		"the end of the greeting":        {messageAwaitsBeep, (*answerDetection).onGreetingEnd, leaveMessage, messageBeforeBeep},
		"neither in time":                {messageAwaitsBeep, func(a *answerDetection) answerAction { return a.onBeepTimeout(beepTimeout{}) }, leaveMessage, messageBeforeBeep},
		"the timeout of an earlier wait": {messageAwaitsBeep, func(a *answerDetection) answerAction { return a.onBeepTimeout(beepTimeout{1}) }, noAnswerAction, messageAwaitsBeep},
		"a beep during the message":      {messageBeforeBeep, beepAt(time.Second), awaitAnotherBeep, messageAfterBeep},
		"a second beep":                  {messageAfterBeep, beepAt(5 * time.Second), awaitAnotherBeep, messageAfterBeep},
		"a beep during a long message":   {messageAfterBeep, beepAt(6 * time.Second), noAnswerAction, messageAfterBeep},
		"a beep without a message":       {noMessage, beepAt(time.Second), noAnswerAction, noMessage},
		"the pause after a beep":         {messageAfterBeep, func(a *answerDetection) answerAction { return a.onMessageDue(messageDue{}) }, leaveMessage, messageAfterBeep},
		"the pause after another beep":   {messageAfterBeep, func(a *answerDetection) answerAction { return a.onMessageDue(messageDue{1}) }, noAnswerAction, messageAfterBeep},
		"the end of a hold":              {messageAfterBeep, (*answerDetection).onHoldEnd, leaveMessage, messageAfterBeep},
		"the end of an earlier hold":     {messageAwaitsBeep, (*answerDetection).onHoldEnd, noAnswerAction, messageAwaitsBeep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := answerDetection{stage: c.stage}
			assert.Equal(t, c.do, c.event(&a))
			assert.Equal(t, c.after, a.stage)
		})
	}
}

func TestKeyPressMeansPersonOnce(t *testing.T) {
	t.Parallel()
	a := answerDetection{stage: messageBeforeBeep}
	do, counts := a.onKey(true)
	assert.Equal(t, resumePathway, do)
	assert.True(t, counts)
	assert.False(t, a.hasMachine())
	_, counts = a.onKey(false)
	assert.False(t, counts)

	a = answerDetection{waitsForVerdict: true}
	_, counts = a.onKey(true)
	assert.False(t, counts, "the agent is paused")
	do, _ = a.onKey(false)
	assert.Equal(t, beginPathway, do)
}
