package conversation

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// start starts the pathway, waits for the result of answering machine detection, or resumes a saved conversation.
func (c *Conversation) start(ctx actor.Context) {
	if c.cfg.SavedState != nil && !c.state.Fresh() {
		c.resumeSaved(ctx)
		return
	}
	a := c.cfg.Script.AMD
	if !c.cfg.detectsAnswerer() {
		c.beginPathway(ctx)
		return
	}
	c.answer.hasWords = c.words.listen()
	if a.MachineAction() == domain.AMDMessage {
		if text, _, missing := c.state.FillText(a.Message); len(missing) == 0 {
			c.prompts.prepare(ctx, c.promptRequest(text, false))
		}
	}
	if a.Mode != domain.AMDWait {
		c.beginPathway(ctx)
		return
	}
	c.answer.waitsForVerdict = true
	c.answerTimers.start(ctx, maxVerdictWait, answerTimeout{c.answer.generation})
}

// beginPathway starts the pathway unless it has already started. If the agent is paused, resumeAgent starts it later.
func (c *Conversation) beginPathway(ctx actor.Context) {
	c.answer.waitsForVerdict = false
	if c.answer.pathwayBegun || c.finished || c.agentPause.active {
		return
	}
	c.answer.pathwayBegun = true
	c.advance(ctx, pathway.Started{})
	c.restartSilence(ctx)
}

// advance passes an input to the pathway and performs the commands that the pathway returns. continues reports that one of
// the commands speaks, waits for input or ends the conversation.
func (c *Conversation) advance(ctx actor.Context, in pathway.Input) (continues bool) {
	if c.finished {
		return false
	}
	switch in.(type) {
	case pathway.Utterance, pathway.Digit:
		c.reportHeard()
	}
	var steps []pathway.Command
	c.state, steps = pathway.Step(c.state, in)
	if round, lives := c.state.RealtimeRound(); c.realtime.round != 0 && (!lives || round != c.realtime.round) {
		c.endRealtime(ctx)
	}
	for _, d := range steps {
		continues = continues || isContinuation(d)
		c.perform(ctx, d)
	}
	c.setInputHidden(!c.state.Over() && c.state.IsSecretInput())
	return continues
}

// isContinuation reports whether a command makes the conversation go on without a further input.
func isContinuation(d pathway.Command) bool {
	switch d.(type) {
	case pathway.Say, pathway.CollectInput, pathway.SendDigits, pathway.Transfer, pathway.ModelRequest, pathway.StartRealtime, pathway.ActionRequest, pathway.End:
		return true
	}
	return false
}

// perform executes one command of the pathway.
func (c *Conversation) perform(ctx actor.Context, d pathway.Command) {
	switch d := d.(type) {
	case pathway.Say:
		c.speakPrompt(ctx, d)
	case pathway.SetLanguage:
		c.changeLanguage(ctx, d.Language)
	case pathway.StopSpeaking:
		c.stopPrompt()
	case pathway.CollectInput:
		c.collect(ctx, d.Timeout)
	case pathway.SendDigits:
		c.playback.interruptOutOfBand()
		c.input.supersede()
		c.playback.sendDigits(d.Digits)
	case pathway.Transfer:
		c.requestTransfer(ctx, d)
	case pathway.OptOut:
		c.optOut(ctx, byPathway, "")
	case pathway.End:
		c.end(ctx, d)
	default:
		c.performModel(ctx, d)
	}
}

// performModel executes a command for a language model, a realtime engine or a tool.
func (c *Conversation) performModel(ctx actor.Context, d pathway.Command) {
	switch d := d.(type) {
	case pathway.ModelRequest:
		c.requestModel(ctx, d)
	case pathway.CancelModelRequest:
		c.model.cancel()
	case pathway.StartRealtime:
		c.startRealtime(ctx, d)
	case pathway.SendToolResult:
		c.realtime.addResult(d)
	case pathway.RequestRealtimeAnswer:
		c.realtime.requestAnswer(d.Text)
	case pathway.ActionRequest:
		c.callTool(ctx, d)
	default:
		c.report(ctx, d)
	}
}

