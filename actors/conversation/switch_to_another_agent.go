package conversation

import (
	"context"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// maxHandovers is the maximum number of handovers between agents in one call.
const maxHandovers = 10

// agentLoaded carries the script of the agent that takes over the call.
type agentLoaded struct {
	act    pathway.ActionRequest
	script domain.Script
	err    error
}

// Control implements mailbox.Control: a full mailbox accepts this message. maxHandovers bounds the number of messages.
func (agentLoaded) Control() {}

// loadAgent reads the script of the agent that takes over the call. The reply is an agentLoaded message.
func (c *Conversation) loadAgent(ctx actor.Context, d pathway.ActionRequest) {
	runtime := c.cfg.AgentRuntime
	if runtime == nil {
		ctx.Send(ctx.Self(), toolDone{act: d, result: ToolResult{Text: "no other agent is available"}})
		return
	}
	mailbox.RunTask(ctx, toolTimeout, func(bound context.Context) any {
		m := agentLoaded{act: d}
		m.script, m.err = runtime.AgentScript(bound, d.Target)
		return m
	})
}

// onAgentLoaded switches to the script of the new agent and starts its pathway. The information collected so far stays.
func (c *Conversation) onAgentLoaded(ctx actor.Context, m agentLoaded) {
	switch {
	case c.finished || c.state.Over():
		return
	case m.err != nil:
		c.cfg.Log.Error("handover to another agent failed", slog.String("agent_id", m.act.Target), slog.Any("error", m.err))
		c.onToolDone(ctx, toolDone{act: m.act, result: ToolResult{Text: "the agent cannot take over"}})
		return
	case c.handovers >= maxHandovers:
		c.onToolDone(ctx, toolDone{act: m.act, result: ToolResult{Text: "too many agents have taken over"}})
		return
	}
	c.handovers++
	c.model.cancel()
	c.input.supersede()
	from := c.cfg.Script
	c.cfg.Script = m.script
	if from.AMD != nil {
		c.cfg.Script.AMD = from.AMD
	}
	c.base = nil
	c.state = c.state.ContinueWith(m.script).WithRealtime(c.hasRealtime())
	c.prompts.clear()
	ctx.Send(ctx.Parent(), AgentHandedOver{AgentID: m.script.AgentID, Version: m.script.Version, PathwayID: m.script.Pathway.ID, From: from.AgentID})
	if c.agentPause.active {
		return // resumeAgent starts its pathway
	}
	c.advance(ctx, pathway.Started{})
}
