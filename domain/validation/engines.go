package validation

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/callboard/callboard/domain"
)

// Limits of the engine, turn-taking and analysis settings of an agent.
const (
	MaxSystemPrompt   = 32_000
	MaxAgentTools     = 50
	MaxAgentBases     = 20
	MaxEngineName     = 100
	maxTokens         = 32_000
	MaxEngineWords    = 100
	MaxPronunciations = 200
	MaxLanguages      = 20
	maxCriteria       = 4000
	MaxFields         = 50
	MaxFieldValues    = 100
	minHookTimeout    = 100
	maxHookTimeout    = 5000
	stdHookTimeout    = 1500
)

// fieldName matches the name of an analysis field.
var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// checkEngines validates the language model, speech and realtime engine settings of an agent.
func checkEngines(p *domain.Problems, a *domain.Agent) {
	if l := a.LLM; l != nil {
		Text(p, "llm.engine", l.Engine, false, MaxEngineName)
		Text(p, "llm.model", l.Model, false, MaxEngineName)
		if t := l.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
			p.Add("llm.temperature", domain.CodeValidation, "must be between 0 and 2")
		}
		checkBetween(p, "llm.max_tokens", l.MaxTokens, 0, maxTokens)
	}
	if s := a.STT; s != nil {
		Text(p, "stt.engine", s.Engine, false, MaxEngineName)
		Text(p, "stt.model", s.Model, false, MaxEngineName)
		if s.Language != "" && !language.MatchString(s.Language) {
			p.Add("stt.language", domain.CodeValidation, "%q is not a language tag (e.g. en-US)", shorten(s.Language))
		}
		for i, word := range atMost(p, "stt.keywords", s.Keywords, MaxEngineWords) {
			Text(p, indexedParam("stt.keywords", i), word, true, MaxEngineName)
		}
	}
	if r := a.Realtime; r != nil {
		Text(p, "realtime.engine", r.Engine, false, MaxEngineName)
		Text(p, "realtime.model", r.Model, false, MaxEngineName)
		Text(p, "realtime.voice", r.Voice, false, MaxEngineName)
	}
}

// checkConduct validates an agent's settings of turn-taking, answering machine detection, inbound hook and analysis.
func checkConduct(p *domain.Problems, a *domain.Agent) {
	if t := a.TurnTaking; t != nil {
		checkBetween(p, "turn_taking.interruption_words", t.InterruptionWords, 0, domain.MaxInterruptionWords)
		checkBetween(p, "turn_taking.end_of_turn_ms", t.EndOfTurnMs, 0, domain.MaxTurnSilenceMs)
		checkBetween(p, "turn_taking.end_of_complete_turn_ms", t.EndOfCompleteTurnMs, 0, domain.MaxTurnSilenceMs)
		checkBetween(p, "turn_taking.end_of_incomplete_turn_ms", t.EndOfIncompleteTurnMs, 0, domain.MaxTurnSilenceMs)
	}
	if m := a.AMD; m != nil {
		checkOneOf(p, "amd.mode", m.Mode, "off", "async", "wait")
		if m.VoicemailAction != "" {
			checkOneOf(p, "amd.voicemail_action", m.VoicemailAction, "hangup", "leave_message", "continue")
		}
		Prose(p, "amd.message", m.Message, MaxFirstMessage)
		if m.VoicemailAction == "leave_message" && m.Message == "" {
			p.Add("amd.message", domain.CodeValidation, "is required where a message is to be left")
		}
	}
	if h := a.OnInbound; h != nil {
		HTTPS(p, "on_inbound.url", h.URL)
		checkBetween(p, "on_inbound.timeout_ms", h.TimeoutMs, minHookTimeout, maxHookTimeout)
	}
	if n := a.Analysis; n != nil {
		Prose(p, "analysis.success_criteria", n.SuccessCriteria, maxCriteria)
		Fields(p, "analysis.fields", n.Fields)
	}
}

func setFieldDefaults(all []domain.AnalysisField) {
	for i := range all {
		if all[i].Type == "" {
			all[i].Type = "string"
		}
	}
}

// Fields adds the problems with the fields that the analysis of a call fills in.
func Fields(p *domain.Problems, param string, all []domain.AnalysisField) {
	seen := make(map[string]bool)
	for i, f := range atMost(p, param, all, MaxFields) {
		field := indexedParam(param, i)
		switch {
		case !fieldName.MatchString(f.Name):
			p.Add(field+".name", domain.CodeValidation, "%q is not a valid name: letters, digits and _, not beginning with a digit", shorten(f.Name))
		case seen[f.Name]:
			p.Add(field+".name", domain.CodeValidation, "%q is listed twice", shorten(f.Name))
		}
		seen[f.Name] = true
		if f.Type != "" {
			checkOneOf(p, field+".type", f.Type, "string", "number", "integer", "boolean")
		}
		Prose(p, field+".description", f.Description, MaxDescription)
		if len(f.Values) > 0 && f.Type != "string" && f.Type != "" {
			p.Add(field+".values", domain.CodeValidation, "are for a string")
		}
		for j, v := range atMost(p, field+".values", f.Values, MaxFieldValues) {
			Text(p, fmt.Sprintf("%s.values[%d]", field, j), v, true, MaxName)
		}
	}
}

// checkIDs adds a problem for each invalid or duplicate ID and returns the IDs in canonical form.
func checkIDs(p *domain.Problems, param string, kind domain.Prefix, all []string, most int) []string {
	seen := make(map[string]bool)
	out := make([]string, 0, len(all))
	for i, id := range atMost(p, param, all, most) {
		if id == "" {
			p.Add(indexedParam(param, i), domain.CodeValidation, "is required")
			continue
		}
		id = ID(p, indexedParam(param, i), kind, id)
		if seen[id] && id != "" {
			p.Add(indexedParam(param, i), domain.CodeValidation, "%q is listed twice", id)
		}
		seen[id] = true
		out = append(out, id)
	}
	return out
}

// checkToolNames validates a list of tool IDs and names of built-in tools, and returns the list in canonical form.
func checkToolNames(p *domain.Problems, param string, all []string) []string {
	seen := make(map[string]bool)
	out := make([]string, 0, len(all))
	for i, name := range atMost(p, param, all, MaxAgentTools) {
		if !slices.Contains(domain.BuiltInTools(), name) {
			name = ID(p, indexedParam(param, i), domain.PrefixTool, name)
		}
		if seen[name] && name != "" {
			p.Add(indexedParam(param, i), domain.CodeValidation, "%q is listed twice", name)
		}
		seen[name] = true
		out = append(out, name)
	}
	return out
}
