package call

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
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

// agent holds the conversation actor of a call and the results of the conversation.
type agent struct {
	conversation *actor.PID // nil: no conversation runs
	pausedBy     uint8      // bit set of the reasons why the agent is silent
	transferred  bool       // the current transfer was answered
	leaving      bool       // the agent hangs up once the answer of the call is stored
	engineFailed bool       // the agent hangs up because a speech or model engine has failed
	segments     []domain.Segment
	appointments booking.CallAppointments // booked during this call
}

// send sends a message to the conversation if one runs.
func (a *agent) send(ctx actor.Context, msg any) {
	if a.conversation != nil {
		ctx.Send(a.conversation, msg)
	}
}

// pause silences the agent. The reason why is a bit, and resume must be called with the same bit.
func (a *agent) pause(ctx actor.Context, why uint8) {
	if a.pausedBy == 0 {
		a.send(ctx, conversation.PauseAgent{})
	}
	a.pausedBy |= why
}

// resume removes one pause reason. The agent continues once no reason remains. ok reports that the party to which the
// call was transferred has answered.
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

// redactor returns the redactor of transcripts and summaries, or nil if the workspace does not redact them.
func (cfg *Config) redactor() *domain.Redactor {
	if cfg.Redactor == nil {
		return nil
	}
	return cfg.Redactor()
}

// recognizer returns the speech recognizer that the script selects, or nil if no recognizer is configured.
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

// answerRecognizer returns the recognizer of the words with which an outbound call is answered: the local one, or else the
// script's own if it transcribes free speech. nil: the words are not needed, or not English.
func (cfg *Config) answerRecognizer(s *domain.Script) speech.Recognizer {
	language := s.RecognitionLanguage()
	if tag, _, _ := strings.Cut(strings.ToLower(language), "-"); cfg.Recognizer == nil || !s.AMD.IsEnabled() || tag != "en" {
		return nil
	}
	if local := speech.SelectRecognizer(cfg.Recognizer, speech.LocalRecognizer); local.SupportsLanguage(language) {
		return local
	}
	if own := cfg.recognizer(s); own.TranscribesFreeSpeech(language) {
		return own
	}
	return nil
}

func (cfg *Config) beforeConversation(callID string) func(any) {
	if cfg.BeforeMessage == nil {
		return nil
	}
	return func(msg any) { cfg.BeforeMessage("conversation", callID, msg) }
}

// onActionTaken commits the event about an action that the agent has performed.
func (c *call) onActionTaken(ctx actor.Context, m conversation.ActionPerformed) {
	if c.stage >= flushing {
		return
	}
	c.agent.appointments = c.agent.appointments.Apply(m.Appointment)
	c.commit(ctx, event.AgentActionTriggered, event.AgentActionData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Action: m.Action, Arguments: m.Arguments, Result: m.Result, LatencyMs: m.Duration.Milliseconds(),
	}, nil)
}

// onIntentDetected commits the event about an intent that was recognized in the caller's words.
func (c *call) onIntentDetected(ctx actor.Context, m conversation.IntentRecognized) {
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

// reportEscalation commits the events about a transfer to a person that the agent requests.
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

// onAgentChanged stores that another agent continues the call. The call record names the agent that currently speaks.
func (c *call) onAgentChanged(ctx actor.Context, m conversation.AgentHandedOver) {
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

// callerSpoke reports whether the caller has spoken or pressed a digit. Calls without caller input are not
// analysed.
func callerSpoke(all []domain.Segment) bool {
	return slices.ContainsFunc(all, func(s domain.Segment) bool { return s.Speaker == "caller" })
}

// startConversation starts the conversation. If after is set, the conversation continues from that state, which another
// process stored in a checkpoint.
func (c *call) startConversation(ctx actor.Context, after *conversation.SavedState) {
	detectAnswerer := !c.inbound && after == nil
	var greeting speech.Recognizer
	if detectAnswerer {
		greeting = c.cfg.answerRecognizer(&c.script)
	}
	tap := c.audio.connectEngines(c.cfg, &c.script, c.optOut, greeting != nil)
	var runtime conversation.AgentRuntime // nil: no language model
	if c.cfg.AgentRuntime != nil {
		runtime = c.cfg.AgentRuntime(c.call)
	}
	c.agent.conversation = ctx.SpawnPrefix(mailbox.Props(func() actor.Actor {
		return conversation.New(conversation.Config{
			Script: c.script, Variables: c.spokenVariables(c.answeredAt), Player: c.audio.session, Synthesizer: c.cfg.Speaker, Log: c.log, OnHideInput: c.audio.session.SetSensitive,
			AgentRuntime: runtime, OptOutKeywords: c.optOut, Recognizer: c.cfg.recognizer(&c.script), AudioTap: tap, DetectAnswerer: detectAnswerer, AnswerRecognizer: greeting, Redact: c.cfg.redactor(),
			Checkpoints: c.cfg.StoreCheckpoints, SavedState: after, OnMessage: c.cfg.beforeConversation(c.call.ID),
		})
	}, mailboxSize), "conversation")
	ctx.Send(c.agent.conversation, conversation.StartConversation{})
	if c.audio.held {
		c.agent.pause(ctx, pausedByHold)
	}
}

// spokenVariables returns the values of the variables that the texts of the pathway can contain.
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

// onConversationDied ends the call with an internal error if its conversation has failed.
func (c *call) onConversationDied(ctx actor.Context, m *actor.Terminated) {
	if c.stopping || c.onTransferLegDied(ctx, m.Who) {
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

func (c *call) reportFault(ctx actor.Context, m conversation.Fault) {
	if c.stage >= flushing {
		return
	}
	c.commit(ctx, event.AgentError, event.AgentErrorData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Stage: m.Stage, Code: m.Code, Message: m.Message, Recovered: m.Recovered,
	}, nil)
}
