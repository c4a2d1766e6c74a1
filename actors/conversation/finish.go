package conversation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// finish ends the conversation. Whoever hangs up behind "stop calling me" has
// said it: what is being said is understood first.
func (c *Conversation) finish(ctx actor.Context) {
	if c.finished {
		if !c.waits() {
			c.tellFinished(ctx)
		}
		return
	}
	if !c.tells() {
		c.dropTurn()
	} else if !c.turn.over {
		c.endTurn(ctx)
	}
	c.unable = c.unable || c.firstWordsLate()
	c.stopRest(ctx)
	if c.current >= 0 {
		c.endSegment(true)
	}
	c.joined(false)
	c.hide(false)
	c.state, _ = pathway.Step(c.state, pathway.Hangup{})
	c.finished = true
	if c.waits() {
		mailbox.After(ctx, lastLimit, unsaid{})
		return
	}
	c.tellFinished(ctx)
}

// lastWords are those that were being said when the call ended.
func (c *Conversation) lastWords(ctx actor.Context, h speech.Heard, aside, apart bool) {
	h.Text = c.words(h, aside, apart)
	c.saidWords(ctx, h, apart)
	if !c.waits() {
		c.tellFinished(ctx)
	}
}

// lastUnknown waits for them no longer.
func (c *Conversation) lastUnknown(ctx actor.Context) {
	if c.waits() {
		c.dropTurn()
		c.forgo()
		c.tellFinished(ctx)
	}
}

func (c *Conversation) tellFinished(ctx actor.Context) {
	r := c.state.Result()
	if c.answering.stage != noDrop { // a machine has it, whatever the pathway had begun with
		r.Outcome = domain.OutcomeVoicemail
	}
	r.Notes, r.Variables = c.cfg.Redact.Text(r.Notes), c.cfg.Redact.Texts(r.Variables)
	ctx.Send(ctx.Parent(), Finished{Result: r, Segments: c.cfg.Redact.Segments(c.segments), Slowest: c.slowest, Turns: c.stages.turns, Unable: c.unable})
}

func (c *Conversation) stopTimers(ctx actor.Context) {
	c.dropTurn()
	c.stopRest(ctx)
	c.forgo()
}

// stopRest ends all but what is being said.
func (c *Conversation) stopRest(ctx actor.Context) {
	c.endLive(ctx)
	c.forget()
	c.unsay()
	c.supersede()
	c.quietNow()
	c.stopKeys()
}
