package agentruntime

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/engines/llm"
)

// Respond sends a request to the language models of the agent, in order, until one answers.
func (a *Runtime) Respond(ctx context.Context, t conversation.ModelRequest, sentence func(string, time.Duration)) conversation.ModelResponse {
	engines := a.cfg.Models.EnginesFor(t.Script.LLM)
	request, names := a.request(ctx, &t)
	var answer conversation.ModelResponse
	got, err := a.cfg.Client.Ask(ctx, engines, request, sentence, func(f *llm.Fault) {
		answer.Failovers = append(answer.Failovers, conversation.Fault{Stage: "llm", Code: f.Code, Message: "engine " + f.Engine + ": " + f.Message, Recovered: true})
	})
	if err != nil {
		answer.Failed, answer.Message = "internal", "the language model could not be requested"
		if f, ok := errors.AsType[*llm.Fault](err); ok {
			answer.Failed, answer.Message = f.Code, "engine "+f.Engine+": "+f.Message
			answer.Failovers = answer.Failovers[:max(0, len(answer.Failovers)-1)] // the last fault is the error of the response, not a failover
		}
		return answer
	}
	for _, c := range got.Calls {
		answer.Calls = append(answer.Calls, pathway.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Tool: names[c.Name]})
	}
	return answer
}

// request builds the request for a language model. names maps the name of each tool in the request to the id of the
// tool in the workspace.
func (a *Runtime) request(ctx context.Context, t *conversation.ModelRequest) (llm.Request, map[string]string) {
	brief := t.Brief + "\n\nIt is " + a.now(t.Script).Format("Monday, 2 January 2006, 15:04 MST") + "."
	if passages, from := a.retrieve(ctx, t.Step); passages != "" {
		brief += "\n\nPassages of documents that may answer the caller's last words; say nothing about documents that none of them tells:\n" + passages
		if t.OnPassages != nil {
			t.OnPassages(from)
		}
	}
	r := llm.Request{Messages: messagesOf(brief, t.Step.History), Language: t.Script.Language}
	if l := t.Script.LLM; l != nil {
		r.Temperature, r.MaxTokens = l.Temperature, l.MaxTokens
	}
	names := make(map[string]string)
	for _, o := range t.Step.Offers {
		if o.Kind != pathway.OfferTool {
			r.Tools = append(r.Tools, llm.Tool{Name: o.Name, Description: o.Description, Parameters: o.Parameters})
		}
	}
	for _, o := range t.Step.Offers {
		if o.Kind != pathway.OfferTool {
			continue
		}
		tool, err := a.cfg.tool(ctx, a.p, o.To)
		if err != nil {
			continue // the tool was deleted since
		}
		name := tool.Name
		if slices.ContainsFunc(r.Tools, func(x llm.Tool) bool { return x.Name == name }) {
			name = "tool_" + name[:min(len(name), 59)]
		}
		names[name] = tool.ID
		r.Tools = append(r.Tools, llm.Tool{Name: name, Description: tool.Description, Parameters: tool.Parameters})
	}
	return r, names
}

// now returns the current time in the time zone of a script.
func (a *Runtime) now(s *domain.Script) time.Time {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		zone = time.UTC
	}
	return time.Now().In(zone)
}

// messagesOf converts the conversation so far to messages for a language model. Language models require that each tool
// call has a result and that there is at least one message of the caller.
func messagesOf(brief string, history []pathway.Message) []llm.Message {
	out := []llm.Message{{Role: llm.System, Text: brief}}
	heard := false
	for i, h := range history {
		heard = heard || h.By == pathway.ByCaller
		switch h.By {
		case pathway.ByTool:
			continue // messagesOf adds a tool result right after its tool call
		case pathway.ByCaller:
			out = append(out, llm.Message{Role: llm.User, Text: h.Text})
			continue
		}
		x := llm.Message{Role: llm.Assistant, Text: h.Text}
		for _, c := range h.Calls {
			x.Calls = append(x.Calls, llm.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
		out = append(out, x)
		for _, c := range h.Calls {
			out = append(out, llm.Message{Role: llm.ToolRole, ID: c.ID, Text: resultOf(history[i+1:], c.ID)})
		}
	}
	if !heard {
		out = append(out, llm.Message{Role: llm.User, Text: "(The caller is on the line and has said nothing yet.)"})
	}
	return out
}

// resultOf returns the result of the tool call with this id from the conversation so far.
func resultOf(history []pathway.Message, id string) string {
	for _, h := range history {
		if h.By == pathway.ByAgent && len(h.Calls) > 0 {
			break // the model chooses the ids and may repeat them
		}
		if h.By == pathway.ByTool && h.ID == id {
			return h.Text
		}
	}
	return "error: it was not done"
}

// retrieve returns the passages of the pathway node's knowledge bases that match the caller's last message.
func (a *Runtime) retrieve(ctx context.Context, t pathway.ModelRequest) (text string, from []domain.Passage) {
	for _, h := range slices.Backward(t.History) {
		if h.By == pathway.ByCaller {
			return a.cfg.Retrieve(ctx, a.p, t.Bases, h.Text)
		}
	}
	return "", nil
}
