// Package pathway decides what an agent does next in a conversation: it is
// told what happened and answers with what to do. It knows no clock, no sound
// and no call.
package pathway

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Bounds of a conversation.
const (
	defaultTimeout = 5 * time.Second
	defaultLength  = 1
	maxSteps       = 64  // nodes entered without any key pressed: the pathway turns in a circle
	maxEntered     = 500 // nodes entered at all
)

// Input is what happened.
type Input interface{ input() }

// The inputs.
type (
	// Began starts the conversation: the call is answered.
	Started struct{}
	// PromptDone says that the last Say was spoken, or could not be.
	PromptDone struct{}
	// DigitsSent says that the last SendDigits went out.
	DigitsSent struct{}
	// Digit is a key pressed: 0-9 * # A-D.
	Digit struct{ Key byte }
	// Spoken is what the far end said. Text is "" where it was not understood.
	Utterance struct {
		Text       string
		Confidence float64 // 0 to 1
	}
	// Timeout says that the time of the last Collect has passed.
	Timeout struct{}
	// Transferred says how the last Transfer ended. OK: the caller was reached
	// by somebody, and is back.
	Transferred struct{ OK bool }
	// Silenced says that what was being said was cut off: no PromptDone follows.
	PromptCut struct{}
	// Resume begins the node that stands anew: somebody else had the caller.
	ResumeNode struct{}
	// TakenUp goes on in another process, see Restore.
	Restored struct{}
	// Unable says that the agent cannot speak or hear: after a word of goodbye the
	// conversation ends with AgentUnavailable.
	AgentFailed struct{}
	// Hangup ends the conversation from outside.
	Hangup struct{}
)

func (Started) input()     {}
func (PromptCut) input()   {}
func (PromptDone) input()  {}
func (DigitsSent) input()  {}
func (Digit) input()       {}
func (Utterance) input()   {}
func (Timeout) input()     {}
func (Transferred) input() {}
func (ResumeNode) input()  {}
func (Restored) input()    {}
func (AgentFailed) input() {}
func (Hangup) input()      {}

// Command is what to do now, in the order given.
type Command interface{ command() }

