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

// detectsAnswerer reports whether answering machine detection runs in the conversation.
func (cfg *Config) detectsAnswerer() bool {
	return cfg.DetectAnswerer && cfg.Script.AMD.IsEnabled()
}

// decisionInputsOf returns what decisions about the answer depend on.
func decisionInputsOf(c *Conversation) situation {
	return situation{absent: c.agentPause.active, over: c.state.Over(), onMachine: c.cfg.Script.AMD.MachineAction()}
}

// answerEvent handles an event or a timer message of the answer detection. It returns false for other messages.
func (c *Conversation) answerEvent(ctx actor.Context, msg any) bool {
	a := &c.answer
	switch m := msg.(type) {
	case media.AnswerClassified:
		c.answerClassified(ctx, m.By)
	case media.Beep:
		if a.byWords == amd.Human { // a machine can say the words of a person
			a.byWords = amd.Unknown
			c.answerClassified(ctx, amd.Voicemail)
		}
		c.actOnAnswer(ctx, a.onBeep(c.cfg.Player.Position()))
		do, ok := a.endHold(decisionInputsOf(c))
		c.answerDecided(ctx, a.heldClass, do, ok)
	case media.GreetingEnded:
		c.actOnAnswer(ctx, a.onGreetingEnd())
		do, ok := a.endHold(decisionInputsOf(c))
		c.answerDecided(ctx, a.heldClass, do, ok)
	case answerTimeout:
		c.actOnAnswer(ctx, a.onVerdictTimeout(m))
	case wordsTimeout:
		do, ok := a.onWordsTimeout(m, decisionInputsOf(c))
		c.answerDecided(ctx, a.heldClass, do, ok)
	case beepTimeout:
		c.actOnAnswer(ctx, a.onBeepTimeout(m))
	case messageDue:
		c.actOnAnswer(ctx, a.onMessageDue(m))
	case greetingPaused:
		if !c.words.speaking && m.speech == c.words.speech {
			c.recognizeGreeting(ctx, silenceAtEnd)
		}
	case greetingRecognized:
		a.pending--
		c.classifyWords(ctx, m.text)
	default:
		return false
	}
	return true
}

// timerSet holds the functions that stop the timers of the answer detection.
type timerSet []func()

// start sends a timer message to the actor after a time, unless stop is called before.
func (t *timerSet) start(ctx actor.Context, d time.Duration, msg any) {
	*t = append(*t, mailbox.SendAfter(ctx, d, msg))
}

func (t *timerSet) stop() {
	for _, cancel := range *t {
		cancel()
	}
	*t = nil
}

// answerClassified reacts to a verdict by the sound of the answer.
func (c *Conversation) answerClassified(ctx actor.Context, by amd.Class) {
	do, ok := c.answer.onVerdict(by, decisionInputsOf(c))
	c.answerDecided(ctx, by, do, ok)
	if c.answer.held && by == amd.Voicemail {
		c.recognizeGreeting(ctx, 0)
	}
}

// answerDecided reports a decision about the answer, if ok is set, and executes its action. A beep that the decision has waited
// for follows.
func (c *Conversation) answerDecided(ctx actor.Context, by amd.Class, do answerAction, ok bool) {
	a := &c.answer
	if c.finished {
		return
	}
	if name := by.String(); ok && a.lastReported != name {
		a.lastReported = name
		ctx.Send(ctx.Parent(), AnswererDetected{By: name})
	}
	if ok && (by == amd.Human || by == amd.Unknown) {
		c.words.personAt = max(c.cfg.Player.Position(), 1)
	}
	c.actOnAnswer(ctx, do)
	c.settleTurnAfterVerdict(ctx)
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

// keyProvesPerson treats a pressed key as proof that a person answered.
func (c *Conversation) keyProvesPerson(ctx actor.Context) {
	if c.cfg.detectsAnswerer() {
		do, ok := c.answer.onKey(c.agentPause.active)
		c.answerDecided(ctx, amd.Human, do, ok)
	}
}

// actOnAnswer executes an action that the state machine of answer detection has returned.
func (c *Conversation) actOnAnswer(ctx actor.Context, do answerAction) {
	a := &c.answer
	if c.finished {
		return
	}
	switch do {
	case noAnswerAction:
	case beginPathway:
		c.beginPathway(ctx)
	case resumePathway:
		c.stopPrompt()
		c.agentPause.active = false
		if !a.pathwayBegun {
			c.beginPathway(ctx)
			return
		}
		c.restartSilence(ctx)
		c.advance(ctx, pathway.ResumeNode{})
	case awaitPerson:
		c.pauseAgent(ctx)
		c.answerTimers.start(ctx, maxConnectWait, answerTimeout{a.generation})
	case awaitWords:
		c.answerTimers.start(ctx, a.wordsWait(), wordsTimeout{a.generation})
	case awaitBeep:
		c.pauseAgent(ctx)
		c.answerTimers.start(ctx, maxBeepWait, beepTimeout{a.generation})
		if a.held {
			c.answerTimers.start(ctx, a.wordsWait(), wordsTimeout{a.generation})
		}
	case awaitAnotherBeep:
		c.stopPrompt()
		c.answerTimers.start(ctx, beepPause, messageDue{a.generation})
	case leaveMessage:
		c.speakMessage(ctx)
	case endCall:
		if !c.agentPause.active {
			c.pauseAgent(ctx)
		}
		c.endAtMachine(ctx, 0)
	}
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
