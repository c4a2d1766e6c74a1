package conversation

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/amd"
)

// AnswererDetected reports to the call actor whether a person or a machine answered, as in the API field answered_by. It is
// sent again if the result changes.
type AnswererDetected struct{ By string }

type (
	answerTimeout struct{}                 // the pathway starts without a verdict
	beepTimeout   struct{ generation int } // the wait for a beep ends
)

// Control implements mailbox.Control: a full mailbox accepts this message. One call causes a limited number of them.
func (AnswererDetected) Control() {}
func (answerTimeout) Control()    {}
func (beepTimeout) Control()      {}

const (
	maxVerdictWait     = 6 * time.Second  // answering machine detection decides within 5 s
	maxBeepWait        = 60 * time.Second // longer than any greeting
	machineWordsWindow = 20 * time.Second // time in which words of an announcement reveal a machine
	messageNode        = "voicemail"
)

// messageStage is the progress of leaving a voicemail message.
type messageStage uint8

const (
	noMessage         messageStage = iota
	messageAwaitsBeep              // the agent waits for the beep or the end of the greeting
	messageBeforeBeep              // the message is being spoken, and no beep was heard so far
	messageAfterBeep               // the message is being spoken after a beep
	messageDone
)

// answerAction is the reaction of the conversation to an event of answer detection.
type answerAction uint8

const (
	noAnswerAction answerAction = iota
	beginPathway                // start the pathway, which waited for the verdict
	resumePathway               // continue the pathway: the supposed machine is a person
	awaitBeep                   // stay silent until the beep
	leaveMessage                // speak the message from its beginning
	repeatMessage               // speak the message from its beginning again
	endCall                     // end the call without a message
)

// answerDetection decides how the conversation reacts when a person or a machine has answered. It is a state machine: each
// event returns an action.
type answerDetection struct {
	pathwayBegun    bool
	waitsForVerdict bool // the pathway waits for the verdict
	isPerson        bool // a key was pressed; later verdicts are ignored
	lastReported    string
	stage           messageStage
	generation      int // number of the current wait for the beep
}

// hasMachine reports whether a machine has answered and the agent leaves a voicemail message.
func (a *answerDetection) hasMachine() bool { return a.stage != noMessage }

// onVerdict handles a result of answering machine detection. absent says that the agent is paused, over that the pathway has
// ended. onVerdict returns false if it ignores the result.
func (a *answerDetection) onVerdict(by amd.Class, absent, over bool, onMachine string) (answerAction, bool) {
	absent = absent && !a.hasMachine()
	switch {
	case a.isPerson || absent && !a.waitsForVerdict || a.stage > messageAwaitsBeep:
		return noAnswerAction, false
	case absent: // the caller is being transferred: the pathway starts when the agent resumes
		a.waitsForVerdict = false
		return noAnswerAction, true
	case a.stage == messageAwaitsBeep && !by.Machine():
		return a.resume(), true
	case a.stage == messageAwaitsBeep && by != amd.Voicemail: // a fax or a network announcement
		return endCall, true
	case a.stage == messageAwaitsBeep:
		return noAnswerAction, true
	case !by.Machine() || onMachine == "" || over:
		return a.onVerdictTimeout(), true
	case onMachine == domain.AMDMessage && by == amd.Voicemail:
		a.waitsForVerdict, a.stage = false, messageAwaitsBeep
		a.generation++
		return awaitBeep, true
	}
	return endCall, true
}

// onVerdictTimeout starts a pathway that has waited too long for the result of answering machine detection.
func (a *answerDetection) onVerdictTimeout() answerAction {
	if a.waitsForVerdict {
		return beginPathway
	}
	return noAnswerAction
}

// onKey handles a pressed key, which proves that a person answered. It returns false if nothing changes.
func (a *answerDetection) onKey(absent bool) (answerAction, bool) {
	if a.isPerson || a.stage == messageDone || absent && !a.hasMachine() {
		return noAnswerAction, false
	}
	a.isPerson = true
	if a.hasMachine() {
		return a.resume(), true
	}
	return a.onVerdictTimeout(), true
}

func (a *answerDetection) resume() answerAction {
	a.stage = noMessage
	a.generation++
	return resumePathway
}

// onBeep starts the voicemail message from its beginning at the beep, because the mailbox does not record earlier audio.
func (a *answerDetection) onBeep() answerAction {
	switch a.stage {
	case messageAwaitsBeep:
		a.stage = messageAfterBeep
		return leaveMessage
	case messageBeforeBeep:
		a.stage = messageAfterBeep
		return repeatMessage
	case noMessage, messageAfterBeep, messageDone:
	}
	return noAnswerAction
}

