package engines

import (
	"time"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/engines/llm"
)

// languageModels returns the language models and the embedding model of engines_file.
func languageModels(file *configs.Engines) llm.Models {
	m := llm.Models{Order: file.LLM}
	for i := range file.List {
		e := &file.List[i]
		if len(file.Embeddings) == 1 && e.Name == file.Embeddings[0] {
			m.Embedding = &llm.Engine{Name: e.Name, URL: e.URL, Key: e.Key.Reveal(), Model: e.Embeddings.Model}
		}
		if e.LLM == nil || e.Kind != configs.EngineOpenAI {
			continue
		}
		m.List = append(m.List, llm.Engine{
			Name: e.Name, URL: e.URL, Key: e.Key.Reveal(), Model: e.LLM.Model,
			First: time.Duration(e.LLM.FirstMs) * time.Millisecond, Stall: time.Duration(e.LLM.StallMs) * time.Millisecond,
			ReasoningEffort: e.LLM.ReasoningEffort, MaxCompletionTokens: e.LLM.MaxTokensParameter == "max_completion_tokens",
		})
	}
	return m
}
