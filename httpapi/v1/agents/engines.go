package agents

import (
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// NewLLM is a language model as it is sent.
type NewLLM struct {
	Engine      string   `json:"engine,omitempty" maxLength:"100" doc:"An engine of the installation; empty: its own choice."`
	Model       string   `json:"model,omitempty" maxLength:"100"`
	Temperature *float64 `json:"temperature,omitempty" minimum:"0" maximum:"2"`
	MaxTokens   int      `json:"max_tokens,omitempty" minimum:"0" maximum:"32000" doc:"Of one answer; 0: as the engine has it."`
	Speculative bool     `json:"speculative,omitempty" doc:"It is asked as soon as the caller is silent, and again where he says more."`
}

// NewSTT is how an agent hears as it is sent.
type NewSTT struct {
	Engine   string   `json:"engine,omitempty" maxLength:"100" doc:"An engine of the installation; empty: its own choice."`
	Model    string   `json:"model,omitempty" maxLength:"100"`
	Language string   `json:"language,omitempty" example:"en-US" doc:"Where it is not the agent's."`
	Keywords []string `json:"keywords,omitempty" nullable:"false" doc:"Words that are likely to be said; 100 at most."`
}

// NewRealtime is an engine that hears and speaks as it is sent.
type NewRealtime struct {
	Engine string `json:"engine,omitempty" maxLength:"100" doc:"An engine of the installation; empty: its own choice."`
	Model  string `json:"model,omitempty" maxLength:"100"`
	Voice  string `json:"voice,omitempty" maxLength:"100"`
}

// NewTurnTaking are the turn-taking settings of an agent in the body of a request.
type NewTurnTaking struct {
	Interruptible     *bool `json:"interruptible,omitempty" default:"true" doc:"Speech may cut what it says."`
	InterruptionWords int   `json:"interruption_words,omitempty" minimum:"0" maximum:"10" doc:"So many words count as an interruption; 0: as the engine has it."`
	EndOfTurnMs       int   `json:"end_of_turn_ms,omitempty" minimum:"0" maximum:"5000" doc:"So much silence ends the caller's turn; 0: as the engine has it."`
}

// NewAMD is what an agent does about answering machines as it is sent.
type NewAMD struct {
	Mode            string `json:"mode,omitempty" enum:"off,async,wait" default:"off" doc:"off; async: while the agent speaks already; wait: before it speaks, for 6 seconds at most. Of outbound calls."`
	VoicemailAction string `json:"voicemail_action,omitempty" enum:"hangup,leave_message,continue"`
	Message         string `json:"message,omitempty" maxLength:"4000" doc:"leave_message: what is left behind the beep; {{name}} stands for a variable."`
}

// NewInboundHook is whom an agent asks when a call comes in, as it is sent.
type NewInboundHook struct {
	URL       string `json:"url,omitempty" doc:"https only, at an address that may be reached." example:"https://example.com/calls"`
	TimeoutMs int    `json:"timeout_ms,omitempty" minimum:"0" maximum:"5000" default:"1500" doc:"How long an answer is waited for: 100 to 5000."`
}

// NewAgentSMS is how an agent answers text messages as it is sent.
type NewAgentSMS struct {
	Enabled        bool `json:"enabled" doc:"Who writes to a number of the agent gets an answer, by its pathway."`
	TimeoutMinutes int  `json:"timeout_minutes,omitempty" minimum:"1" maximum:"10080" default:"60" doc:"So long without a message ends a conversation; the next one begins anew."`
	MaxReplies     int  `json:"max_replies,omitempty" minimum:"1" maximum:"100" default:"20" doc:"So many replies to one contact within timeout_minutes, over all conversations; then the agent is silent."`
}

// NewAnalysisField is something to be found as it is sent.
type NewAnalysisField struct {
	Name        string   `json:"name" example:"order"`
	Type        string   `json:"type,omitempty" enum:"string,number,integer,boolean" default:"string"`
	Description string   `json:"description,omitempty" maxLength:"2000"`
	Values      []string `json:"values,omitempty" nullable:"false" doc:"The ones that a string may have; 100 at most."`
	Required    bool     `json:"required,omitempty"`
}

// NewAnalysis is what is wanted to be known of a call as it is sent.
type NewAnalysis struct {
	Summary         bool               `json:"summary,omitempty"`
	SuccessCriteria string             `json:"success_criteria,omitempty" maxLength:"4000" doc:"When a call was a success, in words."`
	Fields          []NewAnalysisField `json:"fields,omitempty" nullable:"false" doc:"50 at most."`
}

// applyEngines takes over what is said of engines, turns and analysis.
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

// SpeechToText returns the speech recognition settings that were sent.
func SpeechToText(s NewSTT) domain.AgentSTT {
	s.Keywords = slices.Clone(s.Keywords)
	return domain.AgentSTT(s)
}

// AnalysisSettings returns the analysis settings that were sent.
func AnalysisSettings(x NewAnalysis) domain.AgentAnalysis {
	return domain.AgentAnalysis{Summary: x.Summary, SuccessCriteria: x.SuccessCriteria, Fields: analysisFields(x.Fields)}
}