// report tells the call actor about a command that changes nothing in the conversation.
func (c *Conversation) report(ctx actor.Context, d pathway.Command) {
	switch d := d.(type) {
	case pathway.MissingVariable:
		c.cfg.Log.Warn("variable of a prompt has no value", slog.String("node", d.Node), slog.String("variable", d.Name))
		ctx.Send(ctx.Parent(), Fault{
			Stage: "pathway", Code: "missing_variable",
			Message: "node " + d.Node + " needs the variable " + d.Name + ", which has no value", Recovered: true,
		})
	case pathway.LocalActionDone:
		ctx.Send(ctx.Parent(), ActionPerformed{Action: d.Name, Arguments: c.cfg.Redact.RedactJSON(d.RawArguments), Result: json.RawMessage(`{"status":"done"}`)})
	case pathway.ToolCallRefused:
		c.cfg.Log.Warn("tool call of the model refused", slog.String("node", d.Node), slog.String("tool", d.Name), slog.String("reason", d.Why))
		ctx.Send(ctx.Parent(), Fault{Stage: "llm", Code: "tool_refused", Message: "the model called " + d.Name + " at node " + d.Node + ": " + d.Why, Recovered: true})
	case pathway.IntentDetected:
		c.reportIntent(ctx, d)
	}
}

// collect waits for input of the caller. In the meantime it speaks waiting out-of-band prompts.
func (c *Conversation) collect(ctx actor.Context, limit time.Duration) {
	c.input.start(ctx, limit)
	if !c.playback.outOfBand.active {
		c.playback.busy = false
		c.speakNextOutOfBand(ctx, nil)
	}
}

// inputTimedOut reports to the pathway that the caller gave no input in time, unless the caller is speaking.
func (c *Conversation) inputTimedOut(ctx actor.Context, m inputTimeout) {
	switch t := &c.listening.turn; {
	case m.generation != c.input.generation:
	case t.open && !t.keywordOnly:
		c.input.cancel = nil
	default:
		c.input.limit = 0
		c.latency.discard()
		c.advance(ctx, pathway.Timeout{})
	}
}

// end reports the end of the pathway once the caller has heard the last audio.
func (c *Conversation) end(ctx actor.Context, d pathway.End) {
	c.model.cancel()
	c.input.supersede()
	c.silence.stop()
	if d.Reason != "" {
		c.cfg.Log.Error("pathway aborted", slog.String("pathway_id", c.cfg.Script.Pathway.ID), slog.String("reason", d.Reason))
		ctx.Send(ctx.Parent(), Fault{Stage: "pathway", Code: d.Reason, Message: "the pathway was aborted"})
	}
	m := PathwayEnded{Outcome: d.Outcome, Reason: d.Reason, AgentUnable: d.IsAgentFailure()}
	if c.playback.id == 0 {
		ctx.Send(ctx.Parent(), m) // no audio was sent that could be cut off
		return
	}
	mailbox.SendAfter(ctx, playoutTail, delayedEnd{m})
}

// restartSilence starts the silence timer again from zero, unless the agent is speaking or paused or the call is over.
func (c *Conversation) restartSilence(ctx actor.Context) {
	c.silence.stop()
	if limit := c.cfg.Script.Limits.SilenceSeconds; limit > 0 && !c.playback.isPlaying() && !c.agentPause.active && !c.finished && !c.state.Over() {
		c.silence.start(ctx, time.Duration(limit)*time.Second)
	}
}

// silenceTimedOut says goodbye because the caller and the agent were silent for too long.
func (c *Conversation) silenceTimedOut(ctx actor.Context, m silenceTimeout) {
	if m.generation != c.silence.generation || c.agentPause.active || c.finished || c.state.Over() {
		return
	}
	c.input.supersede()
	if !c.isOptOutTurn() {
		c.dropTurn()
	}
	c.advance(ctx, pathway.SilenceLimit{})
}
