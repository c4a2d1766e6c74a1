// Package pathway is the state machine of an agent's conversation. Step takes an input, such as a key or recognized
// speech, and returns commands, such as a text to speak. It has no clock, audio or call.
package pathway

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Limits of a conversation.
const (
	defaultTimeout = 5 * time.Second
	defaultLength  = 1
	maxSteps       = 64  // nodes entered without input of the caller: detects a loop
	maxEntered     = 500 // nodes entered in total
)

// Input is an event in the conversation that Step processes.
type Input interface{ input() }

// The inputs of a conversation.
type (
	// Started starts the conversation after the call was answered.
	Started struct{}
	// PromptDone means that the text of the last Say was spoken or has failed.
	PromptDone struct{}
	// DigitsSent means that the digits of the last SendDigits were sent.
	DigitsSent struct{}
	// Digit is a pressed key: 0-9 * # A-D.
	Digit struct{ Key byte }
	// Utterance is recognized speech of the remote party. Text is "" if it was not understood.
	Utterance struct {
		Text       string
		Confidence float64 // 0 to 1
	}
	// Timeout means that the time of the last CollectInput has expired.
	Timeout struct{}
	// Transferred means that the last Transfer has ended. OK reports whether the caller reached a person and has returned.
	Transferred struct{ OK bool }
	// PromptHeard says which part of the current text the caller has heard so far. It belongs to the next input, which may
	// interrupt the text.
	PromptHeard struct{ Text string }
	// SilenceLimit means that neither the caller nor the agent has spoken for as long as the agent's limit allows.
	SilenceLimit struct{}
	// PromptCut means that the playback of the current text was cut off. No PromptDone follows.
	PromptCut struct{}
	// ResumeNode restarts the current node after the caller was connected to another party.
	ResumeNode struct{}
	// Restored continues the conversation in another process, with a state that Restore returned.
	Restored struct{}
	// AgentFailed means that the agent cannot speak or listen. After a goodbye the conversation ends with
	// ReasonAgentUnavailable.
	AgentFailed struct{}
	// Hangup means that the call has ended, by either party. The conversation ends at once.
	Hangup struct{}
)

func (Started) input()      {}
func (PromptCut) input()    {}
func (SilenceLimit) input() {}
func (PromptHeard) input()  {}
func (PromptDone) input()   {}
func (DigitsSent) input()   {}
func (Digit) input()        {}
func (Utterance) input()    {}
func (Timeout) input()      {}
func (Transferred) input()  {}
func (ResumeNode) input()   {}
func (Restored) input()     {}
func (AgentFailed) input()  {}
func (Hangup) input()       {}

// Command is an instruction of the conversation that the caller of Step executes. Commands are executed in order.
type Command interface{ command() }

// The commands of a conversation.
type (
	// Say speaks a text. The input PromptDone follows.
	Say struct {
		Node          string
		Text          string
		Shown         string // Text for the transcript, with secret values hidden
		Interruptible bool
		Sensitive     bool // Text must not be stored
	}
	// SetLanguage changes the language of speech synthesis and speech recognition.
	SetLanguage struct{ Language string }
	// StopSpeaking stops the current text. No PromptDone follows.
	StopSpeaking struct{}
	// CollectInput waits for the caller. One of the inputs Digit, Utterance or Timeout follows. The command replaces an
	// earlier CollectInput and its timer.
	CollectInput struct {
		Length    int // number of keys that are still expected
		Timeout   time.Duration
		Sensitive bool
	}
	// SendDigits sends DTMF digits. The input DigitsSent follows.
	SendDigits struct {
		Digits    string
		Sensitive bool
	}
	// Transfer transfers the caller. The input Transferred follows if the caller returns.
	Transfer struct {
		Node        string
		Destination string
		Mode        domain.TransferMode
		Summary     string
		Reason      string // cause; empty: the pathway
		Sensitive   bool   // Summary must not be stored
	}
	// UpdateResult reports that the outcome, notes, intent or variables of the conversation have changed.
	UpdateResult struct{ Result Result }
	// OptOut means that the remote party has opted out and must not be called again.
	OptOut struct{}
	// MissingVariable reports a placeholder in a text whose variable has no value and which has no fallback.
	MissingVariable struct{ Node, Name string }
	// End ends the conversation. Reason is the cause if the pathway was aborted, and otherwise "".
	End struct {
		Outcome domain.Outcome
		Notes   string
		Reason  string
	}
)

