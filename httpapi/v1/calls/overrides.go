package calls

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/v1/agents"
)

// NewOverrides are what a call has otherwise than its agent as they are sent.
type NewOverrides struct {
	FirstMessage string                 `json:"first_message,omitempty" maxLength:"4000" doc:"What an agent without a pathway says first; {{name}} stands for a variable. 422 where the call walks a pathway."`
	SystemPrompt string                 `json:"system_prompt,omitempty" maxLength:"32000" doc:"What a language model is told of its part."`
	Language     string                 `json:"language,omitempty" example:"en-GB" doc:"In which it speaks and, unless stt says otherwise, hears."`
	Timezone     string                 `json:"timezone,omitempty" example:"Europe/London"`
	Voice        *agents.NewVoice       `json:"voice,omitempty"`
	LLM          *agents.NewLLM         `json:"llm,omitempty" doc:"The language model."`
	STT          *agents.NewSTT         `json:"stt,omitempty" doc:"How it hears."`
	TurnTaking   *agents.NewTurnTaking  `json:"turn_taking,omitempty" doc:"When it takes the word."`
	Limits       *agents.NewAgentLimits `json:"limits,omitempty"`
	Analysis     *agents.NewAnalysis    `json:"analysis,omitempty" doc:"What is wanted to be known of the call."`
}

// NewCallAMD is how one call finds out who has answered as it is sent.
type NewCallAMD struct {
	Mode string `json:"mode" enum:"off,async,wait" doc:"off; async: while the agent speaks already; wait: before it speaks, for 6 seconds at most."`
}

// NewVoicemail is what one call does about a machine that has answered as it is
// sent.
type NewVoicemail struct {
	Action  string `json:"action" enum:"hangup,leave_message,continue" doc:"Where neither the call nor its agent says how machines are noticed, they are with mode async."`
	Message string `json:"message,omitempty" maxLength:"4000" doc:"leave_message: what is left behind the beep, the agent's amd.message unless said; {{name}} stands for a variable."`
}

// overrideOf takes over an object that was sent.
func overrideOf[T, N any](sent *N, convert func(N) T) *T {
	if sent == nil {
		return nil
	}
	v := convert(*sent)
	return &v
}

// overrides are those of a call; nil: none.
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

// answeringMachine returns the settings of a call for answering machines; nil: those of its
// agent.
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
