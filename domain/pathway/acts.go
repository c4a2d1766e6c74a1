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
	maxNodeTools = 50
	maxNodeBases = 20
	MaxArguments = 50
	maxBody      = 1600
)

// act checks a node that does something besides speaking, or speaks freely.
func (v *validation) act(at string, n *domain.Node) {
	switch n.Type { //nolint:exhaustive // the others have checks of their own
	case domain.NodeConverse:
		v.word(at+".prompt", n.Prompt, MaxPrompt)
		v.tools(at+".tools", n.Tools)
		if n.MaxTurns < 0 || n.MaxTurns > MaxModelTurns {
			v.bad(at+".max_turns", "must be between 1 and %d", MaxModelTurns)
		}
		if n.TimeoutSeconds < 0 || n.TimeoutSeconds > MaxTimeoutSeconds {
			v.bad(at+".timeout_seconds", "must be between 0 and %d", MaxTimeoutSeconds)
		}
		if n.Retries < 0 || n.Retries > MaxRetries {
			v.bad(at+".retries", "must be between 0 and %d", MaxRetries)
		}
		v.ids(at+".knowledge_base_ids", domain.PrefixKnowledge, n.KnowledgeBaseIDs, maxNodeBases)
		v.extract(at+".extract", n.Extract)
	case domain.NodeTool:
		v.id(at+".tool_id", domain.PrefixTool, n.ToolID)
	case domain.NodeAppointment:
		if !slices.Contains([]string{"availability", "book", "confirm", "cancel", "reschedule"}, n.Action) {
			v.bad(at+".action", "%q is none of availability, book, confirm, cancel and reschedule", n.Action)
		}
	case domain.NodeSMS:
		v.word(at+".body", n.Body, maxBody)
	case domain.NodeAgent:
		v.id(at+".agent_id", domain.PrefixAgent, n.AgentID)
	}
	v.arguments(at, n)
	if n.SaveAs != "" {
		if !variableName.MatchString(n.SaveAs) {
			v.bad(at+".save_as", "%q is no name: letters, digits and _, not beginning with a digit", n.SaveAs)
		}
		v.known[n.SaveAs] = true
	}
}

func (v *validation) arguments(at string, n *domain.Node) {
	if len(n.Arguments) > MaxArguments {
		v.bad(at+".arguments", "has %d entries; %d at most", len(n.Arguments), MaxArguments)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.Arguments)) {
		if !variableName.MatchString(name) {
			v.bad(at+".arguments", "%q is no name: letters, digits and _, not beginning with a digit", name)
		}
		if utf8.RuneCountInString(n.Arguments[name]) > MaxNotes {
			v.bad(at+".arguments."+name, "has more than %d characters", MaxNotes)
		}
	}
}

// word checks a text that has to be there.
func (v *validation) word(param, text string, most int) {
	switch {
	case strings.TrimSpace(text) == "":
		v.bad(param, "is required")
	case utf8.RuneCountInString(text) > most:
		v.bad(param, "has more than %d characters", most)
	}
}

func (v *validation) id(param string, kind domain.Prefix, id string) {
	if id == "" {
		v.bad(param, "is required")
		return
	}
	if _, err := domain.ParseID(kind, id); err != nil {
		v.bad(param, "there is no %s %q", kind, id)
	}
}

// extract checks what a conversation is to find out.
func (v *validation) extract(param string, all []domain.AnalysisField) {
	if len(all) > MaxArguments {
		v.bad(param, "has %d entries; %d at most", len(all), MaxArguments)
		return
	}
	for i, f := range all {
		at := fmt.Sprintf("%s[%d]", param, i)
		if !variableName.MatchString(f.Name) {
			v.bad(at+".name", "%q is no name: letters, digits and _, not beginning with a digit", f.Name)
		}
		if !slices.Contains([]string{"", "string", "number", "integer", "boolean"}, f.Type) {
			v.bad(at+".type", "%q is none of string, number, integer and boolean", f.Type)
		}
		if utf8.RuneCountInString(f.Description) > MaxNotes || len(f.Values) > MaxNodes {
			v.bad(at, "is too long")
		}
		v.known[f.Name] = true
	}
}

func (v *validation) ids(param string, kind domain.Prefix, all []string, most int) {
	if len(all) > most {
		v.bad(param, "has %d entries; %d at most", len(all), most)
		return
	}
	for i, id := range all {
		v.id(fmt.Sprintf("%s[%d]", param, i), kind, id)
	}
}

// tools checks what a model may do: tools by their ids, and what is built in.
func (v *validation) tools(param string, all []string) {
	if len(all) > maxNodeTools {
		v.bad(param, "has %d entries; %d at most", len(all), maxNodeTools)
		return
	}
	for i, tool := range all {
		at := fmt.Sprintf("%s[%d]", param, i)
		switch {
		case slices.Contains(all[:i], tool):
			v.bad(at, "%q stands twice", tool)
		case slices.Contains(domain.BuiltInTools(), tool):
		case !strings.HasPrefix(tool, string(domain.PrefixTool)+"_"):
			v.bad(at, "%q is neither the id of a tool nor one of %s", tool, strings.Join(domain.BuiltInTools(), ", "))
		default:
			v.id(at, domain.PrefixTool, tool)
		}
	}
}

