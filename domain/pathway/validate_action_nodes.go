package pathway

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// Limits of the tools and texts of action nodes.
const (
	maxNodeTools          = 50
	maxNodeKnowledgeBases = 20
	MaxArguments          = 50
	maxBody               = 1600
)

// checkActionNode validates a node of type converse, tool, appointment, sms or agent.
func (v *validation) checkActionNode(at string, n *domain.Node) {
	switch n.Type { //nolint:exhaustive // the others have checks of their own
	case domain.NodeConverse:
		v.checkText(at+".prompt", n.Prompt, MaxPrompt)
		v.checkTools(at+".tools", n.Tools)
		if n.MaxTurns < 0 || n.MaxTurns > domain.MaxTurns {
			v.addProblem(at+".max_turns", "must be between 1 and %d", domain.MaxTurns)
		}
		if n.TimeoutSeconds < 0 || n.TimeoutSeconds > MaxTimeoutSeconds {
			v.addProblem(at+".timeout_seconds", "must be between 0 and %d", MaxTimeoutSeconds)
		}
		if n.Retries < 0 || n.Retries > MaxRetries {
			v.addProblem(at+".retries", "must be between 0 and %d", MaxRetries)
		}
		v.checkIDs(at+".knowledge_base_ids", domain.PrefixKnowledge, n.KnowledgeBaseIDs, maxNodeKnowledgeBases)
		v.checkFields(at+".extract", n.Extract)
	case domain.NodeTool:
		v.checkID(at+".tool_id", domain.PrefixTool, n.ToolID)
	case domain.NodeAppointment:
		if !slices.Contains([]string{"availability", "book", "confirm", "cancel", "reschedule"}, n.Action) {
			v.addProblem(at+".action", "%q is none of availability, book, confirm, cancel and reschedule", n.Action)
		}
	case domain.NodeSMS:
		v.checkText(at+".body", n.Body, maxBody)
	case domain.NodeAgent:
		v.checkID(at+".agent_id", domain.PrefixAgent, n.AgentID)
	}
	v.checkArguments(at, n)
	if n.SaveAs != "" {
		if !variableName.MatchString(n.SaveAs) {
			v.addProblem(at+".save_as", "%q is not a valid name: letters, digits and _, not beginning with a digit", n.SaveAs)
		}
		v.knownVariables[n.SaveAs] = true
	}
}

// checkTurnTaking validates the turn-taking settings of a node.
func (v *validation) checkTurnTaking(at string, t *domain.TurnTaking) {
	if t == nil {
		return
	}
	if t.Interruptible != nil {
		v.addProblem(at+".interruptible", "belongs to the node: write interruptible beside turn_taking")
	}
	v.checkBetween(at+".interruption_words", t.InterruptionWords, domain.MaxInterruptionWords)
	v.checkBetween(at+".end_of_turn_ms", t.EndOfTurnMs, domain.MaxTurnSilenceMs)
	v.checkBetween(at+".end_of_complete_turn_ms", t.EndOfCompleteTurnMs, domain.MaxTurnSilenceMs)
	v.checkBetween(at+".end_of_incomplete_turn_ms", t.EndOfIncompleteTurnMs, domain.MaxTurnSilenceMs)
}

func (v *validation) checkBetween(param string, value, most int) {
	if value < 0 || value > most {
		v.addProblem(param, "is %d; it must be between 0 and %d", value, most)
	}
}

func (v *validation) checkArguments(at string, n *domain.Node) {
	if len(n.Arguments) > MaxArguments {
		v.addProblem(at+".arguments", "has %d entries; %d at most", len(n.Arguments), MaxArguments)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.Arguments)) {
		if !variableName.MatchString(name) {
			v.addProblem(at+".arguments", "%q is not a valid name: letters, digits and _, not beginning with a digit", name)
		}
		if utf8.RuneCountInString(n.Arguments[name]) > MaxNotes {
			v.addProblem(at+".arguments."+name, "has more than %d characters", MaxNotes)
		}
	}
}

// checkText adds a problem if a text is missing or has more than most characters.
func (v *validation) checkText(param, text string, most int) {
	switch {
	case strings.TrimSpace(text) == "":
		v.addProblem(param, "is required")
	case utf8.RuneCountInString(text) > most:
		v.addProblem(param, "has more than %d characters", most)
	}
}

func (v *validation) checkID(param string, kind domain.Prefix, id string) {
	if id == "" {
		v.addProblem(param, "is required")
		return
	}
	if _, err := domain.ParseID(kind, id); err != nil {
		v.addProblem(param, "there is no %s %q", kind, id)
	}
}