// What a step asks for.
type (
	// Say speaks a text; PromptDone follows.
	Say struct {
		Node          string
		Text          string
		Shown         string // Text for a transcript: what the caller keyed in secretly is hidden
		Interruptible bool
		Sensitive     bool // Text must not be kept
	}
	// Speaks is the language in which is spoken and heard from now on.
	SetLanguage struct{ Language string }
	// Hush stops what is being said; no PromptDone follows.
	StopSpeaking struct{}
	// Collect waits for keys; Digit or Timeout follow. It replaces an earlier
	// Collect and its timer.
	CollectInput struct {
		Length    int // keys still wanted
		Timeout   time.Duration
		Sensitive bool
	}
	// SendDigits sends keys; DigitsSent follows.
	SendDigits struct {
		Digits    string
		Sensitive bool
	}
	// Transfer hands the caller on; Transferred follows, unless the caller goes
	// for good.
	Transfer struct {
		Node        string
		Destination string
		Mode        domain.TransferMode
		Summary     string
		Reason      string // why; "": the pathway wants it
		Sensitive   bool   // Summary must not be kept
	}
	// Set tells that outcome, notes, intent or variables have changed.
	UpdateResult struct{ Result Result }
	// OptOut says that the far end wants no more calls.
	OptOut struct{}
	// Missing reports a variable that a text needed and nobody gave.
	MissingVariable struct{ Node, Name string }
	// End ends the conversation. Reason is "" or why the pathway was broken off.
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

// Result is what a conversation has come to so far. Outcome is empty until the
// pathway sets one.
type Result struct {
	Outcome   domain.Outcome
	Notes     string
	Intent    string
	Variables map[string]string // collected and set, without the sensitive
}

type phase uint8

const (
	fresh phase = iota
	speaking
	collecting
	confirming // it was asked whether the words were understood well
	sending
	transferring // the caller is being transferred
	thinking     // a model thinks or speaks, or what it wants is being done
	listening    // the caller may say to it what he wants
	acting       // what the node does besides speaking is being done
	inRealtime   // an engine has the caller that hears and speaks by itself
	ending       // the prompt of an end node is being spoken
	ended
)

// State is where a conversation stands. It is a value: Step leaves the state
// it is given as it was.
type State struct {
	graph           *graph
	english         bool
	language        string
	phase           phase
	node            string
	values          map[string]string // all that texts may use
	shown           map[string]string // Result.Variables
	secret          map[string]bool   // names whose values were keyed in secretly
	outcome         domain.Outcome
	notes           string
	intent          string
	enteredKeys     string      // keys of the current collect
	bufferedKeys    string      // keys pressed before they were asked for
	bufferedSpeech  Utterance   // words said before they were asked for
	unconfirmed     phraseMatch // confirming: what was understood
	tries           int         // times the current collect has failed
	nodesSinceInput int         // nodes entered since the last key
	entered         int         // nodes entered
	interruptible   bool        // the prompt may be cut by a key
	round           int         // of what was asked of a model, or is being done
	exchange        exchange
	history         []Message // what a model is told
	realtime        bool      // converse nodes are an engine's that hears and speaks by itself
}

// graph is a pathway ready to be walked. It is never changed.
type graph struct {
	start        string
	nodes        map[string]*domain.Node
	edges        map[string][]domain.Edge
	usesModel    bool     // a model takes part
	destinations []string // to whom it may hand the caller
}

// New is the state before the conversation. The variables are the built-ins
// and the contact's data; the pathway's defaults fill the gaps.
func New(script domain.Script, variables map[string]string) State {
	p := &graph{
		start: script.Pathway.Start,
		nodes: make(map[string]*domain.Node, len(script.Pathway.Nodes)),
		edges: make(map[string][]domain.Edge),
	}
	for i := range script.Pathway.Nodes { // they are the script's own: each is larger than half a kilobyte
		if n := &script.Pathway.Nodes[i]; p.nodes[n.ID] == nil {
			p.nodes[n.ID] = n
		}
	}
	for _, e := range script.Pathway.Edges {
		p.edges[e.From] = append(p.edges[e.From], e)
	}
	p.usesModel = UsesModel(&script.Pathway)
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

// UsesModel reports whether a model takes part in a pathway.
func UsesModel(p *domain.Pathway) bool {
	return slices.ContainsFunc(p.Nodes, func(n domain.Node) bool { return n.Type == domain.NodeConverse }) ||
		slices.ContainsFunc(p.Edges, func(e domain.Edge) bool {
			return e.When.Type == domain.EdgeLLM || e.When.Type == domain.EdgeIntent && len(edgeWords(&e.When)) == 0
		})
}

// ModelPathway is the pathway of an agent that speaks by a model alone: it says its
// first message, where it has one, and then converses until the caller goes.
func ModelPathway(message string, tools, bases []string) domain.Pathway {
	p := domain.Pathway{
		Name: "free", Start: "converse",
		Nodes: []domain.Node{{ID: "converse", Type: domain.NodeConverse, Prompt: "Help the caller with what he wants, within your part.", Tools: tools, KnowledgeBaseIDs: bases}},
	}
	if strings.TrimSpace(message) != "" {
		p.Start = "say"
		p.Nodes = append(p.Nodes, domain.Node{ID: "say", Type: domain.NodeSay, Prompt: message})
		p.Edges = []domain.Edge{{From: "say", To: "converse", When: domain.When{Type: domain.EdgeAlways}}}
	}
	return p
}

// RealtimePathway is Free for an engine that hears and speaks by itself: it says the
// first message too, so that the caller hears one voice.
func RealtimePathway(message string, tools, bases []string) domain.Pathway {
	p := ModelPathway("", tools, bases)
	if strings.TrimSpace(message) != "" {
		p.Nodes[0].Prompt = "Begin with these words, unless they were said already: " + message + "\n" + p.Nodes[0].Prompt
	}
	return p
}

// MessagePathway is the pathway of an agent that has none: it says its first message
// and ends.
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

// Fresh reports whether the conversation has not begun.
func (s State) Fresh() bool { return s.phase == fresh }

// ContinueWith is the state before another agent's conversation with the same
// caller: what is known stays known, what was said is told to its model.
func (s State) ContinueWith(script domain.Script) State {
	next := New(script, s.values)
	next.shown, next.secret, next.outcome, next.notes, next.intent = s.shown, s.secret, s.outcome, s.notes, s.intent
	next.round = s.round + 1
	if script.AgentName != "" {
		next.values["agent_name"] = script.AgentName
	}
	if next.graph.usesModel {
		for _, m := range s.history {
			if len(m.Calls) == 0 && m.By != ByTool { // what was done belongs to tools that it may not have
				next.history = append(next.history, m)
			}
		}
	}
	return next
}

// Ending reports whether the conversation speaks its last words.
func (s State) Ending() bool { return s.phase == ending }

// NeedsSpeech reports whether the node that stands can be answered by words alone.
func (s State) NeedsSpeech() bool {
	n := s.graph.nodes[s.node]
	if n == nil || s.phase != collecting && s.phase != confirming && s.phase != speaking && s.phase != listening {
		return false
	}
	keys := n.Type == domain.NodeCollect && n.Input != "speech"
	return !keys && (acceptsSpeech(n) || n.Type == domain.NodeConverse) && !slices.ContainsFunc(append(slices.Clip(s.graph.edges[s.node]), s.graph.edges[anywhere]...), func(e domain.Edge) bool {
		return e.When.Type == domain.EdgeDTMF
	})
}

// Over reports whether the conversation has ended.
func (s State) Over() bool { return s.phase == ended }

// Result is what the conversation has come to.
func (s State) Result() Result {
	return Result{Outcome: s.outcome, Notes: s.notes, Intent: s.intent, Variables: maps.Clone(s.shown)}
}

// FillText is a text of nobody's node, as it is said and as a transcript may show
// it; missing are the variables without a value and a fallback.
func (s State) FillText(text string) (said, shown string, missing []string) {
	said, missing = FillPlaceholders(text, s.values)
	shown, _ = s.shownText(text)
	return said, shown, missing
}

// IsSecretInput reports whether the keys pressed now must not be kept.
func (s State) IsSecretInput() bool {
	n := s.graph.nodes[s.node]
	return n != nil && n.Type == domain.NodeCollect && n.Sensitive
}

// UpcomingTexts are the texts that may be said next, as far as they are known now:
// they may be prepared. Secret ones are not among them.
func (s State) UpcomingTexts() []string {
	if s.phase == ended {
		return nil
	}
	var texts []string
	add := func(prompt string) {
		text, missing := FillPlaceholders(prompt, s.values)
		if _, hidden := s.shownText(prompt); prompt != "" && !hidden && len(missing) == 0 && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, e := range s.graph.edges[s.node] {
		if n := s.graph.nodes[e.To]; n != nil && !n.Sensitive && n.Type != domain.NodeConverse && (n.Set == nil || n.Set.Language == "") {
			add(n.Prompt)
		}
	}
	if n := s.graph.nodes[s.node]; n != nil && !n.Sensitive && s.tries < n.Retries {
		add(n.RetryPrompt)
	}
	return texts
}

// FixedTexts are the texts that every call of a script says alike: those without
// variables. Secret ones are not among them.
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

// MissingVariables are the required variables of a pathway that have neither a value
// nor a default.
func MissingVariables(p *domain.Pathway, values map[string]string) []string {
	var missing []string
	for _, v := range p.Variables {
		if v.Required && v.Default == "" && strings.TrimSpace(values[v.Name]) == "" {
			missing = append(missing, v.Name)
		}
	}
	return missing
}

// shownText fills a text as a transcript may show it.
func (s State) shownText(text string) (shown string, hidden bool) {
	shown, _ = fillWith(text, func(name string) (string, bool) {
		if s.secret[name] {
			hidden = true
			return "[hidden]", true
		}
		v, ok := s.values[name]
		return v, ok
	})
	return shown, hidden
}