// Engines are what there is besides a pathway's own rules.
type Engines struct {
	Model bool // a language model answers
	Acts  bool // tools, appointments, messages and other agents are to be had in calls
	Told  bool // what it does besides speaking is only told of
	Ears  bool // words that are expected can be heard
	Text  bool // whatever is said comes as text
	Live  bool // an engine hears and speaks by itself
}

// Needs are the places of a pathway that take an engine which there is not:
// calls walk no pathway that has one.
func Needs(p *domain.Pathway, has Engines) []domain.Detail {
	var out domain.Problems
	words := New(domain.Script{Pathway: *p}, nil).plan
	for i := range p.Nodes {
		if what := words.nodeNeeds(&p.Nodes[i], has); what != "" {
			at := "type"
			if p.Nodes[i].Type == domain.NodeCollect {
				at = "input"
			}
			out.Add(fmt.Sprintf("nodes[%d].%s", i, at), domain.CodeNoEngine, "%s, and none is configured here", what)
		}
	}
	for i := range p.Edges {
		if has.Live && words.lively(p.Edges[i].From) {
			continue
		}
		if what := edgeNeeds(&p.Edges[i].When, has); what != "" {
			out.Add(fmt.Sprintf("edges[%d].when.type", i), domain.CodeNoEngine, "%s, and none is configured here", what)
		}
	}
	return out
}

// What is needed, in words.
const (
	needEars  = "hearing speech takes an engine"
	needWords = "hearing words that no edge and no value names takes an engine"
	needModel = "knowing what was meant takes a language model"
)

func (p *plan) nodeNeeds(n *domain.Node, has Engines) string {
	deaf := func() string {
		switch {
		case !has.Ears && !has.Text:
			return needEars
		case !has.Text && len(p.choices(n)) == 0:
			return needWords
		}
		return ""
	}
	switch n.Type {
	case domain.NodeConverse:
		if has.Live {
			return ""
		}
		if !has.Model {
			return "a converse node takes a language model"
		}
		return deaf()
	case domain.NodeCollect:
		if listens(n) {
			return deaf()
		}
	case domain.NodeTool, domain.NodeAppointment, domain.NodeSMS, domain.NodeAgent:
		if !has.Told && !has.Acts {
			return fmt.Sprintf("a %s node takes an engine that acts in calls", n.Type)
		}
	case domain.NodeSay, domain.NodeDTMF, domain.NodeTransfer, domain.NodeCondition, domain.NodeEnd:
	}
	return ""
}

// lively says whether nobody but an engine that hears and speaks by itself takes
// the edges from a place.
func (p *plan) lively(from string) bool {
	if from != anywhere {
		n := p.nodes[from]
		return n != nil && n.Type == domain.NodeConverse
	}
	for _, n := range p.nodes {
		if n.Type == domain.NodeCollect && listens(n) {
			return false
		}
	}
	return true
}

func edgeNeeds(w *domain.When, has Engines) string {
	switch w.Type {
	case domain.EdgeIntent:
		switch {
		case len(wordsOf(w)) == 0 && !has.Model:
			return "knowing what was meant without words for it takes a language model"
		case !has.Ears && !has.Text:
			return needEars
		}
	case domain.EdgeLLM:
		if !has.Model {
			return needModel
		}
	case domain.EdgeExpr, domain.EdgeAlways, domain.EdgeElse, domain.EdgeDTMF, domain.EdgeTimeout, domain.EdgeSuccess, domain.EdgeFailure:
	}
	return ""
}

// Act asks for something to be done besides speaking: a tool, an appointment, a
// message, or another agent who takes over. Acted follows.
type Act struct {
	Node      string
	Type      domain.NodeType
	Target    string            // the tool or agent, or what is done with an appointment
	Text      string            // of a message
	Arguments map[string]string // of a node
	Round     int
	ID        string          // of what a model called; "" where the node itself acts
	Name      string          // by which the model called it
	Given     json.RawMessage // its arguments, as the model wrote them
	Kept      *Kept           // what may be kept of Text and Arguments; nil: all
}

// Kept are the words of an Act without what must not be kept.
type Kept struct {
	Text      string
	Arguments map[string]string
}

// Done tells of something that a model had done within the pathway.
type Done struct {
	Node  string
	Name  string
	Given json.RawMessage
}

func (Act) do()  {}
func (Done) do() {}

// act asks for what a node does.
func (w *walk) act(n *domain.Node) {
	a := Act{Node: n.ID, Type: n.Type, Target: n.ToolID + n.AgentID + n.Action}
	kept, secret := Kept{}, false
	fill := func(text string) (filled, shown string) {
		filled, missing := Fill(text, w.s.values)
		for _, name := range missing {
			w.tell(Missing{Node: n.ID, Name: name})
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
		a.Kept = &kept
	}
	w.s.round++
	a.Round = w.s.round
	w.s.phase = acting
	w.tell(a)
}

// actedNode goes on behind what a node did.
func (w *walk) actedNode(n *domain.Node, in Acted) {
	order := []domain.EdgeType{domain.EdgeFailure, domain.EdgeElse, domain.EdgeAlways}
	if in.OK {
		order = []domain.EdgeType{domain.EdgeExpr, domain.EdgeSuccess, domain.EdgeAlways, domain.EdgeElse}
		if n.SaveAs != "" && in.Result != "" {
			w.keep(n.SaveAs, cut(in.Result), n.Sensitive)
			w.tell(Set{w.s.Result()})
		}
	}
	if n.Type == domain.NodeAgent && in.OK {
		w.end("", "", "")
		return
	}
	w.leave(order, n.ID)
}
