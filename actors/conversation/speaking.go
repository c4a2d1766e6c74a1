package conversation

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// speakPrompt speaks a prompt of the pathway.
func (c *Conversation) speakPrompt(ctx actor.Context, d pathway.Say) {
	c.playback.interruptOutOfBand()
	c.playback.busy, c.input.limit = true, 0
	c.speak(ctx, d)
}

// speak synthesizes a prompt and plays it once it is ready.
func (c *Conversation) speak(ctx actor.Context, d pathway.Say) {
	c.playback.prompt = d
	generation := c.input.supersede()
	c.playback.request()
	r := c.promptRequest(d.Text, d.Sensitive)
	if u, ok := c.prompts.complete[r]; ok {
		c.play(ctx, u)
		return
	}
	c.playback.stopSynthesis = c.prompts.synthesize(ctx, r, generation)
}

// promptSynthesized plays the synthesized prompt if it is still current. If the synthesis failed, the pathway goes on
// without the prompt.
func (c *Conversation) promptSynthesized(ctx actor.Context, m promptSynthesized) {
	p := &c.playback
	canceled := m.generation != c.input.generation && errors.Is(m.firstErr, context.Canceled)
	if m.firstErr != nil && !canceled {
		c.cfg.Log.Error("synthesis of a prompt failed", slog.String("node", p.prompt.Node), slog.Any("error", m.firstErr), slog.Bool("recovered", m.err == nil))
		ctx.Send(ctx.Parent(), Fault{
			Stage: "tts", Code: "synthesis_failed",
			Message: "the prompt of node " + p.prompt.Node + " could not be spoken", Recovered: m.err == nil,
		})
	}
	if m.generation != c.input.generation || c.finished {
		if m.utterance.Stop != nil {
			m.utterance.Stop()
		}
		return
	}
	if m.err != nil {
		if c.agentUnable || p.outOfBand.active || c.state.Ending() && c.transcript.hasAgentSpoken() {
			c.promptEnded(ctx, pathway.PromptDone{})
			return
		}
		c.endUnable(ctx)
		return
	}
	if r := c.promptRequest(p.prompt.Text, p.prompt.Sensitive); !r.Secret && m.utterance.Feed == nil {
		c.prompts.add(r, m.utterance)
	}
	c.play(ctx, m.utterance)
}

// endUnable ends the conversation because the agent can no longer speak or hear.
func (c *Conversation) endUnable(ctx actor.Context) {
	c.agentUnable = true
	c.advance(ctx, pathway.AgentFailed{})
}

// reportEngineFailure reports to the call actor that a speech engine failed, and whether another one has replaced it.
func (c *Conversation) reportEngineFailure(ctx actor.Context, m engineFailed) {
	code := speech.ErrorCode(m.fault.Err)
	c.cfg.Log.Warn("speech engine failed", slog.String("stage", m.stage), slog.String("engine", m.fault.Engine), slog.Any("error", m.fault.Err), slog.Bool("recovered", m.fault.Recovered))
	ctx.Send(ctx.Parent(), Fault{Stage: m.stage, Code: code, Message: "the engine " + m.fault.Engine + " failed", Recovered: m.fault.Recovered})
}

// play plays the synthesized prompt and synthesizes likely next prompts in advance.
func (c *Conversation) play(ctx actor.Context, utterance speech.Utterance) {
	requestedAt := c.playback.play(utterance)
	c.silence.stop()
	c.latency.end(time.Now(), requestedAt)
	if !c.playback.outOfBand.active {
		c.model.attribute(&c.transcript.segments[c.playback.segment])
	}
	if t := &c.listening.turn; t.open && !t.keywordOnly && c.isInterruptible() {
		c.playback.pause()
	}
	for _, text := range c.state.UpcomingTexts() {
		c.prompts.prepare(ctx, c.promptRequest(text, false))
	}
}

// stopPrompt stops the prompt that is playing or being synthesized.
func (c *Conversation) stopPrompt() {
	c.input.supersede()
	c.playback.stop()
}

// reportHeard tells the pathway which part of the current prompt the caller has heard, before an input that may interrupt
// the prompt.
func (c *Conversation) reportHeard() {
	p := &c.playback
	if !p.busy || p.outOfBand.active || c.realtime.isPlaying() {
		return
	}
	heard := "" // the prompt is still being synthesized
	if p.isPlaying() {
		heard = p.heardPart(p.prompt.Shown)
	}
	c.state, _ = pathway.Step(c.state, pathway.PromptHeard{Text: heard})
}

// isInterruptible reports whether the caller's speech may interrupt the playing prompt.
func (c *Conversation) isInterruptible() bool {
	setting := turnTaking(&c.cfg.Script, c.state).Interruptible
	return c.playback.isPlaying() && !c.playback.outOfBand.active && c.playback.prompt.Interruptible && (setting == nil || *setting)
}

// speakOutOfBand queues a text, which is spoken between the prompts of the pathway.
func (c *Conversation) speakOutOfBand(ctx actor.Context, text string) {
	if c.finished || c.agentPause.active || c.state.Over() || !c.playback.outOfBand.add(text) {
		return
	}
	if !c.playback.busy && !c.playback.outOfBand.active {
		c.speakNextOutOfBand(ctx, nil)
	}
}

// speakNextOutOfBand speaks the next out-of-band prompt and reports whether there was one. then is the input that the
// pathway gets afterwards.
func (c *Conversation) speakNextOutOfBand(ctx actor.Context, then pathway.Input) bool {
	text, ok := c.playback.outOfBand.next(then)
	if ok {
		c.speak(ctx, pathway.Say{Node: "say", Text: text, Shown: text})
	}
	return ok
}

// promptEnded continues after a prompt or DTMF digits were played. Waiting out-of-band prompts come first.
func (c *Conversation) promptEnded(ctx actor.Context, done pathway.Input) {
	if c.answer.hasMachine() {
		c.endAtMachine(ctx, playoutTail) // the message was spoken or could not be spoken
		return
	}
	done = c.playback.outOfBand.done(done)
	if c.speakNextOutOfBand(ctx, done) {
		return
	}
	c.playback.busy = false
	switch {
	case c.realtime.round != 0:
		c.continueRealtime(ctx)
	case done != nil:
		c.advance(ctx, done)
	case c.input.limit > 0:
		c.input.start(ctx, c.input.limit)
	}
}
