package call

import (
	"encoding/json"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// mind thinks and acts for the agent; nil: nobody does.
func (c *call) mind() conversation.Mind {
	if c.cfg.Mind == nil {
		return nil
	}
	return c.cfg.Mind(c.call)
}

// redactor takes out of what the conversation tells what must not be kept.
func (c *call) redactor() *domain.Redactor {
	if c.cfg.Redact == nil {
		return nil
	}
	return c.cfg.Redact()
}

// acted tells of something that the agent did.
func (c *call) acted(ctx actor.Context, m conversation.Acted) {
	if c.stage >= flushing {
		return
	}
	c.appointments = c.appointments.After(m.Appointment)
	c.commit(ctx, event.AgentActionTriggered, event.AgentActionData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Action: m.Action, Arguments: m.Arguments, Result: m.Result, LatencyMs: m.Took.Milliseconds(),
	}, nil)
}

// meant tells what the caller wants.
func (c *call) meant(ctx actor.Context, m conversation.Intent) {
	if c.stage >= flushing {
		return
	}
	entities := m.Entities
	if entities == nil {
		entities = map[string]string{}
	}
	c.commit(ctx, event.AgentIntentDetected, event.AgentIntentData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Intent: m.Name, Confidence: m.Confidence, Entities: entities,
	}, nil)
}

// escalated tells that the agent hands the caller to a person.
func (c *call) escalated(ctx actor.Context, m conversation.Transfer) {
	reason := m.Reason
	if reason == "" {
		reason = "pathway"
	}
	arguments, _ := json.Marshal(map[string]string{"destination": m.Destination, "mode": string(m.Mode), "reason": reason}) // texts: cannot fail
	c.commit(ctx, event.AgentEscalation, event.AgentEscalationData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Reason: reason, Destination: m.Destination, Summary: m.Kept,
	}, nil)
	c.commit(ctx, event.AgentActionTriggered, event.AgentActionData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Action: domain.ToolTransfer, Arguments: arguments, Result: json.RawMessage(`{"status":"started"}`),
	}, nil)
}

// handedOver: another agent goes on. The record names the one that speaks.
func (c *call) handedOver(ctx actor.Context, m conversation.HandedOver) {
	if c.stage >= flushing {
		return
	}
	arguments, _ := json.Marshal(map[string]string{"agent_id": m.AgentID, "from": m.From}) // texts: cannot fail
	from := c.call.AgentID
	c.call.AgentID, c.call.AgentVersion, c.call.PathwayID = m.AgentID, m.Version, m.PathwayID
	c.commit(ctx, event.AgentActionTriggered, event.AgentActionData{
		CallID: c.call.ID, AgentID: from, Action: "agent", Arguments: arguments, Result: json.RawMessage(`{"status":"done"}`),
	}, nil)
}

// heardSomebody says whether the far end has said or pressed anything: of
// silence there is nothing to be found.
func heardSomebody(all []domain.Segment) bool {
	return slices.ContainsFunc(all, func(s domain.Segment) bool { return s.Speaker == "caller" })
}

// converse begins the conversation, or goes on with it after another process.
func (c *call) converse(ctx actor.Context, after *conversation.Saved) {
	ear := c.ear()
	c.conversation = ctx.SpawnPrefix(mailbox.Props(func() actor.Actor {
		return conversation.New(conversation.Config{
			Script: c.script, Variables: c.spokenVariables(), Sound: c.session, Speaker: c.cfg.Speaker, Log: c.log, Hide: c.session.Sensitive,
			Mind: c.mind(), OptOut: c.optOut, Ears: c.ears(), Ear: ear, Answerer: !c.inbound && after == nil, Redact: c.redactor(),
			Stands: c.cfg.Survive, After: after, Before: c.beforeConversation(),
		})
	}, mailboxSize), "conversation")
	ctx.Send(c.conversation, conversation.Begin{})
	if c.deaf {
		c.leave(ctx, awayHeld)
	}
}