// checkFields validates the fields whose values the model of a converse node has to find out.
func (v *validation) checkFields(param string, all []domain.AnalysisField) {
	if len(all) > MaxArguments {
		v.addProblem(param, "has %d entries; %d at most", len(all), MaxArguments)
		return
	}
	for i, f := range all {
		at := fmt.Sprintf("%s[%d]", param, i)
		if !variableName.MatchString(f.Name) {
			v.addProblem(at+".name", "%q is not a valid name: letters, digits and _, not beginning with a digit", f.Name)
		}
		if !slices.Contains([]string{"", "string", "number", "integer", "boolean"}, f.Type) {
			v.addProblem(at+".type", "%q is none of string, number, integer and boolean", f.Type)
		}
		if utf8.RuneCountInString(f.Description) > MaxNotes || len(f.Values) > MaxNodes {
			v.addProblem(at, "is too long")
		}
		v.knownVariables[f.Name] = true
	}
}

func (v *validation) checkIDs(param string, kind domain.Prefix, all []string, most int) {
	if len(all) > most {
		v.addProblem(param, "has %d entries; %d at most", len(all), most)
		return
	}
	for i, id := range all {
		v.checkID(fmt.Sprintf("%s[%d]", param, i), kind, id)
	}
}

// checkTools validates the tool list of a converse node, which has tool IDs and names of built-in tools.
func (v *validation) checkTools(param string, all []string) {
	if len(all) > maxNodeTools {
		v.addProblem(param, "has %d entries; %d at most", len(all), maxNodeTools)
		return
	}
	for i, tool := range all {
		at := fmt.Sprintf("%s[%d]", param, i)
		switch {
		case slices.Contains(all[:i], tool):
			v.addProblem(at, "%q is listed twice", tool)
		case slices.Contains(domain.BuiltInTools(), tool):
		case !strings.HasPrefix(tool, string(domain.PrefixTool)+"_"):
			v.addProblem(at, "%q is neither the id of a tool nor one of %s", tool, strings.Join(domain.BuiltInTools(), ", "))
		default:
			v.checkID(at, domain.PrefixTool, tool)
		}
	}
}

// Capabilities lists the engines and inputs that are available for a conversation.
type Capabilities struct {
	Model            bool // a language model
	Actions          bool // tools, appointments, messages and other agents
	SimulatedActions bool // actions are only simulated
	Speech           bool // recognition of expected words
	Text             bool // the caller's input arrives as text
	Realtime         bool // a realtime engine
}

// MissingCapabilities returns a problem for each node and edge of a pathway that needs an engine that is not
// available. Calls cannot use a pathway with problems.
func MissingCapabilities(p *domain.Pathway, has Capabilities) []domain.Detail {
	var out domain.Problems
	words := New(domain.Script{Pathway: *p}, nil).graph
	for i := range p.Nodes {
		if missing := words.missingForNode(&p.Nodes[i], has); missing != "" {
			at := "type"
			if isQuestion(&p.Nodes[i]) {
				at = "input"
			}
			out.Add(fmt.Sprintf("nodes[%d].%s", i, at), domain.CodeNoEngine, "%s, and none is configured here", missing)
		}
	}
	for i := range p.Edges {
		if has.Realtime && words.isRealtimeOnly(p.Edges[i].From) {
			continue
		}
		if missing := missingForEdge(&p.Edges[i].When, has); missing != "" {
			out.Add(fmt.Sprintf("edges[%d].when.type", i), domain.CodeNoEngine, "%s, and none is configured here", missing)
		}
	}
	return out
}

// Error texts for missing engines.
const (
	needsSpeechEngine = "hearing speech takes an engine"
	needsOpenSpeech   = "hearing words that no edge and no value names takes an engine"
	needsModel        = "knowing what was meant takes a language model"
)

func (p *graph) missingForNode(n *domain.Node, has Capabilities) string {
	deaf := func() string {
		switch {
		case !has.Speech && !has.Text:
			return needsSpeechEngine
		case !has.Text && len(p.phraseChoices(n)) == 0:
			return needsOpenSpeech
		}
		return ""
	}
	switch n.Type {
	case domain.NodeConverse:
		if has.Realtime {
			return ""
		}
		if !has.Model {
			return "a converse node takes a language model"
		}
		return deaf()
	case domain.NodeCollect:
		if acceptsSpeech(n) {
			return deaf()
		}
	case domain.NodeOffer:
		if n.Input == "speech" || n.Input == "both" { // by default the keys are enough
			return deaf()
		}
	case domain.NodeTool, domain.NodeAppointment, domain.NodeSMS, domain.NodeAgent:
		if !has.SimulatedActions && !has.Actions {
			return fmt.Sprintf("a %s node takes an engine that acts in calls", n.Type)
		}
	case domain.NodeSay, domain.NodeDTMF, domain.NodeTransfer, domain.NodeCondition, domain.NodeEnd:
	}
	return ""
}