func (Say) command()             {}
func (StopSpeaking) command()    {}
func (SetLanguage) command()     {}
func (CollectInput) command()    {}
func (SendDigits) command()      {}
func (Transfer) command()        {}
func (UpdateResult) command()    {}
func (OptOut) command()          {}
func (MissingVariable) command() {}
func (End) command()             {}

// Result is the result of a conversation so far. Outcome is empty until the pathway sets an outcome.
type Result struct {
	Outcome   domain.Outcome
	Notes     string
	Intent    string
	Variables map[string]string // collected and assigned variables without secret ones
}

type phase uint8

const (
	fresh phase = iota
	speaking
	collecting
	confirming // waiting for a confirmation of recognized words
	sending
	transferring // the caller is being transferred
	thinking     // a model prepares or speaks an answer, or its actions are pending
	listening    // waiting for words of the caller
	acting       // the action of a node is pending
	inRealtime   // a realtime engine conducts the conversation
	ending       // the prompt of an end node is spoken
	ended
)

// State is the state of a conversation. It has value semantics: Step does not modify the state that it receives.
type State struct {
	graph           *graph
	english         bool
	language        string
	phase           phase
	node            string
	values          map[string]string // values for placeholders
	shown           map[string]string // Result.Variables
	secret          map[string]bool   // names of secret variables
	outcome         domain.Outcome
	notes           string
	intent          string
	enteredKeys     string      // keys of the current input
	bufferedKeys    string      // keys pressed before they were requested
	bufferedSpeech  Utterance   // words said before they were requested
	unconfirmed     phraseMatch // confirming: the recognized match
	tries           int         // failed tries of the current node
	nodesSinceInput int         // nodes entered since the last input of the caller
	entered         int         // nodes entered in total
	interruptible   bool        // a key may interrupt the prompt
	round           int         // number of the current model request or action
	exchange        modelConversation
	history         []Message      // history for the model
	answers         int            // answers of the model in the call so far
	heard           string         // the heard part of the text being spoken
	hasHeard        bool           // heard is known, for the next input
	realtime        bool           // a realtime engine conducts converse nodes
	offered         map[string]int // index of the current item by the ID of the offer node
}

// graph is a pathway with its nodes and edges indexed for Step. It is immutable.
type graph struct {
	start        string
	nodes        map[string]*domain.Node
	edges        map[string][]domain.Edge
	usesModel    bool     // a language model is needed
	maxAnswers   int      // of the model in the call
	destinations []string // names of transfer destinations
	languages    []string // languages in which the caller may speak
}

// New returns the state before the start of a conversation. variables holds built-in variables and the data of the
// contact. Default values of the pathway replace missing values.
func New(script domain.Script, variables map[string]string) State {
	p := &graph{
		start: script.Pathway.Start,
		nodes: make(map[string]*domain.Node, len(script.Pathway.Nodes)),
		edges: make(map[string][]domain.Edge),
	}
	for i := range script.Pathway.Nodes { // the nodes are shared with the script, because each is larger than half a kilobyte
		if n := &script.Pathway.Nodes[i]; p.nodes[n.ID] == nil {
			p.nodes[n.ID] = n
		}
	}
	for _, e := range script.Pathway.Edges {
		p.edges[e.From] = append(p.edges[e.From], e)
	}
	p.maxAnswers = cmp.Or(script.Limits.MaxTurns, domain.DefaultMaxTurns)
	p.usesModel, p.languages = UsesModel(&script.Pathway), SpeechLanguages(&script)
	for _, d := range script.Transfer.Destinations {
		p.destinations = append(p.destinations, d.Name)
	}
	values := make(map[string]string, len(variables)+len(script.Pathway.Variables))
	maps.Copy(values, variables)
	for _, v := range script.Pathway.Variables {
		if strings.TrimSpace(values[v.Name]) == "" && v.Default != "" {
			values[v.Name] = v.Default
		}
	}
	return State{graph: p, values: values, english: IsEnglish(script.Language), language: script.Language}
}

