package agents

import (
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// NewLLM are language model settings in a request body.
type NewLLM struct {
	Engine      string   `json:"engine,omitempty" maxLength:"100" doc:"An engine of the installation. Default: the engine that the installation selects."`
	Model       string   `json:"model,omitempty" maxLength:"100"`
	Temperature *float64 `json:"temperature,omitempty" minimum:"0" maximum:"2"`
	MaxTokens   int      `json:"max_tokens,omitempty" minimum:"0" maximum:"32000" doc:"Maximum tokens of one response. 0: the default of the engine."`
	Speculative bool     `json:"speculative,omitempty" doc:"true: the model is requested as soon as the caller is silent, and again if the caller continues."`
}

// NewSTT are speech recognition settings in a request body.
type NewSTT struct {
	Engine   string   `json:"engine,omitempty" maxLength:"100" doc:"An engine of the installation. Default: the engine that the installation selects."`
	Model    string   `json:"model,omitempty" maxLength:"100"`
	Language string   `json:"language,omitempty" example:"en-US" doc:"Default: the language of the agent."`
	Keywords []string `json:"keywords,omitempty" nullable:"false" doc:"Words that callers are likely to say, at most 100."`
}

// NewRealtime are realtime engine settings in a request body.
type NewRealtime struct {
	Engine string `json:"engine,omitempty" maxLength:"100" doc:"An engine of the installation. Default: the engine that the installation selects."`
	Model  string `json:"model,omitempty" maxLength:"100"`
	Voice  string `json:"voice,omitempty" maxLength:"100"`
}

// NewTurnTaking are the turn-taking settings of an agent in a request body.
type NewTurnTaking struct {
	Interruptible         *bool `json:"interruptible,omitempty" default:"true" doc:"The caller's speech interrupts the agent."`
	InterruptionWords     int   `json:"interruption_words,omitempty" minimum:"0" maximum:"10" doc:"Number of words that count as an interruption. 0: 2."`
	EndOfTurnMs           int   `json:"end_of_turn_ms,omitempty" minimum:"0" maximum:"5000" doc:"Silence that ends the caller's turn. 0: 450, for a realtime engine its own default."`
	EndOfCompleteTurnMs   int   `json:"end_of_complete_turn_ms,omitempty" minimum:"0" maximum:"5000" doc:"Silence that ends the turn after a complete short answer, such as an expected phrase, if the engine recognizes words while the caller speaks; at most end_of_turn_ms. 0: 250."`
	EndOfIncompleteTurnMs int   `json:"end_of_incomplete_turn_ms,omitempty" minimum:"0" maximum:"5000" doc:"Silence that ends the turn after the beginning of a sentence, such as I would like to, or of a number that is spoken in groups; at least end_of_turn_ms. 0: 1500."`
}

// NewAMD are the answering machine detection settings of an agent in a request body.
type NewAMD struct {
	Mode            string `json:"mode,omitempty" enum:"off,async,wait" default:"off" doc:"Detection of machines in outbound calls. off: none. async: while the agent already speaks. wait: before the agent speaks, mostly for 1 to 2 seconds, at most for 13."`
	VoicemailAction string `json:"voicemail_action,omitempty" enum:"hangup,leave_message,continue" doc:"Action when a machine answers. Where speech is recognized, the words of the greeting decide before it: call screening and menus get no action."`
	Message         string `json:"message,omitempty" maxLength:"4000" doc:"Message after the beep, for leave_message. {{name}} inserts a variable."`
}

// NewInboundHook is the on_inbound endpoint of an agent in a request body.
type NewInboundHook struct {
	URL       string `json:"url,omitempty" doc:"https URL at an allowed address." example:"https://example.com/calls"`
	TimeoutMs int    `json:"timeout_ms,omitempty" minimum:"0" maximum:"5000" default:"1500" doc:"Timeout of the request, 100 to 5000."`
}

// NewAgentSMS are the text message settings of an agent in a request body.
type NewAgentSMS struct {
	Enabled        bool `json:"enabled" doc:"true: the agent answers text messages to its numbers by its pathway."`
	TimeoutMinutes int  `json:"timeout_minutes,omitempty" minimum:"1" maximum:"10080" default:"60" doc:"Time without a message that ends a conversation. The next message starts a new one."`
	MaxReplies     int  `json:"max_replies,omitempty" minimum:"1" maximum:"100" default:"20" doc:"Maximum replies to one contact within timeout_minutes, over all conversations."`
}

// NewAnalysisField is a field of the call analysis in a request body.
type NewAnalysisField struct {
	Name        string   `json:"name" example:"order"`
	Type        string   `json:"type,omitempty" enum:"string,number,integer,boolean" default:"string"`
	Description string   `json:"description,omitempty" maxLength:"2000"`
	Values      []string `json:"values,omitempty" nullable:"false" doc:"Allowed values of a string, at most 100."`
	Required    bool     `json:"required,omitempty"`
}

// NewAnalysis are the call analysis settings in a request body.
type NewAnalysis struct {
	Summary         bool               `json:"summary,omitempty"`
	SuccessCriteria string             `json:"success_criteria,omitempty" maxLength:"4000" doc:"Criteria for a successful call, in words."`
	Fields          []NewAnalysisField `json:"fields,omitempty" nullable:"false" doc:"Fields to extract from a call, at most 50."`
}

// applyEngines copies the engine, turn-taking and analysis settings in the request body to an agent.
func (n *NewAgent) applyEngines(a *domain.Agent) {
	a.LLM = router.Optional(n.LLM, func(l NewLLM) domain.AgentLLM { return domain.AgentLLM(l) })
	a.STT = router.Optional(n.STT, SpeechToText)
	a.Realtime = router.Optional(n.Realtime, func(r NewRealtime) domain.AgentRealtime { return domain.AgentRealtime(r) })
	a.TurnTaking = router.Optional(n.TurnTaking, func(t NewTurnTaking) domain.TurnTaking { return domain.TurnTaking(t) })
	a.AMD = router.Optional(n.AMD, func(m NewAMD) domain.AgentAMD { return domain.AgentAMD(m) })
	a.OnInbound = router.Optional(n.OnInbound, func(h NewInboundHook) domain.AgentHook { return domain.AgentHook(h) })
	if n.OnInbound != nil && router.IsDefault(*n.OnInbound) {
		a.OnInbound = nil
	}
	a.Analysis = router.Optional(n.Analysis, AnalysisSettings)
	a.SMS = router.Optional(n.SMS, func(t NewAgentSMS) domain.AgentSMS { return domain.AgentSMS(t) })
}

func analysisFields(all []NewAnalysisField) []domain.AnalysisField {
	out := make([]domain.AnalysisField, len(all))
	for i, f := range all {
		f.Values = slices.Clone(f.Values)
		out[i] = domain.AnalysisField(f)
	}
	return out
}

// SpeechToText converts speech recognition settings in a request body to the stored form.
func SpeechToText(s NewSTT) domain.AgentSTT {
	s.Keywords = slices.Clone(s.Keywords)
	return domain.AgentSTT(s)
}

// AnalysisSettings converts call analysis settings in a request body to the stored form.
func AnalysisSettings(x NewAnalysis) domain.AgentAnalysis {
	return domain.AgentAnalysis{Summary: x.Summary, SuccessCriteria: x.SuccessCriteria, Fields: analysisFields(x.Fields)}
}
