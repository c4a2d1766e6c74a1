package domain

import "cmp"

// CallOverrides replaces settings of the agent for one call. Empty texts and nil objects keep the settings of the
// agent. An object replaces the whole object of the agent.
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

// ApplyTo returns the agent with the overrides applied. A nil receiver changes nothing.
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

// CallAMD replaces settings of answering machine detection for one call. Empty fields keep the settings of the
// agent.
type CallAMD struct {
	Mode    string `json:"mode,omitempty"`   // off, async or wait
	Action  string `json:"action,omitempty"` // hangup, leave_message or continue
	Message string `json:"message,omitempty"`
}

// ApplyTo returns the agent's settings with the overrides applied. A nil receiver changes nothing. If no mode is
// set, the mode is async, because an action needs detection.
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
