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

// AnswererDetected reports to the call who has answered, as answered_by names it; again when that turns out otherwise.
type AnswererDetected struct{ By string }

type (
	answerTimeout struct{}                 // the agent speaks, whatever was detected
	beepTimeout   struct{ generation int } // ends the wait for a beep
)

// Control: all of these are bound by the call.
func (AnswererDetected) Control() {}
func (answerTimeout) Control()    {}
func (beepTimeout) Control()      {}

const (
	answerMost  = 6 * time.Second  // the verdict is there within 5
	beepMost    = 60 * time.Second // no greeting is longer
	wordsMost   = 20 * time.Second // until then words reveal a machine
	messageNode = "voicemail"
)

// messageStage is how far a voicemail message has come.
type messageStage uint8

const (
	noMessage         messageStage = iota
	messageAwaitsBeep              // or the end of the greeting
	messageBeforeBeep              // it is being said, before any beep
	messageAfterBeep               // it is being said, after a beep
	messageOver
)

// answerAction is what the conversation does about who has answered.
type answerAction uint8

const (
	noAnswerAction answerAction = iota
	beginPathway                // that has waited for the verdict
	resumePathway               // that was interrupted for a machine, which is none
	awaitBeep                   // and say nothing
	leaveMessage                // from its beginning
	repeatMessage               // from its beginning again
	endCall                     // no message is left
)

// answerDetection decides what happens about who has answered. It is a state machine: each event returns the action.
type answerDetection struct {
	pathwayBegun bool
	gated        bool // the pathway waits until it is known who has answered
	person       bool // a key was pressed: no detection overrules that
	reported     string
	stage        messageStage
	generation   int // of the wait for the beep
}

// hasMachine says whether a machine has answered that a message is left to.
func (a *answerDetection) hasMachine() bool { return a.stage != noMessage }

// classified takes a verdict. absent: somebody else has the caller; over: the pathway has ended. false: the verdict does not
// count.
func (a *answerDetection) classified(by amd.Class, absent, over bool, onMachine string) (answerAction, bool) {
	absent = absent && !a.hasMachine()
	switch {
	case a.person || absent && !a.gated || a.stage > messageAwaitsBeep:
		return noAnswerAction, false
	case absent: // the caller is being connected: the pathway begins once the agent has the caller back
		a.gated = false
		return noAnswerAction, true
	case a.stage == messageAwaitsBeep && !by.Machine():
		return a.resume(), true
	case a.stage == messageAwaitsBeep && by != amd.Voicemail: // a fax, or an announcement of the network
		return endCall, true
	case a.stage == messageAwaitsBeep:
		return noAnswerAction, true
	case !by.Machine() || onMachine == "" || over:
		return a.verdictLate(), true
	case onMachine == domain.AMDMessage && by == amd.Voicemail:
		a.gated, a.stage = false, messageAwaitsBeep
		a.generation++
		return awaitBeep, true
	}
	return endCall, true
}

// verdictLate begins the pathway that waits for a verdict.
func (a *answerDetection) verdictLate() answerAction {
	if a.gated {
		return beginPathway
	}
	return noAnswerAction
}

// keyPressed notes that a person has answered: only a person presses keys. false: it is known, or not of interest.
func (a *answerDetection) keyPressed(absent bool) (answerAction, bool) {
	if a.person || a.stage == messageOver || absent && !a.hasMachine() {
		return noAnswerAction, false
	}
	a.person = true
	if a.hasMachine() {
		return a.resume(), true
	}
	return a.verdictLate(), true
}

func (a *answerDetection) resume() answerAction {
	a.stage = noMessage
	a.generation++
	return resumePathway
}

// beep says the message from here on: the mailbox records nothing that was said before.
func (a *answerDetection) beep() answerAction {
	switch a.stage {
	case messageAwaitsBeep:
		a.stage = messageAfterBeep
		return leaveMessage
	case messageBeforeBeep:
		a.stage = messageAfterBeep
		return repeatMessage
	case noMessage, messageAfterBeep, messageOver:
	}
	return noAnswerAction
}

// greetingOver leaves the message where no beep was heard so far.
func (a *answerDetection) greetingOver() answerAction {
	if a.stage != messageAwaitsBeep {
		return noAnswerAction
	}
	a.stage = messageBeforeBeep
	return leaveMessage
}

