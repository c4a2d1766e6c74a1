package conversation

import (
	"context"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// mostHandovers bounds the agents that take a caller over.
const mostHandovers = 10

// agentLoaded is the script of the agent that takes the caller over.
type agentLoaded struct {
	act    pathway.Act
	script domain.Script
	err    error
}

// Control: bound by mostHandovers.
func (agentLoaded) Control() {}

// loadAgent fetches another agent that is to go on with the caller.
func (c *Conversation) loadAgent(ctx actor.Context, d pathway.Act) {
	mind := c.cfg.AgentRuntime
	if mind == nil {
		ctx.Send(ctx.Self(), toolDone{act: d, result: ToolResult{Text: "there is no other agent"}})
		return
	}
	mailbox.RunTask(ctx, toolLimit, func(bound context.Context) any {
		m := agentLoaded{act: d}
		m.script, m.err = mind.AgentScript(bound, d.Target)
		return m
	})
}

// agentLoaded begins the pathway of the other agent, with all that is known of the caller.
func (c *Conversation) agentLoaded(ctx actor.Context, m agentLoaded) {
	switch {
	case c.finished || c.state.Over():
		return
	case m.err != nil:
		c.cfg.Log.Error("another agent could not take over", slog.String("agent_id", m.act.Target), slog.Any("error", m.err))
		c.toolDone(ctx, toolDone{act: m.act, result: ToolResult{Text: "the agent cannot take over"}})
		return
	case c.handovers >= mostHandovers:
		c.toolDone(ctx, toolDone{act: m.act, result: ToolResult{Text: "too many agents have taken over"}})
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
	c.state = c.state.Continue(m.script).Lively(c.hasRealtime())
	c.prompts.clear()
	ctx.Send(ctx.Parent(), AgentHandedOver{AgentID: m.script.AgentID, Version: m.script.Version, PathwayID: m.script.Pathway.ID, From: from.AgentID})
	if c.absence.on {
		return // returnToCaller begins it
	}
	c.advance(ctx, pathway.Began{})
}
