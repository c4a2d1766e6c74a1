package conversation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// start begins the pathway, or waits until it is known who has answered.
func (c *Conversation) start(ctx actor.Context) {
	if c.cfg.After != nil && !c.state.Fresh() {
		c.resumeHere(ctx)
		return
	}
	a := c.cfg.Script.AMD
	if !c.cfg.Answerer || !a.On() {
		c.beginPathway(ctx)
		return
	}
	if a.Does() == domain.AMDMessage {
		if text, _, missing := c.state.Filled(a.Message); len(missing) == 0 {
			c.prompts.prepare(ctx, Request(&c.cfg.Script, text))
		}
	}
	if a.Mode != domain.AMDWait {
		c.beginPathway(ctx)
		return
	}
	c.answer.gated = true
	mailbox.After(ctx, answerMost, answerTimeout{})
}

// beginPathway begins the pathway, once; where somebody else has the caller, it begins when the agent is back.
func (c *Conversation) beginPathway(ctx actor.Context) {
	c.answer.gated = false
	if c.answer.pathwayBegun || c.finished || c.absence.on {
		return
	}
	c.answer.pathwayBegun = true
	c.advance(ctx, pathway.Began{})
	c.restartSilence(ctx)
}
