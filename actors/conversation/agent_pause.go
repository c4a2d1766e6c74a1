package conversation

import (
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
)

// absence is the time in which somebody else has the caller, or a machine is to get a message.
type absence struct {
	on        bool
	byPathway bool            // the pathway has asked for the transfer
	deferred  []pathway.Input // inputs that the pathway gets when the agent is back
}

// leaveCaller says nothing until returnToCaller.
func (c *Conversation) leaveCaller(ctx actor.Context) {
	if c.finished {
		return
	}
	if !c.listening.turn.duringRealtime {
		c.dropTurn()
	}
	c.endRealtime(ctx)
	c.model.cancel()
	c.absence.on, c.absence.byPathway = true, false
	c.playback.outOfBand, c.input.limit = outOfBandQueue{}, 0
	c.stopPrompt()
	c.silence.stop()
	c.hideInput(false)
}

// returnToCaller goes on after the transfer of the pathway, or where the agent had to leave the caller. ok: somebody else has
// spoken with the caller in between.
func (c *Conversation) returnToCaller(ctx actor.Context, ok bool) {
	if !c.absence.on || c.finished {
		return
	}
	c.transcript.setHuman(false)
	if c.answer.hasMachine() {
		c.actOnAnswer(ctx, c.answer.holdEnded())
		return
	}
	byPathway := c.absence.byPathway
	c.absence.on, c.absence.byPathway = false, false
	if !c.answer.pathwayBegun {
		if !c.answer.gated {
			c.beginPathway(ctx)
		}
		return
	}
	c.restartSilence(ctx)
	if byPathway {
		c.advance(ctx, pathway.Transferred{OK: ok})
		return
	}
	c.advance(ctx, pathway.Silenced{})
	deferred := c.absence.deferred
	c.absence.deferred = nil
	continues := false
	for _, in := range deferred {
		continues = c.advance(ctx, in) || continues
	}
	if c.state.Fresh() {
		c.advance(ctx, pathway.Began{}) // another agent took over meanwhile
		return
	}
	if !continues {
		c.advance(ctx, pathway.Resume{})
	}
}

// humanKey writes down a key that the human pressed.
func (c *Conversation) humanKey(ctx actor.Context, key byte) {
	if c.transcript.human < 0 || c.finished || !strings.ContainsRune("0123456789*#ABCD", rune(key)) {
		return
	}
	c.transcript.addKey(human, key, false)
	c.transcript.waitForKeys(ctx)
}

// hideInput reports whether input must not be kept now. Recognizers hear nothing of it afterwards.
func (c *Conversation) hideInput(on bool) {
	if on == c.hidden {
		return
	}
	c.hidden = on
	if !on && c.cfg.AudioTap != nil {
		c.cfg.AudioTap.Forget()
	}
	if c.cfg.OnHideInput != nil {
		c.cfg.OnHideInput(on)
	}
}
