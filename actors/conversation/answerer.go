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

// Answerer tells the call who has answered, as answered_by names it; again
// where that turns out otherwise.
type Answerer struct{ By string }

// gateLate lets the agent speak, whatever was heard; beepLate ends the wait for
// a beep.
type (
	gateLate struct{}
	beepLate struct{ generation int }
)

// Control: all of these are bound by the call.
func (Answerer) Control() {}
func (gateLate) Control() {}
func (beepLate) Control() {}

const (
	gateMost    = 6 * time.Second  // the verdict is there within 5
	beepMost    = 60 * time.Second // no greeting is longer
	wordsMost   = 20 * time.Second // until then words betray a machine
	messageNode = "voicemail"
)

type dropStage uint8

// The stages of a message that is left.
const (
	noDrop      dropStage = iota
	dropWaits             // for the beep, or the end of the greeting
	dropSpeaks            // the message is being said, before any beep
	dropRecords           // and behind one
	dropOver
)

// answering is what a conversation knows and does about who has answered.
type answering struct {
	begun      bool // the pathway has
	closed     bool // it waits until somebody knows who is there
	person     bool // a key was pressed: no sound tells otherwise
	told       string
	stage      dropStage
	generation int // of the wait for the beep
}

// begin starts the pathway, or waits until it is known who has answered.
func (c *Conversation) begin(ctx actor.Context) {
	a := c.cfg.Script.AMD
	if !c.cfg.Answerer || !a.On() {
		c.open(ctx)
		return
	}
	if a.Does() == domain.AMDMessage {
		if text, _, missing := c.state.Filled(a.Message); len(missing) == 0 {
			c.prepareText(ctx, text)
		}
	}
	if a.Mode != domain.AMDWait {
		c.open(ctx)
		return
	}
	c.answering.closed = true
	mailbox.After(ctx, gateMost, gateLate{})
}

// open lets the pathway begin, once; whoever is away hears it when he is back.
func (c *Conversation) open(ctx actor.Context) {
	c.answering.closed = false
	if c.answering.begun || c.finished || c.away {
		return
	}
	c.answering.begun = true
	c.step(ctx, pathway.Began{})
	c.listen(ctx)
}

// openLate opens the gate where it is closed.
func (c *Conversation) openLate(ctx actor.Context) {
	if c.answering.closed {
		c.open(ctx)
	}
}

// machine takes what is heard of who has answered; false: the event is about
// something else.
func (c *Conversation) machine(ctx actor.Context, e media.Event) bool {
	switch e := e.(type) {
	case media.Answerer:
		c.answererIs(ctx, e.By)
	case media.Beep: // the mailbox listens from here on, and to nothing that was said before
		if s := c.answering.stage; s == dropWaits || s == dropSpeaks {
			c.leaveMessage(ctx, dropRecords)
		}
	case media.GreetingOver:
		if c.answering.stage == dropWaits {
			c.leaveMessage(ctx, dropSpeaks)
		}
	default:
		return false
	}
	return true
}

// betrayed looks for words that only machines say, in the first seconds.
func (c *Conversation) betrayed(ctx actor.Context, text string) {
	if !c.cfg.Answerer || !c.cfg.Script.AMD.On() || c.cfg.Sound.Mark() > wordsMost {
		return
	}
	if by := amd.Words(text); by != amd.Unknown {
		c.answererIs(ctx, by)
	}
}

// answererIs acts on who has answered.
func (c *Conversation) answererIs(ctx actor.Context, by amd.Class) {
	a := &c.answering
	away := c.away && a.stage == noDrop // somebody else speaks with him, or he is on hold
	if c.finished || a.person || away && !a.closed || a.stage > dropWaits {
		return
	}
	c.tellAnswerer(ctx, by)
	if away { // he is being connected: what the pathway does begins once he is back
		a.closed = false
		return
	}
	action := c.cfg.Script.AMD.Does()
	switch {
	case a.stage == dropWaits && !by.Machine():
		c.takeUp(ctx)
	case a.stage == dropWaits && by != amd.Voicemail: // a fax, or nobody's telephone
		c.leaveMachine(ctx, 0)
	case a.stage == dropWaits:
	case !by.Machine() || action == "" || c.state.Over():
		c.openLate(ctx)
	case action == domain.AMDMessage && by == amd.Voicemail:
		c.goAway(ctx)
		a.closed, a.stage = false, dropWaits
		a.generation++
		mailbox.After(ctx, beepMost, beepLate{a.generation})
	default:
		c.goAway(ctx)
		c.leaveMachine(ctx, 0)
	}
}

func (c *Conversation) tellAnswerer(ctx actor.Context, by amd.Class) {
	if name := by.String(); c.answering.told != name {
		c.answering.told = name
		ctx.Send(ctx.Parent(), Answerer{By: name})
	}
}

// pressedKey: whoever presses a key is a person. No message is left to him, and
// the pathway goes on where it was.
func (c *Conversation) pressedKey(ctx actor.Context) {
	a := &c.answering
	if a.person || !c.cfg.Answerer || !c.cfg.Script.AMD.On() || a.stage == dropOver || c.away && a.stage == noDrop {
		return
	}
	a.person = true
	c.tellAnswerer(ctx, amd.Human)
	if a.stage != noDrop {
		c.takeUp(ctx)
	}
	c.openLate(ctx)
}

// takeUp takes the pathway up where the machine that is none interrupted it.
func (c *Conversation) takeUp(ctx actor.Context) {
	c.hush()
	c.answering.stage, c.away = noDrop, false
	c.answering.generation++
	if !c.answering.begun {
		c.open(ctx)
		return
	}
	c.listen(ctx)
	c.step(ctx, pathway.Resume{})
}

// beepTooLate leaves the message where neither a beep nor the end of the
// greeting was heard.
func (c *Conversation) beepTooLate(ctx actor.Context, m beepLate) {
	if m.generation == c.answering.generation && c.answering.stage == dropWaits {
		c.leaveMessage(ctx, dropSpeaks)
	}
}

// leaveMessage says the message from its beginning.
func (c *Conversation) leaveMessage(ctx actor.Context, as dropStage) {
	if c.finished {
		return
	}
	c.hush()
	first := c.answering.stage == dropWaits
	c.answering.stage = as
	text, shown, missing := c.state.Filled(c.cfg.Script.AMD.Message)
	if first {
		for _, name := range missing {
			c.cfg.Log.Warn("a message lacks a variable", slog.String("variable", name))
			ctx.Send(ctx.Parent(), Fault{
				Stage: "pathway", Code: "missing_variable", Message: "amd.message needs the variable " + name + ", which has no value", Recovered: true,
			})
		}
	}
	c.asked = pathway.Say{Node: messageNode, Text: text, Shown: shown, Sensitive: text != shown}
	c.utter(ctx, text)
}

// leaveAgain says the message anew where it was cut off by a hold.
func (c *Conversation) leaveAgain(ctx actor.Context) {
	if s := c.answering.stage; s == dropSpeaks || s == dropRecords {
		c.leaveMessage(ctx, s)
	}
}

// leaveMachine ends the call.
func (c *Conversation) leaveMachine(ctx actor.Context, after time.Duration) {
	c.answering.stage = dropOver
	c.supersede()
	c.state, _ = pathway.Step(c.state, pathway.Hangup{})
	m := Over{Outcome: domain.OutcomeVoicemail}
	if after == 0 {
		ctx.Send(ctx.Parent(), m)
		return
	}
	mailbox.After(ctx, after, over{m})
}
