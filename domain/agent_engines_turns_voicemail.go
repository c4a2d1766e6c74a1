package domain

// AgentLLM selects the language model of an agent: an engine that the operator has configured, and one of its models.
type AgentLLM struct {
	Engine      string   `json:"engine,omitempty"`
	Model       string   `json:"model,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"` // 0 to 2
	MaxTokens   int      `json:"max_tokens,omitempty"`  // maximum length of one answer
	Speculative bool     `json:"speculative,omitempty"` // the model is requested as soon as the caller is silent, before the end of the turn is certain
}

// AgentSTT selects the speech recognition engine of an agent and its language.
type AgentSTT struct {
	Engine   string   `json:"engine,omitempty"`
	Model    string   `json:"model,omitempty"`
	Language string   `json:"language,omitempty"` // Default: the language of the agent.
	Keywords []string `json:"keywords,omitempty"` // words that the caller is likely to say
}

// AgentRealtime selects a realtime engine, which recognizes and speaks without separate STT and TTS engines.
type AgentRealtime struct {
	Engine string `json:"engine,omitempty"`
	Model  string `json:"model,omitempty"`
	Voice  string `json:"voice,omitempty"`
}

// Limits of the turn-taking settings.
const (
	MaxTurnSilenceMs     = 5000
	MaxInterruptionWords = 10
)

// TurnTaking holds the turn-taking settings of an agent or of a pathway node: the end of the caller's turn and interruptions.
type TurnTaking struct {
	Interruptible     *bool `json:"interruptible,omitempty"`      // the caller may interrupt the agent. Default: true.
	InterruptionWords int   `json:"interruption_words,omitempty"` // number of words that count as an interruption

	// Silence in milliseconds that ends the caller's turn: in general, after a complete short answer, and after words that
	// are the beginning of a sentence, number or address.
	EndOfTurnMs           int `json:"end_of_turn_ms,omitempty"`
	EndOfCompleteTurnMs   int `json:"end_of_complete_turn_ms,omitempty"`
	EndOfIncompleteTurnMs int `json:"end_of_incomplete_turn_ms,omitempty"`
}

// Modes of answering machine detection, and actions after an answering machine is detected.
const (
	AMDOff      = "off"
	AMDAsync    = "async" // the agent speaks during detection
	AMDWait     = "wait"  // the agent speaks after detection
	AMDHangup   = "hangup"
	AMDMessage  = "leave_message"
	AMDContinue = "continue"
)

// AgentAMD holds the settings of answering machine detection.
type AgentAMD struct {
	Mode            string `json:"mode"`                       // off, async or wait
	VoicemailAction string `json:"voicemail_action,omitempty"` // hangup, leave_message or continue
	Message         string `json:"message,omitempty"`          // leave_message: the spoken message
}

// IsEnabled reports whether answering machine detection runs. A nil AgentAMD means off.
func (a *AgentAMD) IsEnabled() bool { return a != nil && (a.Mode == AMDAsync || a.Mode == AMDWait) }

// MachineAction returns what the agent does when an answering machine is detected: hangup or leave_message. It returns ""
// if the conversation continues.
func (a *AgentAMD) MachineAction() string {
	if a.IsEnabled() && a.VoicemailAction != AMDContinue {
		return a.VoicemailAction
	}
	return ""
}

// AnsweredByMachine reports whether answered_by has a value with which no conversation is possible.
func AnsweredByMachine(by string) bool {
	return by == "voicemail" || by == "fax" || by == "unavailable"
}

// AgentHook is a URL that is requested for each inbound call before it is answered.
type AgentHook struct {
	URL       string `json:"url"`
	TimeoutMs int    `json:"timeout_ms"`
}

// AgentAnalysis selects what a language model extracts from the transcript of an ended call.
type AgentAnalysis struct {
	Summary         bool            `json:"summary"`
	SuccessCriteria string          `json:"success_criteria,omitempty"`
	Fields          []AnalysisField `json:"fields,omitempty"`
}

// AnalysisField is a value to extract from a transcript.
type AnalysisField struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"` // string, number, integer or boolean
	Description string   `json:"description,omitempty"`
	Values      []string `json:"values,omitempty"` // string: allowed values
	Required    bool     `json:"required,omitempty"`
}
