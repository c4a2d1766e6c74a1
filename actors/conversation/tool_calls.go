package conversation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

const (
	toolTimeout   = 70 * time.Second
	maxShownBytes = 4 << 10 // bytes of arguments and of a result in an event
)

// toolCall is one tool call of an agent.
type toolCall struct {
	act    pathway.ActionRequest
	script domain.Script // script of the calling agent
}

// toolDone carries the result of a tool call.
type toolDone struct {
	act    pathway.ActionRequest
	result ToolResult
	took   time.Duration
}

// Control implements mailbox.Control: a full mailbox accepts this message. One call causes a limited number of them.
func (toolDone) Control() {}

// callTool calls a tool in a background task. If checkpoints are enabled, the call first waits until its start is stored, so
// that another process does not repeat it.
func (c *Conversation) callTool(ctx actor.Context, d pathway.ActionRequest) {
	switch {
	case d.Type == domain.NodeAgent:
		c.loadAgent(ctx, d)
		return
	case c.cfg.AgentRuntime == nil:
		ctx.Send(ctx.Self(), toolDone{act: d, result: ToolResult{Text: "no tools are available"}})
		return
	case c.cfg.Checkpoints:
		c.checkpoint.deferTool(ctx, toolCall{d, c.cfg.Script})
	default:
		runTool(ctx, c.cfg.AgentRuntime, toolCall{d, c.cfg.Script})
	}
	if c.model.cancelSlow == nil {
		c.model.startSlowTimer(ctx, d.Round)
	}
}

// runTool calls a tool in a background task, whose result is a toolDone message.
func runTool(ctx actor.Context, runtime AgentRuntime, t toolCall) {
	mailbox.RunTask(ctx, toolTimeout, func(bound context.Context) any {
		at := time.Now()
		return toolDone{act: t.act, result: recoverResult(func() ToolResult { return runtime.CallTool(bound, &t.script, t.act) }), took: time.Since(at)}
	})
}

// recoverResult calls f and converts a panic in f into a failed result.
func recoverResult(f func() ToolResult) (r ToolResult) {
	defer func() {
		if v := recover(); v != nil {
			r = ToolResult{Text: "the tool failed"}
		}
	}()
	return f()
}

// onToolDone reports the result of a tool to the call actor. It passes the result to the pathway, after a pause of the agent
// has ended.
func (c *Conversation) onToolDone(ctx actor.Context, m toolDone) {
	if c.finished {
		return
	}
	d := m.act
	name := cmp.Or(m.result.Name, d.Name)
	if name == "" {
		name = string(d.Type)
		if d.Type == domain.NodeTool {
			name = d.Target // the tool was deleted, or was not called
		}
	}
	event := ActionPerformed{Action: name, Arguments: shownArguments(d, c.cfg.Redact), Result: shownResult(m.result, c.cfg.Redact), Duration: m.took}
	if name == domain.ToolAppointment && m.result.OK {
		_ = json.Unmarshal([]byte(m.result.Text), &event.Appointment) // another kind of result leaves it empty
	}
	ctx.Send(ctx.Parent(), event)
	if !m.result.OK {
		text := truncate(c.cfg.Redact.RedactText(m.result.Text), 200)
		ctx.Send(ctx.Parent(), Fault{Stage: "tool", Code: "action_failed", Message: fmt.Sprintf("%s at node %s: %s", name, d.Node, text), Recovered: true})
	}
	in := pathway.ActionEnded{Round: d.Round, ID: d.ID, OK: m.result.OK, Result: m.result.Text}
	if c.agentPause.active {
		c.agentPause.deferred = append(c.agentPause.deferred, in)
		return
	}
	c.advance(ctx, in)
}

// shownArguments returns the arguments of a tool call as an event shows them. It redacts them first and shortens them after
// that, so that no part of a secret remains.
func shownArguments(d pathway.ActionRequest, redact *domain.Redactor) json.RawMessage {
	switch {
	case len(d.RawArguments) > 0 && len(d.RawArguments) <= maxShownBytes && json.Valid(d.RawArguments):
		return redact.RedactJSON(d.RawArguments)
	case len(d.RawArguments) > 0:
		return json.RawMessage(`{"too_long":true}`)
	}
	text, arguments := d.Text, d.Arguments
	if d.Record != nil {
		text, arguments = d.Record.Text, d.Record.Arguments
	}
	all := make(map[string]string, len(arguments)+2)
	for name, value := range arguments {
		all[name] = truncate(redact.RedactText(value), maxShownBytes/4)
	}
	if text != "" {
		all["body"] = truncate(redact.RedactText(text), maxShownBytes/4)
	}
	if d.Type == domain.NodeAppointment {
		all["action"] = d.Target
	}
	b, _ := json.Marshal(all) // a map of strings cannot fail
	return b
}

// shownResult converts a tool result into a redacted JSON object for an event.
func shownResult(r ToolResult, redact *domain.Redactor) json.RawMessage {
	text := redact.RedactText(r.Text)
	if json.Valid([]byte(r.Text)) {
		text = string(redact.RedactJSON(json.RawMessage(r.Text)))
	}
	var object map[string]json.RawMessage
	if len(text) <= maxShownBytes && json.Unmarshal([]byte(text), &object) == nil && object != nil && r.OK {
		return json.RawMessage(text)
	}
	name := "text"
	if !r.OK {
		name = "error"
	}
	b, _ := json.Marshal(map[string]string{name: truncate(text, maxShownBytes)}) // a map of strings cannot fail
	return b
}

// truncate cuts a text to at most the given number of bytes.
func truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	r := []rune(s[:most])
	return string(r[:len(r)-1]) + "…"
}