// beepLate leaves the message where neither a beep nor the end of the greeting was heard.
func (a *answerDetection) beepLate(m beepTimeout) answerAction {
	if m.generation != a.generation {
		return noAnswerAction
	}
	return a.greetingOver()
}

// holdEnded repeats the message that was cut off by a hold.
func (a *answerDetection) holdEnded() answerAction {
	if a.stage == messageBeforeBeep || a.stage == messageAfterBeep {
		return repeatMessage
	}
	return noAnswerAction
}

// checkMachineWords looks for words that only machines say, in the first seconds.
func (c *Conversation) checkMachineWords(ctx actor.Context, text string) {
	if !c.cfg.DetectAnswerer || !c.cfg.Script.AMD.On() || c.cfg.Player.Mark() > wordsMost {
		return
	}
	if by := amd.Words(text); by != amd.Unknown {
		c.answerClassified(ctx, by)
	}
}

// answerClassified acts on a verdict about who has answered.
func (c *Conversation) answerClassified(ctx actor.Context, by amd.Class) {
	if c.finished {
		return
	}
	if do, ok := c.answer.classified(by, c.absence.on, c.state.Over(), c.cfg.Script.AMD.Does()); ok {
		c.reportAnswerer(ctx, by)
		c.actOnAnswer(ctx, do)
	}
}

// answeredByKey acts on a key as a sign that a person has answered.
func (c *Conversation) answeredByKey(ctx actor.Context) {
	if !c.cfg.DetectAnswerer || !c.cfg.Script.AMD.On() {
		return
	}
	if do, ok := c.answer.keyPressed(c.absence.on); ok {
		c.reportAnswerer(ctx, amd.Human)
		c.actOnAnswer(ctx, do)
	}
}

func (c *Conversation) reportAnswerer(ctx actor.Context, by amd.Class) {
	if name := by.String(); c.answer.reported != name {
		c.answer.reported = name
		ctx.Send(ctx.Parent(), AnswererDetected{By: name})
	}
}

// actOnAnswer does what answer detection has decided.
func (c *Conversation) actOnAnswer(ctx actor.Context, do answerAction) {
	switch do {
	case noAnswerAction:
	case beginPathway:
		c.beginPathway(ctx)
	case resumePathway:
		c.stopPrompt()
		c.absence.on = false
		if !c.answer.pathwayBegun {
			c.beginPathway(ctx)
			return
		}
		c.restartSilence(ctx)
		c.advance(ctx, pathway.Resume{})
	case awaitBeep:
		c.leaveCaller(ctx)
		mailbox.SendAfter(ctx, beepMost, beepTimeout{c.answer.generation})
	case leaveMessage, repeatMessage:
		c.speakMessage(ctx, do == leaveMessage)
	case endCall:
		if !c.absence.on {
			c.leaveCaller(ctx)
		}
		c.endAtMachine(ctx, 0)
	}
}

// speakMessage says the voicemail message from its beginning. first: variables without a value are reported.
func (c *Conversation) speakMessage(ctx actor.Context, first bool) {
	if c.finished {
		return
	}
	c.stopPrompt()
	text, shown, missing := c.state.Filled(c.cfg.Script.AMD.Message)
	if first {
		for _, name := range missing {
			c.cfg.Log.Warn("a message lacks a variable", slog.String("variable", name))
			ctx.Send(ctx.Parent(), Fault{
				Stage: "pathway", Code: "missing_variable", Message: "amd.message needs the variable " + name + ", which has no value", Recovered: true,
			})
		}
	}
	c.speak(ctx, pathway.Say{Node: messageNode, Text: text, Shown: shown, Sensitive: text != shown})
}

// endAtMachine ends the call after some time.
func (c *Conversation) endAtMachine(ctx actor.Context, after time.Duration) {
	c.answer.stage = messageOver
	c.input.supersede()
	c.state, _ = pathway.Step(c.state, pathway.Hangup{})
	m := PathwayEnded{Outcome: domain.OutcomeVoicemail}
	if after == 0 {
		ctx.Send(ctx.Parent(), m)
		return
	}
	mailbox.SendAfter(ctx, after, delayedOver{m})
}
