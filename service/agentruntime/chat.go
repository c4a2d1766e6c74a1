package agentruntime

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/engines/llm"
)

// AskModel requests the next response of an agent in a chat from its language model.
func (s *Service) AskModel(ctx context.Context, p domain.Principal, agent *domain.AgentLLM, brief string, t pathway.ModelRequest) (sentences []string, end pathway.ModelAnswered) {
	a := &Runtime{cfg: &s.cfg, p: p}
	answer := a.Respond(ctx, conversation.ModelRequest{Script: &domain.Script{LLM: agent}, Brief: brief, Step: t}, func(text string, _ time.Duration) {
		sentences = append(sentences, text)
	})
	return sentences, pathway.ModelAnswered{Round: t.Round, Calls: answer.Calls, Failed: answer.Failed}
}

// HasModel reports whether a language model is configured for an agent.
func (s *Service) HasModel(_ context.Context, _ domain.Principal, l *domain.AgentLLM) bool {
	return len(s.cfg.Models.EnginesFor(l)) > 0
}

// maxCallerTokens limits the response of a language model that plays a caller.
const maxCallerTokens = 200

// PlayCaller returns the next sentences of a simulated caller from the first language model that answers. For this
// language model, the agent under test is the user.
func (s *Service) PlayCaller(ctx context.Context, _ domain.Principal, brief string, said []pathway.Message) (string, error) {
	r := llm.Request{Messages: []llm.Message{{Role: llm.System, Text: brief}}, MaxTokens: maxCallerTokens}
	if len(said) == 0 || said[0].By != pathway.ByAgent {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Text: "(the agent says nothing yet)"})
	}
	for _, m := range said {
		role := llm.User
		if m.By == pathway.ByCaller {
			role = llm.Assistant
		}
		r.Messages = append(r.Messages, llm.Message{Role: role, Text: m.Text})
	}
	if r.Messages[len(r.Messages)-1].Role == llm.Assistant {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Text: "(the agent says nothing)"})
	}
	got, err := s.cfg.Client.Ask(ctx, s.cfg.Models.EnginesFor(nil), r, nil, nil)
	if f, ok := errors.AsType[*llm.Fault](err); ok {
		return "", errors.New(f.Code + ": engine " + f.Engine + ": " + f.Message)
	}
	return got.Text, err
}
