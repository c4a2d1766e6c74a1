package call

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// agent is the conversation of a call, and what has come of it.
type agent struct {
	conversation *actor.PID // nil: none, or it has died
	pausedBy     uint8      // reasons why the agent is silent
	transferred  bool       // the transfer that has paused the agent reached somebody
	leaving      bool       // it hangs up once the answer is stored
	unable       bool       // it leaves because an engine has failed
	segments     []domain.Segment
	appointments booking.CallAppointments // in this call
}

// send sends a message to the conversation, if there is one.
func (a *agent) send(ctx actor.Context, msg any) {
	if a.conversation != nil {
		ctx.Send(a.conversation, msg)
	}
}

// pause keeps the agent silent for a reason; resume ends that.
func (a *agent) pause(ctx actor.Context, why uint8) {
	if a.pausedBy == 0 {
		a.send(ctx, conversation.PauseAgent{})
	}
	a.pausedBy |= why
}

// resume lets the agent speak again once no reason is left. ok: the transfer reached
// somebody.
func (a *agent) resume(ctx actor.Context, why uint8, ok bool) {
	if a.pausedBy&why == 0 {
		return
	}
	a.pausedBy &^= why
	if why == pausedByTransfer {
		a.transferred = ok
	}
	if a.pausedBy == 0 && a.conversation != nil {
		ctx.Send(a.conversation, conversation.ResumeAgent{OK: a.transferred})
		a.transferred = false
	}
}

// redactor removes from the conversation's reports what must not be stored; nil:
// nothing is removed.
func (cfg *Config) redactor() *domain.Redactor {
	if cfg.Redactor == nil {
		return nil
	}
	return cfg.Redactor()
}

// recognizer is the speech recognizer of an agent; nil: none.
func (cfg *Config) recognizer(s *domain.Script) speech.Recognizer {
	if cfg.Recognizer == nil {
		return nil
	}
	engine := ""
	if s.STT != nil {
		engine = s.STT.Engine
	}
	return speech.SelectRecognizer(cfg.Recognizer, engine)
}

func (cfg *Config) beforeConversation(callID string) func(any) {
	if cfg.BeforeMessage == nil {
		return nil
	}
	return func(msg any) { cfg.BeforeMessage("conversation", callID, msg) }
}

// actionTaken reports an action of the agent as an event.
func (c *call) actionTaken(ctx actor.Context, m conversation.ActionPerformed) {
	if c.stage >= flushing {
		return
	}
	c.agent.appointments = c.agent.appointments.Apply(m.Appointment)
	c.commit(ctx, event.AgentActionTriggered, event.AgentActionData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Action: m.Action, Arguments: m.Arguments, Result: m.Result, LatencyMs: m.Duration.Milliseconds(),
	}, nil)
}

// intentDetected reports the caller's intent as an event.
func (c *call) intentDetected(ctx actor.Context, m conversation.IntentRecognized) {
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

// reportEscalation reports as events that the agent transfers the caller to a person.
func (c *call) reportEscalation(ctx actor.Context, m conversation.RequestTransfer) {
	reason := m.Reason
	if reason == "" {
		reason = "pathway"
	}
	arguments, _ := json.Marshal(map[string]string{"destination": m.Destination, "mode": string(m.Mode), "reason": reason}) // texts: cannot fail
	c.commit(ctx, event.AgentEscalation, event.AgentEscalationData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Reason: reason, Destination: m.Destination, Summary: m.RedactedSummary,
	}, nil)
	c.commit(ctx, event.AgentActionTriggered, event.AgentActionData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Action: domain.ToolTransfer, Arguments: arguments, Result: json.RawMessage(`{"status":"started"}`),
	}, nil)
}

// agentChanged notes that another agent continues the call. The record names the
// agent that speaks.
func (c *call) agentChanged(ctx actor.Context, m conversation.AgentHandedOver) {
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

// callerSpoke reports whether the caller has said or pressed anything. Without that
// there is nothing to analyse.
func callerSpoke(all []domain.Segment) bool {
	return slices.ContainsFunc(all, func(s domain.Segment) bool { return s.Speaker == "caller" })
}

// startConversation begins the conversation, or continues that of another process.
func (c *call) startConversation(ctx actor.Context, after *conversation.SavedState) {
	ear := c.audio.connectEngines(c.cfg, &c.script, c.optOut)
	var mind conversation.AgentRuntime // nil: no model takes part
	if c.cfg.AgentRuntime != nil {
		mind = c.cfg.AgentRuntime(c.call)
	}
	c.agent.conversation = ctx.SpawnPrefix(mailbox.Props(func() actor.Actor {
		return conversation.New(conversation.Config{
			Script: c.script, Variables: c.spokenVariables(c.answeredAt), Player: c.audio.session, Synthesizer: c.cfg.Speaker, Log: c.log, OnHideInput: c.audio.session.Sensitive,
			AgentRuntime: mind, OptOutKeywords: c.optOut, Recognizer: c.cfg.recognizer(&c.script), AudioTap: ear, DetectAnswerer: !c.inbound && after == nil, Redact: c.cfg.redactor(),
			Checkpoints: c.cfg.StoreCheckpoints, SavedState: after, OnMessage: c.cfg.beforeConversation(c.call.ID),
		})
	}, mailboxSize), "conversation")
	ctx.Send(c.agent.conversation, conversation.StartConversation{})
	if c.audio.held {
		c.agent.pause(ctx, pausedByHold)
	}
}

// spokenVariables are those that the pathway's texts may use.
func (o *callSetup) spokenVariables(answeredAt time.Time) map[string]string {
	phone := o.call.To
	if o.call.Direction == domain.Inbound {
		phone = o.call.From
	}
	v := pathway.RuntimeVariables(&o.script, answeredAt)
	v["phone"], v["caller_number"], v["called_number"] = phone, o.call.From, o.call.To
	maps.Copy(v, o.variables)
	maps.Copy(v, o.call.Variables)
	for name := range o.call.Context {
		if text, ok := o.call.Context.Text(name); ok {
			v[name] = text
		}
	}
	return v
}

// conversationDied: a call that has nobody to speak is a fault of ours.
func (c *call) conversationDied(ctx actor.Context, m *actor.Terminated) {
	if c.stopping || c.transferLegDied(ctx, m.Who) {
		return
	}
	if c.agent.conversation == nil || m.Who.Id != c.agent.conversation.Id {
		return
	}
	c.agent.conversation = nil
	switch c.stage {
	case talking:
		c.endAnswered(ctx, byService, domain.ReasonInternal)
	case ending:
		c.awaitTransferLegs(ctx)
	case awaitingPermit, preparing, dialling, rerouting, resuming, flushing, notifying:
	}
}

func (c *call) fault(ctx actor.Context, m conversation.Fault) {
	if c.stage >= flushing {
		return
	}
	c.commit(ctx, event.AgentError, event.AgentErrorData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Stage: m.Stage, Code: m.Code, Message: m.Message, Recovered: m.Recovered,
	}, nil)
}
