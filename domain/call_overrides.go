package domain

import "cmp"

// CallOverrides are what one call has otherwise than its agent. A text that is
// empty and an object that is nil stay the agent's; an object replaces the
// agent's as a whole.
type CallOverrides struct {
	FirstMessage string         `json:"first_message,omitempty"`
	SystemPrompt string         `json:"system_prompt,omitempty"`
	Language     string         `json:"language,omitempty"`
	Timezone     string         `json:"timezone,omitempty"`
	Voice        *Voice         `json:"voice,omitempty"`
	LLM          *AgentLLM      `json:"llm,omitempty"`
	STT          *AgentSTT      `json:"stt,omitempty"`
	TurnTaking   *TurnTaking    `json:"turn_taking,omitempty"`
	Limits       *AgentLimits   `json:"limits,omitempty"`
	Analysis     *AgentAnalysis `json:"analysis,omitempty"`
}

// ApplyTo is an agent as a call with these overrides has it; o may be nil.
func (o *CallOverrides) ApplyTo(a Agent) Agent {
	if o == nil {
		return a
	}
	a.FirstMessage, a.SystemPrompt = cmp.Or(o.FirstMessage, a.FirstMessage), cmp.Or(o.SystemPrompt, a.SystemPrompt)
	a.Language, a.Timezone = cmp.Or(o.Language, a.Language), cmp.Or(o.Timezone, a.Timezone)
	a.LLM, a.STT, a.TurnTaking, a.Analysis = cmp.Or(o.LLM, a.LLM), cmp.Or(o.STT, a.STT), cmp.Or(o.TurnTaking, a.TurnTaking), cmp.Or(o.Analysis, a.Analysis)
	if o.Voice != nil {
		a.Voice = *o.Voice
	}
	if o.Limits != nil {
		a.Limits = *o.Limits
	}
	return a
}

// CallAMD is what one call does about answering machines otherwise than its
// agent. What is empty stays the agent's.
type CallAMD struct {
	Mode    string `json:"mode,omitempty"`   // off | async | wait
	Action  string `json:"action,omitempty"` // hangup | leave_message | continue
	Message string `json:"message,omitempty"`
}

// ApplyTo is what a call does whose agent does a; c may be nil. Who says what is
// to be done about machines wants them to be noticed: beside the greeting
// unless the agent or the call says how.
func (c *CallAMD) ApplyTo(a *AgentAMD) *AgentAMD {
	if c == nil {
		return a
	}
	var out AgentAMD
	if a != nil {
		out = *a
	}
	out.VoicemailAction, out.Message = cmp.Or(c.Action, out.VoicemailAction), cmp.Or(c.Message, out.Message)
	if out.Mode = cmp.Or(c.Mode, out.Mode, AMDOff); out.Mode == AMDOff && c.Mode == "" {
		out.Mode = AMDAsync
	}
	return &out
}
