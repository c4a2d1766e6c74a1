package conversation

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/amd"
)

// detectsAnswerer reports whether answering machine detection runs in this conversation.
func (c *Conversation) detectsAnswerer() bool {
	return c.cfg.DetectAnswerer && c.cfg.Script.AMD.IsEnabled()
}

// answerSituation returns what decisions about the answer depend on.
func (c *Conversation) answerSituation() situation {
	return situation{absent: c.agentPause.active, over: c.state.Over(), onMachine: c.cfg.Script.AMD.MachineAction()}
}

// answerEvent handles an event of the media session about the answer.
func (c *Conversation) answerEvent(ctx actor.Context, e media.Event) {
	if c.finished {
		return
	}
	switch e := e.(type) {
	case media.AnswerClassified:
		c.answerClassified(ctx, e.By)
	case media.Beep:
		c.actOnAnswer(ctx, c.answer.onBeep(c.cfg.Player.Position()))
		c.endAnswerHold(ctx)
	case media.GreetingEnded:
		c.actOnAnswer(ctx, c.answer.onGreetingEnd())
		c.endAnswerHold(ctx)
	}
}

// answerTimer handles a timer message of the answer detection. It returns false for other messages.
func (c *Conversation) answerTimer(ctx actor.Context, msg any) bool {
	switch m := msg.(type) {
	case answerTimeout:
		c.actOnAnswer(ctx, c.answer.onVerdictTimeout(m))
	case wordsTimeout:
		do, ok := c.answer.onWordsTimeout(m, c.answerSituation())
		c.answerDecided(ctx, c.answer.heldClass, do, ok)
	case beepTimeout:
		c.actOnAnswer(ctx, c.answer.onBeepTimeout(m))
	case messageDue:
		c.actOnAnswer(ctx, c.answer.onMessageDue(m))
	case greetingPaused:
		c.greetingPaused(ctx, m)
	case greetingRecognized:
		c.greetingRecognized(ctx, m)
	default:
		return false
	}
	return true
}

// startAnswerTimer sends a timer message of the answer detection after a time, unless the call ends before.
func (c *Conversation) startAnswerTimer(ctx actor.Context, d time.Duration, msg any) {
	c.answerTimers = append(c.answerTimers, mailbox.SendAfter(ctx, d, msg))
}

// stopAnswerDetection stops all timers and recognitions of the answer detection.
func (c *Conversation) stopAnswerDetection() {
	for _, cancel := range c.answerTimers {
		cancel()
	}
	c.answerTimers = nil
	c.stopListeningToGreeting(false)
}

// answerClassified reacts to a verdict by the sound of the answer.
func (c *Conversation) answerClassified(ctx actor.Context, by amd.Class) {
	do, ok := c.answer.onVerdict(by, c.answerSituation())
	c.answerDecided(ctx, by, do, ok)
	if c.answer.held && by == amd.Voicemail {
		c.recognizeGreeting(ctx)
	}
}

// answerDecided reports a decision about the answer, if ok is set, and executes its action. A beep that the decision has waited
// for follows.
func (c *Conversation) answerDecided(ctx actor.Context, by amd.Class, do answerAction, ok bool) {
	if c.finished {
		return
	}
	if ok {
		c.reportAnswerer(ctx, by)
		if by == amd.Human || by == amd.Unknown {
			c.words.personAt = max(c.cfg.Player.Position(), 1)
		}
	}
	c.actOnAnswer(ctx, do)
	a := &c.answer
	if a.held {
		return
	}
	beep, over := a.heldBeep, a.heldOver
	a.heldBeep, a.heldOver = false, false
	if beep {
		c.actOnAnswer(ctx, a.onBeep(c.cfg.Player.Position()))
	} else if over {
		c.actOnAnswer(ctx, a.onGreetingEnd())
	}
}

// endAnswerHold decides by a held verdict if its words are known and the greeting has ended.
func (c *Conversation) endAnswerHold(ctx actor.Context) {
	do, ok := c.answer.endHold(c.answerSituation())
	if ok || do != noAnswerAction {
		c.answerDecided(ctx, c.answer.heldClass, do, ok)
	}
}

// answeredByKey treats a pressed key as proof that a person answered.
func (c *Conversation) answeredByKey(ctx actor.Context) {
	if !c.detectsAnswerer() {
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
	a := &c.answer
	switch do {
	case noAnswerAction:
	case beginPathway:
		c.beginPathway(ctx)
	case resumePathway:
		c.resumeAtPerson(ctx)
	case awaitPerson:
		c.pauseAgent(ctx)
		c.startAnswerTimer(ctx, maxConnectWait, answerTimeout{a.generation})
	case awaitWords:
		c.startAnswerTimer(ctx, a.wordsWait(), wordsTimeout{a.generation})
	case awaitBeep:
		c.pauseAgent(ctx)
		c.startAnswerTimer(ctx, maxBeepWait, beepTimeout{a.generation})
		if a.held {
			c.startAnswerTimer(ctx, a.wordsWait(), wordsTimeout{a.generation})
		}
	case awaitAnotherBeep:
		c.stopPrompt()
		c.startAnswerTimer(ctx, beepPause, messageDue{a.generation})
	case leaveMessage:
		c.speakMessage(ctx)
	case endCall:
		if !c.agentPause.active {
			c.pauseAgent(ctx)
		}
		c.endAtMachine(ctx, 0)
	}
}

// resumeAtPerson starts or continues the pathway, because the supposed machine is a person.
func (c *Conversation) resumeAtPerson(ctx actor.Context) {
	c.stopPrompt()
	c.agentPause.active = false
	if !c.answer.pathwayBegun {
		c.beginPathway(ctx)
		return
	}
	c.restartSilence(ctx)
	c.advance(ctx, pathway.ResumeNode{})
}

// speakMessage speaks the voicemail message from its beginning. The first time, it reports variables without a value.
func (c *Conversation) speakMessage(ctx actor.Context) {
	if c.finished {
		return
	}
	c.stopPrompt()
	text, shown, missing := c.state.FillText(c.cfg.Script.AMD.Message)
	if !c.answer.messageBegun {
		for _, name := range missing {
			c.cfg.Log.Warn("variable of the voicemail message has no value", slog.String("variable", name))
			ctx.Send(ctx.Parent(), Fault{
				Stage: "pathway", Code: "missing_variable", Message: "amd.message needs the variable " + name + ", which has no value", Recovered: true,
			})
		}
	}
	c.answer.messageBegun = true
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
