package calls

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/v1/agents"
)

// NewOverrides are the settings in which a call differs from its agent, in a request body.
type NewOverrides struct {
	FirstMessage string                 `json:"first_message,omitempty" maxLength:"4000" doc:"The first text of an agent without a pathway. {{name}} inserts a variable. 422 for a call with a pathway."`
	SystemPrompt string                 `json:"system_prompt,omitempty" maxLength:"32000" doc:"System prompt of the language model."`
	Language     string                 `json:"language,omitempty" example:"en-GB" doc:"Language of speech, and of recognition by default."`
	Timezone     string                 `json:"timezone,omitempty" example:"Europe/London"`
	Voice        *agents.NewVoice       `json:"voice,omitempty"`
	LLM          *agents.NewLLM         `json:"llm,omitempty" doc:"Language model settings."`
	STT          *agents.NewSTT         `json:"stt,omitempty" doc:"Speech recognition settings."`
	TurnTaking   *agents.NewTurnTaking  `json:"turn_taking,omitempty" doc:"Turn-taking settings."`
	Limits       *agents.NewAgentLimits `json:"limits,omitempty"`
	Analysis     *agents.NewAnalysis    `json:"analysis,omitempty" doc:"Analysis of the ended call."`
}

// NewCallAMD are the answering machine detection settings of one call in a request body.
type NewCallAMD struct {
	Mode string `json:"mode" enum:"off,async,wait" doc:"off: no detection. async: while the agent already speaks. wait: before the agent speaks, mostly for 1 to 2 seconds, at most for 13."`
}

// NewVoicemail says what one call does when a machine answers, in a request body.
type NewVoicemail struct {
	Action  string `json:"action" enum:"hangup,leave_message,continue" doc:"Action when a machine answers. If neither the call nor its agent sets a detection mode, the mode is async."`
	Message string `json:"message,omitempty" maxLength:"4000" doc:"Message after the beep, for leave_message. Default: amd.message of the agent. {{name}} inserts a variable."`
}

// overrideOf converts an optional object of the request body. It returns nil if the client has not sent the object.
func overrideOf[T, N any](sent *N, convert func(N) T) *T {
	if sent == nil {
		return nil
	}
	v := convert(*sent)
	return &v
}

// overrides converts the overrides in the request body to the stored form, nil if there are none. It adds validation
// errors to problems.
func (n *NewOverrides) overrides(problems *domain.Problems) *domain.CallOverrides {
	if n == nil {
		return nil
	}
	o := &domain.CallOverrides{
		FirstMessage: n.FirstMessage, SystemPrompt: n.SystemPrompt, Language: n.Language, Timezone: n.Timezone,
		Voice:      overrideOf(n.Voice, func(v agents.NewVoice) domain.Voice { return domain.Voice(v) }),
		LLM:        overrideOf(n.LLM, func(l agents.NewLLM) domain.AgentLLM { return domain.AgentLLM(l) }),
		STT:        overrideOf(n.STT, agents.SpeechToText),
		TurnTaking: overrideOf(n.TurnTaking, func(t agents.NewTurnTaking) domain.TurnTaking { return domain.TurnTaking(t) }),
		Limits:     overrideOf(n.Limits, func(l agents.NewAgentLimits) domain.AgentLimits { return domain.AgentLimits(l) }),
		Analysis:   overrideOf(n.Analysis, agents.AnalysisSettings),
	}
	validation.Overrides(problems, o)
	return o
}

// answeringMachine returns the answering machine detection settings of a call. It returns nil if the settings of the
// agent apply.
func (b *NewCallRequest) answeringMachine(problems *domain.Problems) *domain.CallAMD {
	if b.AMD == nil && b.Voicemail == nil {
		return nil
	}
	c := &domain.CallAMD{}
	if b.AMD != nil {
		c.Mode = b.AMD.Mode
		validation.AMDMode(problems, "amd.mode", c.Mode)
	}
	if v := b.Voicemail; v != nil {
		c.Action, c.Message = v.Action, v.Message
		validation.Voicemail(problems, "voicemail", c)
	}
	return c
}
