package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/pathway"
)

// besideMost bounds the texts that wait to be said besides the pathway.
const besideMost = 8

// beside is what is said besides the pathway.
type beside struct {
	texts []string
	busy  bool          // a prompt is being spoken, or digits are being sent
	on    bool          // a text of ours is being spoken
	then  pathway.Input // what the pathway hears afterwards; nil: nothing
	wait  time.Duration // of the collect that stands; 0: none
}

// speakBeside says a text between what the pathway says.
func (c *Conversation) speakBeside(ctx actor.Context, text string) {
	if c.finished || c.away || c.state.Over() || len(c.beside.texts) >= besideMost {
		return
	}
	c.beside.texts = append(c.beside.texts, text)
	if !c.beside.busy && !c.beside.on {
		c.nextBeside(ctx, nil)
	}
}

// nextBeside says the next text that waits; then is what the pathway waits for.
func (c *Conversation) nextBeside(ctx actor.Context, then pathway.Input) bool {
	b := &c.beside
	if len(b.texts) == 0 {
		return false
	}
	text := b.texts[0]
	b.texts, b.on, b.then = b.texts[1:], true, then
	c.asked = pathway.Say{Node: "say", Text: text, Shown: text}
	c.utter(ctx, text)
	return true
}

// sounded goes on after a prompt or digits: first with what waits besides.
func (c *Conversation) sounded(ctx actor.Context, done pathway.Input) {
	if c.answering.stage != noDrop {
		c.leaveMachine(ctx, tail) // the message was said, or could not be
		return
	}
	b := &c.beside
	if b.on {
		done, b.on, b.then = b.then, false, nil
	}
	if c.nextBeside(ctx, done) {
		return
	}
	b.busy = false
	switch {
	case c.live.round != 0:
		c.liveGoesOn(ctx)
	case done != nil:
		c.step(ctx, done)
	case b.wait > 0:
		c.timer = mailbox.After(ctx, b.wait, waited{c.supersede()})
	}
}

// cutShort ends the text besides, for the pathway has something to say.
func (c *Conversation) cutShort() {
	c.unsay()
	if c.beside.on && c.current >= 0 {
		c.endSegment(true)
	}
	c.beside.on, c.beside.then, c.current = false, nil, -1
}
