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

// Limits of what a node names.
const (
	maxNodeTools          = 50
	maxNodeKnowledgeBases = 20
	MaxArguments          = 50
	maxBody               = 1600
)

// checkActionNode checks a node that does something besides speaking, or speaks freely.
func (v *validation) checkActionNode(at string, n *domain.Node) {
	switch n.Type { //nolint:exhaustive // the others have checks of their own
	case domain.NodeConverse:
		v.checkText(at+".prompt", n.Prompt, MaxPrompt)
		v.checkTools(at+".tools", n.Tools)
		if n.MaxTurns < 0 || n.MaxTurns > MaxModelTurns {
			v.addProblem(at+".max_turns", "must be between 1 and %d", MaxModelTurns)
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
			v.addProblem(at+".save_as", "%q is no name: letters, digits and _, not beginning with a digit", n.SaveAs)
		}
		v.knownVariables[n.SaveAs] = true
	}
}

func (v *validation) checkArguments(at string, n *domain.Node) {
	if len(n.Arguments) > MaxArguments {
		v.addProblem(at+".arguments", "has %d entries; %d at most", len(n.Arguments), MaxArguments)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.Arguments)) {
		if !variableName.MatchString(name) {
			v.addProblem(at+".arguments", "%q is no name: letters, digits and _, not beginning with a digit", name)
		}
		if utf8.RuneCountInString(n.Arguments[name]) > MaxNotes {
			v.addProblem(at+".arguments."+name, "has more than %d characters", MaxNotes)
		}
	}
}

// checkText checks a text that has to be there.
func (v *validation) checkText(param, text string, most int) {
	switch {
	case strings.TrimSpace(text) == "":
		v.addProblem(param, "is required")
	case utf8.RuneCountInString(text) > most:
		v.addProblem(param, "has more than %d characters", most)
	}
}

func (v *validation) checkID(param string, kind domain.Prefix, checkID string) {
	if checkID == "" {
		v.addProblem(param, "is required")
		return
	}
	if _, err := domain.ParseID(kind, checkID); err != nil {
		v.addProblem(param, "there is no %s %q", kind, checkID)
	}
}

// checkFields checks what a conversation is to find out.
func (v *validation) checkFields(param string, all []domain.AnalysisField) {
	if len(all) > MaxArguments {
		v.addProblem(param, "has %d entries; %d at most", len(all), MaxArguments)
		return
	}
	for i, f := range all {
		at := fmt.Sprintf("%s[%d]", param, i)
		if !variableName.MatchString(f.Name) {
			v.addProblem(at+".name", "%q is no name: letters, digits and _, not beginning with a digit", f.Name)
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

// checkTools checks what a model may do: tools by their ids, and what is built in.
func (v *validation) checkTools(param string, all []string) {
	if len(all) > maxNodeTools {
		v.addProblem(param, "has %d entries; %d at most", len(all), maxNodeTools)
		return
	}
	for i, tool := range all {
		at := fmt.Sprintf("%s[%d]", param, i)
		switch {
		case slices.Contains(all[:i], tool):
			v.addProblem(at, "%q stands twice", tool)
		case slices.Contains(domain.BuiltInTools(), tool):
		case !strings.HasPrefix(tool, string(domain.PrefixTool)+"_"):
			v.addProblem(at, "%q is neither the id of a tool nor one of %s", tool, strings.Join(domain.BuiltInTools(), ", "))
		default:
			v.checkID(at, domain.PrefixTool, tool)
		}
	}
}

// Capabilities are what there is besides a pathway's own rules.
type Capabilities struct {
	Model            bool // a language model answers
	Actions          bool // tools, appointments, messages and other agents are to be had in calls
	SimulatedActions bool // what it does besides speaking is only told of
	Speech           bool // words that are expected can be heard
	Text             bool // whatever is said comes as text
	Realtime         bool // an engine hears and speaks by itself
}

// MissingCapabilities are the places of a pathway that take an engine which there is not:
// calls walk no pathway that has one.
func MissingCapabilities(p *domain.Pathway, has Capabilities) []domain.Detail {
	var out domain.Problems
	words := New(domain.Script{Pathway: *p}, nil).graph
	for i := range p.Nodes {
		if what := words.missingForNode(&p.Nodes[i], has); what != "" {
			at := "type"
			if p.Nodes[i].Type == domain.NodeCollect {
				at = "input"
			}
			out.Add(fmt.Sprintf("nodes[%d].%s", i, at), domain.CodeNoEngine, "%s, and none is configured here", what)
		}
	}
	for i := range p.Edges {
		if has.Realtime && words.isRealtimeOnly(p.Edges[i].From) {
			continue
		}
		if what := missingForEdge(&p.Edges[i].When, has); what != "" {
			out.Add(fmt.Sprintf("edges[%d].when.type", i), domain.CodeNoEngine, "%s, and none is configured here", what)
		}
	}
	return out
}

// What is needed, in words.
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
	case domain.NodeTool, domain.NodeAppointment, domain.NodeSMS, domain.NodeAgent:
		if !has.SimulatedActions && !has.Actions {
			return fmt.Sprintf("a %s node takes an engine that acts in calls", n.Type)
		}
	case domain.NodeSay, domain.NodeDTMF, domain.NodeTransfer, domain.NodeCondition, domain.NodeEnd:
	}
	return ""
}

// isRealtimeOnly reports whether nobody but an engine that hears and speaks by itself takes
// the edges from a place.
func (p *graph) isRealtimeOnly(from string) bool {
	if from != anywhere {
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

// ActionRequest asks for something to be done besides speaking: a tool, an appointment, a
// message, or another agent who takes over. Acted follows.
type ActionRequest struct {
	Node      string
	Type      domain.NodeType
	Target    string            // the tool or agent, or what is done with an appointment
	Text      string            // of a message
	Arguments map[string]string // of a node
	Round     int
	ID        string          // of what a model called; "" where the node itself acts
	Name      string          // by which the model called it
	Given     json.RawMessage // its arguments, as the model wrote them
	Record    *ActionRecord   // what may be kept of Text and Arguments; nil: all
}

// ActionRecord are the words of an Act without what must not be kept.
type ActionRecord struct {
	Text      string
	Arguments map[string]string
}

// LocalActionDone tells of something that a model had done within the pathway.
type LocalActionDone struct {
	Node  string
	Name  string
	Given json.RawMessage
}

func (ActionRequest) command()   {}
func (LocalActionDone) command() {}

// requestAction asks for what a node does.
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
	if len(n.Arguments) > 0 {
		a.Arguments, kept.Arguments = make(map[string]string), make(map[string]string)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Arguments)) {
		a.Arguments[name], kept.Arguments[name] = fill(n.Arguments[name])
	}
	if secret {
		a.Record = &kept
	}
	w.s.round++
	a.Round = w.s.round
	w.s.phase = acting
	w.emit(a)
}

// leaveActionNode goes on behind what a node did.
func (w *stepper) leaveActionNode(n *domain.Node, in ActionEnded) {
	order := []domain.EdgeType{domain.EdgeFailure, domain.EdgeElse, domain.EdgeAlways}
	if in.OK {
		order = []domain.EdgeType{domain.EdgeExpr, domain.EdgeSuccess, domain.EdgeAlways, domain.EdgeElse}
		if n.SaveAs != "" && in.Result != "" {
			w.setVariable(n.SaveAs, truncateText(in.Result), n.Sensitive)
			w.emit(UpdateResult{w.s.Result()})
		}
	}
	if n.Type == domain.NodeAgent && in.OK {
		w.endConversation("", "", "")
		return
	}
	w.followEdge(order, n.ID)
}
