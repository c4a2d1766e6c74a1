package conversation

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media/amd"
)

func TestAnswerDetectionDecidesByStageAndVerdict(t *testing.T) {
	t.Parallel()
	type situation struct {
		before       answerDetection
		by           amd.Class
		absent, over bool
		onMachine    string
	}
	for name, c := range map[string]struct {
		situation
		do     answerAction
		counts bool
		stage  messageStage
	}{
		"a person, and the pathway waits":         {situation{before: answerDetection{waitsForVerdict: true}, by: amd.Human}, beginPathway, true, noMessage},
		"a person, and the pathway runs":          {situation{by: amd.Human}, noAnswerAction, true, noMessage},
		"a machine, and nothing is to be done":    {situation{before: answerDetection{waitsForVerdict: true}, by: amd.Voicemail}, beginPathway, true, noMessage},
		"voicemail, and the call is to end":       {situation{by: amd.Voicemail, onMachine: domain.AMDHangup}, endCall, true, noMessage},
		"voicemail that gets a message":           {situation{by: amd.Voicemail, onMachine: domain.AMDMessage}, awaitBeep, true, messageAwaitsBeep},
		"a fax that cannot get a message":         {situation{by: amd.Fax, onMachine: domain.AMDMessage}, endCall, true, noMessage},
		"a machine after the pathway's end":       {situation{by: amd.Voicemail, over: true, onMachine: domain.AMDHangup}, noAnswerAction, true, noMessage},
		"a person, before the beep":               {situation{before: answerDetection{stage: messageAwaitsBeep}, by: amd.Human, absent: true}, resumePathway, true, noMessage},
		"a fax, before the beep":                  {situation{before: answerDetection{stage: messageAwaitsBeep}, by: amd.Fax, absent: true}, endCall, true, messageAwaitsBeep},
		"voicemail again, before the beep":        {situation{before: answerDetection{stage: messageAwaitsBeep}, by: amd.Voicemail, absent: true}, noAnswerAction, true, messageAwaitsBeep},
		"a person, while the message is said":     {situation{before: answerDetection{stage: messageBeforeBeep}, by: amd.Human, absent: true}, noAnswerAction, false, messageBeforeBeep},
		"a machine after a key":                   {situation{before: answerDetection{isPerson: true}, by: amd.Voicemail, onMachine: domain.AMDHangup}, noAnswerAction, false, noMessage},
		"a machine on hold":                       {situation{by: amd.Voicemail, absent: true, onMachine: domain.AMDHangup}, noAnswerAction, false, noMessage},
		"a verdict on hold, as the pathway waits": {situation{before: answerDetection{waitsForVerdict: true}, by: amd.Voicemail, absent: true, onMachine: domain.AMDHangup}, noAnswerAction, true, noMessage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.before
			do, counts := a.onVerdict(c.by, c.absent, c.over, c.onMachine)
			assert.Equal(t, c.do, do)
			assert.Equal(t, c.counts, counts)
			assert.Equal(t, c.stage, a.stage)
		})
	}
}

func TestVoicemailMessageStartsAtBeepOrEndOfGreeting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stage messageStage
		event func(a *answerDetection) answerAction
		do    answerAction
		after messageStage
	}{
		"the beep":                       {messageAwaitsBeep, (*answerDetection).onBeep, leaveMessage, messageAfterBeep},
		"the end of the greeting":        {messageAwaitsBeep, (*answerDetection).onGreetingEnd, leaveMessage, messageBeforeBeep},
		"neither in time":                {messageAwaitsBeep, func(a *answerDetection) answerAction { return a.onBeepTimeout(beepTimeout{}) }, leaveMessage, messageBeforeBeep},
		"the timeout of an earlier wait": {messageAwaitsBeep, func(a *answerDetection) answerAction { return a.onBeepTimeout(beepTimeout{1}) }, noAnswerAction, messageAwaitsBeep},
		"a beep during the message":      {messageBeforeBeep, (*answerDetection).onBeep, repeatMessage, messageAfterBeep},
		"a second beep":                  {messageAfterBeep, (*answerDetection).onBeep, noAnswerAction, messageAfterBeep},
		"a beep without a message":       {noMessage, (*answerDetection).onBeep, noAnswerAction, noMessage},
		"the end of a hold":              {messageAfterBeep, (*answerDetection).onHoldEnd, repeatMessage, messageAfterBeep},
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
