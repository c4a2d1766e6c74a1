package conversation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// finish ends the conversation. It first waits for the recognition of speech in progress, which may be an opt-out such as
// "stop calling me".
func (c *Conversation) finish(ctx actor.Context) {
	if c.finished {
		if !c.awaitsLastWords() {
			c.sendFinished(ctx)
		}
		return
	}
	if !c.isOptOutTurn() {
		c.dropTurn()
	} else if !c.listening.turn.recognizing {
		c.listening.endTurn(ctx)
	}
	c.agentUnable = c.agentUnable || c.playback.areFirstWordsLate()
	c.stopSpeaking(ctx)
	if c.playback.isPlaying() {
		c.playback.end(true)
	}
	c.transcript.setHuman(false)
	c.setInputHidden(false)
	c.state, _ = pathway.Step(c.state, pathway.Hangup{})
	c.finished, c.transcript.closed = true, true
	if c.awaitsLastWords() {
		mailbox.SendAfter(ctx, maxLastWordsWait, lastWordsTimeout{})
		return
	}
	c.sendFinished(ctx)
}

// lastWordsTimedOut ends the wait for the recognition of the caller's last words.
func (c *Conversation) lastWordsTimedOut(ctx actor.Context) {
	if c.awaitsLastWords() {
		c.dropTurn()
		c.pending.stop()
		c.sendFinished(ctx)
	}
}

// sendFinished replies to FinishConversation.
func (c *Conversation) sendFinished(ctx actor.Context) {
	r := c.state.Result()
	if c.answer.hasMachine() { // overrides the outcome of the pathway
		r.Outcome = domain.OutcomeVoicemail
	}
	r.Notes, r.Variables = c.cfg.Redact.RedactText(r.Notes), c.cfg.Redact.RedactMap(r.Variables)
	ctx.Send(ctx.Parent(), FinishReply{
		Result: r, Segments: c.cfg.Redact.RedactSegments(c.transcript.byStart()), SlowestTurn: c.playback.slowest, Turns: c.latency.turns, AgentUnable: c.agentUnable,
	})
}

// stopAll ends all background work and timers when the actor stops.
func (c *Conversation) stopAll(ctx actor.Context) {
	c.dropTurn()
	c.stopSpeaking(ctx)
	c.pending.stop()
}

// stopSpeaking ends all background work and timers, but not the recognition of the caller's current turn.
func (c *Conversation) stopSpeaking(ctx actor.Context) {
	c.endRealtime(ctx)
	c.answerTimers.stop()
	c.words.stop(false)
	c.model.cancel()
	c.playback.cancelSynthesis()
	c.input.supersede()
	c.silence.stop()
	c.transcript.stopWaitingForKeys()
}

// publishTranscript passes new and changed transcript segments to the agent runtime if it is a TranscriptWatcher.
func (c *Conversation) publishTranscript() {
	if w, ok := c.cfg.AgentRuntime.(TranscriptWatcher); ok {
		c.transcript.publish(w)
	}
}
