package conversation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// finish ends the conversation. Words that are being said are recognized first: they may be an opt-out, as in "stop calling me"
// before the caller hangs up.
func (c *Conversation) finish(ctx actor.Context) {
	if c.finished {
		if !c.awaitsLastWords() {
			c.sendFinished(ctx)
		}
		return
	}
	if !c.mayOptOut() {
		c.dropTurn()
	} else if !c.listening.turn.over {
		c.listening.endTurn(ctx)
	}
	c.unable = c.unable || c.playback.areFirstWordsLate()
	c.stopSpeaking(ctx)
	if c.playback.isPlaying() {
		c.playback.end(true)
	}
	c.transcript.setHuman(false)
	c.hideInput(false)
	c.state, _ = pathway.Step(c.state, pathway.Hangup{})
	c.finished, c.transcript.closed = true, true
	if c.awaitsLastWords() {
		mailbox.SendAfter(ctx, lastLimit, lastWordsTimeout{})
		return
	}
	c.sendFinished(ctx)
}

// lastWordsTimedOut waits no longer for the last words.
func (c *Conversation) lastWordsTimedOut(ctx actor.Context) {
	if c.awaitsLastWords() {
		c.dropTurn()
		c.pending.leave()
		c.sendFinished(ctx)
	}
}

// sendFinished answers Finish.
func (c *Conversation) sendFinished(ctx actor.Context) {
	r := c.state.Result()
	if c.answer.hasMachine() { // whatever the pathway had begun with
		r.Outcome = domain.OutcomeVoicemail
	}
	r.Notes, r.Variables = c.cfg.Redact.Text(r.Notes), c.cfg.Redact.Texts(r.Variables)
	ctx.Send(ctx.Parent(), ConversationFinished{
		Result: r, Segments: c.cfg.Redact.Segments(c.transcript.segments), SlowestTurn: c.playback.slowest, Turns: c.latency.turns, AgentUnable: c.unable,
	})
}

// stopAll ends all work and timers when the actor stops.
func (c *Conversation) stopAll(ctx actor.Context) {
	c.dropTurn()
	c.stopSpeaking(ctx)
	c.pending.leave()
}

// stopSpeaking ends all work and timers but the turn of the caller.
func (c *Conversation) stopSpeaking(ctx actor.Context) {
	c.endRealtime(ctx)
	c.model.cancel()
	c.playback.cancelSynthesis()
	c.input.supersede()
	c.silence.stop()
	c.transcript.stopWaitingForKeys()
}

// publishTranscript hands the watcher what is new in the transcript.
func (c *Conversation) publishTranscript() {
	if w, ok := c.cfg.AgentRuntime.(TranscriptWatcher); ok {
		c.transcript.publish(w)
	}
}