// onGreetingEnd starts the voicemail message at the end of the greeting if no beep was heard so far.
func (a *answerDetection) onGreetingEnd() answerAction {
	if a.stage != messageAwaitsBeep {
		return noAnswerAction
	}
	a.stage = messageBeforeBeep
	return leaveMessage
}

// onBeepTimeout starts the voicemail message if neither a beep nor the end of the greeting was heard in time.
func (a *answerDetection) onBeepTimeout(m beepTimeout) answerAction {
	if m.generation != a.generation {
		return noAnswerAction
	}
	return a.onGreetingEnd()
}

// onHoldEnd repeats a voicemail message that was interrupted while the call was on hold.
func (a *answerDetection) onHoldEnd() answerAction {
	if a.stage == messageBeforeBeep || a.stage == messageAfterBeep {
		return repeatMessage
	}
	return noAnswerAction
}

// checkMachineWords detects an answering machine by typical words in the first seconds of the call.
func (c *Conversation) checkMachineWords(ctx actor.Context, text string) {
	if !c.cfg.DetectAnswerer || !c.cfg.Script.AMD.IsEnabled() || c.cfg.Player.Position() > machineWordsWindow {
		return
	}
	if by := amd.ClassifyWords(text); by != amd.Unknown {
		c.answerClassified(ctx, by)
	}
}

// answerClassified reacts to a result of answering machine detection.
func (c *Conversation) answerClassified(ctx actor.Context, by amd.Class) {
	if c.finished {
		return
	}
	if do, ok := c.answer.onVerdict(by, c.agentPause.active, c.state.Over(), c.cfg.Script.AMD.MachineAction()); ok {
		c.reportAnswerer(ctx, by)
		c.actOnAnswer(ctx, do)
	}
}

// answeredByKey treats a pressed key as proof that a person answered.
func (c *Conversation) answeredByKey(ctx actor.Context) {
	if !c.cfg.DetectAnswerer || !c.cfg.Script.AMD.IsEnabled() {
		return
	}
	if do, ok := c.answer.onKey(c.agentPause.active); ok {
		c.reportAnswerer(ctx, amd.Human)
		c.actOnAnswer(ctx, do)
	}
}

func (c *Conversation) reportAnswerer(ctx actor.Context, by amd.Class) {
	if name := by.String(); c.answer.lastReported != name {
		c.answer.lastReported = name
		ctx.Send(ctx.Parent(), AnswererDetected{By: name})
	}
}

// actOnAnswer executes an action that the state machine of answer detection has returned.
func (c *Conversation) actOnAnswer(ctx actor.Context, do answerAction) {
	switch do {
	case noAnswerAction:
	case beginPathway:
		c.beginPathway(ctx)
	case resumePathway:
		c.stopPrompt()
		c.agentPause.active = false
		if !c.answer.pathwayBegun {
			c.beginPathway(ctx)
			return
		}
		c.restartSilence(ctx)
		c.advance(ctx, pathway.ResumeNode{})
	case awaitBeep:
		c.pauseAgent(ctx)
		mailbox.SendAfter(ctx, maxBeepWait, beepTimeout{c.answer.generation})
	case leaveMessage, repeatMessage:
		c.speakMessage(ctx, do == leaveMessage)
	case endCall:
		if !c.agentPause.active {
			c.pauseAgent(ctx)
		}
		c.endAtMachine(ctx, 0)
	}
}

// speakMessage speaks the voicemail message from its beginning. If first is set, it reports variables without a value.
func (c *Conversation) speakMessage(ctx actor.Context, first bool) {
	if c.finished {
		return
	}
	c.stopPrompt()
	text, shown, missing := c.state.FillText(c.cfg.Script.AMD.Message)
	if first {
		for _, name := range missing {
			c.cfg.Log.Warn("variable of the voicemail message has no value", slog.String("variable", name))
			ctx.Send(ctx.Parent(), Fault{
				Stage: "pathway", Code: "missing_variable", Message: "amd.message needs the variable " + name + ", which has no value", Recovered: true,
			})
		}
	}
	c.speak(ctx, pathway.Say{Node: messageNode, Text: text, Shown: shown, Sensitive: text != shown})
}

// endAtMachine ends a call that a machine has answered, after a delay.
func (c *Conversation) endAtMachine(ctx actor.Context, after time.Duration) {
	c.answer.stage = messageDone
	c.input.supersede()
	c.state, _ = pathway.Step(c.state, pathway.Hangup{})
	m := PathwayEnded{Outcome: domain.OutcomeVoicemail}
	if after == 0 {
		ctx.Send(ctx.Parent(), m)
		return
	}
	mailbox.SendAfter(ctx, after, delayedEnd{m})
}
