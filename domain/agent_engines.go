package domain

// AgentLLM is the language model that an agent speaks by: an engine of the
// install and a model of it.
type AgentLLM struct {
	Engine      string   `json:"engine,omitempty"`
	Model       string   `json:"model,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"` // 0 to 2
	MaxTokens   int      `json:"max_tokens,omitempty"`  // of one answer
	Speculative bool     `json:"speculative,omitempty"` // it is asked as soon as the caller is silent
}

// AgentSTT is how an agent hears.
type AgentSTT struct {
	Engine   string   `json:"engine,omitempty"`
	Model    string   `json:"model,omitempty"`
	Language string   `json:"language,omitempty"` // where it is not the agent's
	Keywords []string `json:"keywords,omitempty"` // that are likely to be said
}

// AgentRealtime is an engine that hears and speaks by itself.
type AgentRealtime struct {
	Engine string `json:"engine,omitempty"`
	Model  string `json:"model,omitempty"`
	Voice  string `json:"voice,omitempty"`
}

// TurnTaking are the turn-taking settings of an agent: the end of the caller's turn,
// and interruptions.
type TurnTaking struct {
	Interruptible     *bool `json:"interruptible,omitempty"`      // speech may cut what it says; true unless said
	InterruptionWords int   `json:"interruption_words,omitempty"` // so many words count as one
	EndOfTurnMs       int   `json:"end_of_turn_ms,omitempty"`     // so much silence ends the caller's turn
}

// What an agent can do about answering machines: AgentAMD's modes and actions.
const (
	AMDOff      = "off"
	AMDAsync    = "async" // the agent speaks meanwhile
	AMDWait     = "wait"  // it speaks once it is known who is there
	AMDHangup   = "hangup"
	AMDMessage  = "leave_message"
	AMDContinue = "continue"
)

// AgentAMD is what an agent does about answering machines.
type AgentAMD struct {
	Mode            string `json:"mode"`                       // off | async | wait
	VoicemailAction string `json:"voicemail_action,omitempty"` // hangup | leave_message | continue
	Message         string `json:"message,omitempty"`          // leave_message: what is left
}

// IsEnabled says whether it matters who answers; an agent that says nothing of it does
// not care.
func (a *AgentAMD) IsEnabled() bool { return a != nil && (a.Mode == AMDAsync || a.Mode == AMDWait) }

// MachineAction is what is done about a machine: hangup or leave_message; "" where the
// call goes on.
func (a *AgentAMD) MachineAction() string {
	if a.IsEnabled() && a.VoicemailAction != AMDContinue {
		return a.VoicemailAction
	}
	return ""
}

// AnsweredByMachine says whether answered_by names somebody with whom nobody
// can speak.
func AnsweredByMachine(by string) bool {
	return by == "voicemail" || by == "fax" || by == "unavailable"
}

// AgentHook is asked when a call comes in.
type AgentHook struct {
	URL       string `json:"url"`
	TimeoutMs int    `json:"timeout_ms"`
}

// AgentAnalysis is what is wanted to be known of a call that is over.
type AgentAnalysis struct {
	Summary         bool            `json:"summary"`
	SuccessCriteria string          `json:"success_criteria,omitempty"`
	Fields          []AnalysisField `json:"fields,omitempty"`
}

// AnalysisField is something that is to be found in what was said.
type AnalysisField struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"` // string | number | integer | boolean
	Description string   `json:"description,omitempty"`
	Values      []string `json:"values,omitempty"` // string: the ones that it may have
	Required    bool     `json:"required,omitempty"`
}