// UsesModel reports whether a pathway needs a language model.
func UsesModel(p *domain.Pathway) bool {
	return slices.ContainsFunc(p.Nodes, func(n domain.Node) bool { return n.Type == domain.NodeConverse }) ||
		slices.ContainsFunc(p.Edges, func(e domain.Edge) bool {
			return e.When.Type == domain.EdgeLLM || e.When.Type == domain.EdgeIntent && len(edgeWords(&e.When)) == 0
		})
}

// ModelPathway returns the pathway of an agent that has a model but no pathway. It speaks the first message, if any,
// and then converses until the caller hangs up.
func ModelPathway(message string, tools, bases []string) domain.Pathway {
	p := domain.Pathway{
		Name: "free", Start: "converse",
		Nodes: []domain.Node{{ID: "converse", Type: domain.NodeConverse, Prompt: "Help the caller with the caller's request, within your role.", Tools: tools, KnowledgeBaseIDs: bases}},
	}
	if strings.TrimSpace(message) != "" {
		p.Start = "say"
		p.Nodes = append(p.Nodes, domain.Node{ID: "say", Type: domain.NodeSay, Prompt: message})
		p.Edges = []domain.Edge{{From: "say", To: "converse", When: domain.When{Type: domain.EdgeAlways}}}
	}
	return p
}

// RealtimePathway returns the pathway of an agent that has a realtime engine but no pathway. The engine also speaks
// the first message, so that the caller hears a single voice.
func RealtimePathway(message string, tools, bases []string) domain.Pathway {
	p := ModelPathway("", tools, bases)
	if strings.TrimSpace(message) != "" {
		p.Nodes[0].Prompt = "Begin with these words, unless they were said already: " + message + "\n" + p.Nodes[0].Prompt
	}
	return p
}

// MessagePathway returns the pathway of an agent that only speaks its first message.
func MessagePathway(message string) domain.Pathway {
	p := domain.Pathway{
		Name: "first message", Start: "say",
		Nodes: []domain.Node{{ID: "say", Type: domain.NodeSay, Prompt: message}, {ID: "end", Type: domain.NodeEnd}},
		Edges: []domain.Edge{{From: "say", To: "end", When: domain.When{Type: domain.EdgeAlways}}},
	}
	if strings.TrimSpace(message) == "" {
		p.Start, p.Nodes, p.Edges = "end", p.Nodes[1:], nil
	}
	return p
}

// Fresh reports whether the conversation has not started.
func (s State) Fresh() bool { return s.phase == fresh }

// ContinueWith returns the initial state of another agent that takes over the conversation. It keeps the variables,
// the result and the history.
func (s State) ContinueWith(script domain.Script) State {
	next := New(script, s.values)
	next.shown, next.secret, next.outcome, next.notes, next.intent = s.shown, s.secret, s.outcome, s.notes, s.intent
	next.round = s.round + 1
	if script.AgentName != "" {
		next.values["agent_name"] = script.AgentName
	}
	if next.graph.usesModel {
		for _, m := range s.history {
			if len(m.Calls) == 0 && m.By != ByTool { // tool calls are omitted, because the agent may not have these tools
				next.history = append(next.history, m)
			}
		}
	}
	return next
}

// TurnTaking returns the turn-taking settings of the current node, or nil if it has none.
func (s State) TurnTaking() *domain.TurnTaking {
	if n := s.graph.nodes[s.node]; n != nil {
		return n.TurnTaking
	}
	return nil
}

// Ending reports whether the conversation speaks its last prompt and ends afterwards.
func (s State) Ending() bool { return s.phase == ending }