// isRealtimeOnly reports whether only a realtime engine evaluates the edges that start at the node from. The value
// anyNode stands for edges that start at every node.
func (p *graph) isRealtimeOnly(from string) bool {
	if from != anyNode {
		n := p.nodes[from]
		return n != nil && n.Type == domain.NodeConverse
	}
	for _, n := range p.nodes {
		if n.Type == domain.NodeCollect && acceptsSpeech(n) {
			return false
		}
	}
	return true
}

func missingForEdge(w *domain.When, has Capabilities) string {
	switch w.Type {
	case domain.EdgeIntent:
		switch {
		case len(edgeWords(w)) == 0 && !has.Model:
			return "knowing what was meant without words for it takes a language model"
		case !has.Speech && !has.Text:
			return needsSpeechEngine
		}
	case domain.EdgeLLM:
		if !has.Model {
			return needsModel
		}
	case domain.EdgeExpr, domain.EdgeAlways, domain.EdgeElse, domain.EdgeDTMF, domain.EdgeTimeout, domain.EdgeSuccess, domain.EdgeFailure:
	}
	return ""
}

// ActionRequest is the command to run an action: a tool, an appointment operation, a text message, or the handover to
// another agent. The input ActionEnded follows.
type ActionRequest struct {
	Node         string
	Type         domain.NodeType
	Target       string            // ID of the tool or agent, or the appointment action
	Text         string            // text of a message
	Arguments    map[string]string // arguments in the node
	Round        int
	ID           string          // ID of the model's tool call; empty: the node itself requests the action
	Name         string          // name in the model's tool call
	RawArguments json.RawMessage // arguments in the model's tool call
	Record       *ActionRecord   // redacted Text and Arguments for records; nil: nothing is secret
}

// ActionRecord holds the text and the arguments of an ActionRequest for storage, without secret values.
type ActionRecord struct {
	Text      string
	Arguments map[string]string
}

// LocalActionDone reports a model's tool call that the pathway executed without an external action.
type LocalActionDone struct {
	Node         string
	Name         string
	RawArguments json.RawMessage
}

func (ActionRequest) command()   {}
func (LocalActionDone) command() {}

// requestAction emits the ActionRequest of an action node.
func (w *stepper) requestAction(n *domain.Node) {
	a := ActionRequest{Node: n.ID, Type: n.Type, Target: n.ToolID + n.AgentID + n.Action}
	kept, secret := ActionRecord{}, false
	fill := func(text string) (filled, shown string) {
		filled, missing := FillPlaceholders(text, w.s.values)
		for _, name := range missing {
			w.emit(MissingVariable{Node: n.ID, Name: name})
		}
		shown, hidden := w.s.shownText(text)
		secret = secret || hidden
		return filled, shown
	}
	a.Text, kept.Text = fill(n.Body)
	arguments := w.argumentsOf(n)
	if len(arguments) > 0 {
		a.Arguments, kept.Arguments = make(map[string]string), make(map[string]string)
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		a.Arguments[name], kept.Arguments[name] = fill(arguments[name])
	}
	if secret {
		a.Record = &kept
	}
	w.s.round++
	a.Round = w.s.round
	w.s.phase = acting
	w.emit(a)
}

// argumentsOf returns the arguments of an action node. An appointment that the node books carries the name of the contact,
// unless the node gives another name.
func (w *stepper) argumentsOf(n *domain.Node) map[string]string {
	if n.Type != domain.NodeAppointment || n.Action != "book" || n.Arguments["name"] != "" || strings.TrimSpace(w.s.values["name"]) == "" {
		return n.Arguments
	}
	arguments := maps.Clone(n.Arguments)
	if arguments == nil {
		arguments = make(map[string]string)
	}
	arguments["name"] = "{{name}}"
	return arguments
}

// leaveActionNode follows the edge for the result of the node's action after the action has ended.
func (w *stepper) leaveActionNode(n *domain.Node, in ActionEnded) {
	order := []domain.EdgeType{domain.EdgeFailure, domain.EdgeElse, domain.EdgeAlways}
	if in.OK && len(in.Result) <= MaxResultBytes {
		order = []domain.EdgeType{domain.EdgeExpr, domain.EdgeSuccess, domain.EdgeAlways, domain.EdgeElse}
		if n.SaveAs != "" && in.Result != "" {
			w.setVariable(n.SaveAs, in.Result, n.Sensitive)
			w.emit(UpdateResult{w.s.Result()})
		}
	}
	if n.Type == domain.NodeAgent && in.OK {
		w.endConversation("", "", "")
		return
	}
	w.followEdge(order, n.ID)
}
