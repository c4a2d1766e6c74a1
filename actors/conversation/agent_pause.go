package conversation

import (
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
)

// agentPause is the time during which the agent is silent. Either another person speaks with the caller, or the agent waits
// to leave a voicemail message.
type agentPause struct {
	active    bool
	byPathway bool            // the pathway requested the transfer
	deferred  []pathway.Input // inputs for the pathway after the pause
}

// pauseAgent silences the agent until resumeAgent.
func (c *Conversation) pauseAgent(ctx actor.Context) {
	if c.finished {
		return
	}
	if !c.listening.turn.duringRealtime {
		c.dropTurn()
	}
	c.endRealtime(ctx)
	c.model.cancel()
	c.agentPause.active, c.agentPause.byPathway = true, false
	c.reportHeard()
	c.playback.outOfBand, c.input.limit = outOfBandQueue{}, 0
	c.stopPrompt()
	c.silence.stop()
	c.setInputHidden(false)
}

// resumeAgent ends a pause, for example after a transfer. ok reports that another person spoke with the caller during the
// pause.
func (c *Conversation) resumeAgent(ctx actor.Context, ok bool) {
	if !c.agentPause.active || c.finished {
		return
	}
	c.transcript.setHuman(false)
	if c.answer.hasMachine() {
		c.actOnAnswer(ctx, c.answer.onHoldEnd())
		return
	}
	byPathway := c.agentPause.byPathway
	c.agentPause.active, c.agentPause.byPathway = false, false
	if !c.answer.pathwayBegun {
		if !c.answer.waitsForVerdict {
			c.beginPathway(ctx)
		}
		return
	}
	c.restartSilence(ctx)
	if byPathway {
		c.advance(ctx, pathway.Transferred{OK: ok})
		return
	}
	c.advance(ctx, pathway.PromptCut{})
	deferred := c.agentPause.deferred
	c.agentPause.deferred = nil
	continues := false
	for _, in := range deferred {
		continues = c.advance(ctx, in) || continues
	}
	if c.state.Fresh() {
		c.advance(ctx, pathway.Started{}) // another agent took over during the pause
		return
	}
	if !continues {
		c.advance(ctx, pathway.ResumeNode{})
	}
}

// onHumanKey adds a key to the transcript that the human in the call pressed during a transfer.
func (c *Conversation) onHumanKey(ctx actor.Context, key byte) {
	if c.transcript.human < 0 || c.finished || !strings.ContainsRune("0123456789*#ABCD", rune(key)) {
		return
	}
	c.transcript.addKey(human, key, false)
	c.transcript.waitForKeys(ctx)
}

// setInputHidden sets whether the caller's input is secret and must not be stored. When the secret input ends, buffered
// audio is dropped, so that recognizers do not get the secret.
func (c *Conversation) setInputHidden(on bool) {
	if on == c.inputHidden {
		return
	}
	c.inputHidden = on
	if !on && c.cfg.AudioTap != nil {
		c.cfg.AudioTap.Forget()
	}
	if c.cfg.OnHideInput != nil {
		c.cfg.OnHideInput(on)
	}
}