// NeedsSpeech reports whether the current node accepts only speech.
func (s State) NeedsSpeech() bool {
	n := s.graph.nodes[s.node]
	if n == nil || s.phase != collecting && s.phase != confirming && s.phase != speaking && s.phase != listening {
		return false
	}
	keys := isQuestion(n) && n.Input != "speech"
	return !keys && (acceptsSpeech(n) || n.Type == domain.NodeConverse) && !slices.ContainsFunc(append(slices.Clip(s.graph.edges[s.node]), s.graph.edges[anyNode]...), func(e domain.Edge) bool {
		return e.When.Type == domain.EdgeDTMF
	})
}

// Over reports whether the conversation has ended.
func (s State) Over() bool { return s.phase == ended }

// Result returns the result of the conversation so far.
func (s State) Result() Result {
	return Result{Outcome: s.outcome, Notes: s.notes, Intent: s.intent, Variables: maps.Clone(s.shown)}
}

// FillText replaces the placeholders in a text that does not come from the pathway. said is the text to speak, and
// shown hides secret values. missing lists variables without value and fallback.
func (s State) FillText(text string) (said, shown string, missing []string) {
	said, missing = fillSpoken(text, s.values)
	shown, _ = s.shownText(text)
	return said, shown, missing
}

// IsSecretInput reports whether keys that the caller presses now are secret and must not be stored.
func (s State) IsSecretInput() bool {
	n := s.graph.nodes[s.node]
	return n != nil && n.Type == domain.NodeCollect && n.Sensitive
}

// IsQuestion reports whether the current node asks the caller for an answer in words or keys.
func (s State) IsQuestion() bool {
	n := s.graph.nodes[s.node]
	return n != nil && isQuestion(n)
}

// UpcomingTexts returns the texts that may be spoken next, so that speech can be synthesized in advance. Secret
// texts are omitted.
func (s State) UpcomingTexts() []string {
	if s.phase == ended {
		return nil
	}
	var texts []string
	add := func(prompt string) {
		text, missing := fillSpoken(prompt, s.values)
		if _, hidden := s.shownText(prompt); prompt != "" && !hidden && len(missing) == 0 && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, e := range s.graph.edges[s.node] {
		if n := s.graph.nodes[e.To]; n != nil && !n.Sensitive && n.Type != domain.NodeConverse && (n.Set == nil || n.Set.Language == "") {
			add(s.withItem(n, n.Prompt))
		}
	}
	if n := s.graph.nodes[s.node]; n != nil && !n.Sensitive && s.tries < n.Retries {
		add(s.withItem(n, n.RetryPrompt))
	}
	return texts
}

// FixedTexts returns the texts of a script that have no placeholders and are therefore equal in every call. Secret
// texts are omitted.
func FixedTexts(s *domain.Script) []string {
	var texts []string
	add := func(text string) {
		if text != "" && !strings.Contains(text, "{{") && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for i := range s.Pathway.Nodes {
		if n := &s.Pathway.Nodes[i]; !n.Sensitive && n.Type != domain.NodeConverse {
			add(n.Prompt)
			add(n.RetryPrompt)
		}
	}
	if s.AMD.MachineAction() == domain.AMDMessage {
		add(s.AMD.Message)
	}
	return texts
}

// MissingVariables returns the required variables of a pathway that have neither a value in values nor a default.
func MissingVariables(p *domain.Pathway, values map[string]string) []string {
	var missing []string
	for _, v := range p.Variables {
		if v.Required && v.Default == "" && strings.TrimSpace(values[v.Name]) == "" {
			missing = append(missing, v.Name)
		}
	}
	return missing
}

// shownText replaces the placeholders in a text and hides secret values.
func (s State) shownText(text string) (shown string, hidden bool) {
	shown, _ = fillWith(text, func(p placeholder) (string, bool) {
		if s.secret[p.name] || s.secret[variableOf(p.name)] {
			hidden = true
			return "[hidden]", true
		}
		return valueOf(s.values, p.name)
	})
	return shown, hidden
}
