package pathway

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// Limits of a pathway.
const (
	MaxNodes          = 500
	MaxEdges          = 2000
	maxAllWords       = 2000 // phrases of all edges together
	MaxVariables      = 200
	MaxPrompt         = 4000 // characters
	MaxNotes          = 2000
	maxName           = 200
	MaxDigits         = 32
	MaxRetries        = 10
	MaxTimeoutSeconds = 60
	maxProblems       = 100
)

var (
	identifier   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)
	languageTag  = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
)

// BuiltInVariables returns the variables that every conversation has.
func BuiltInVariables() []string {
	return []string{"name", "phone", "campaign_name", "agent_name", "caller_number", "called_number", "now", "today"}
}

// RuntimeVariables returns the built-in variables that follow from a script and the start of the conversation. The
// variables now (RFC 3339) and today (YYYY-MM-DD) are in the time zone of the agent.
func RuntimeVariables(s *domain.Script, began time.Time) map[string]string {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil || s.Timezone == "Local" {
		zone = time.UTC
	}
	at := began.In(zone)
	given := map[string]string{"now": at.Format(time.RFC3339), "today": at.Format(time.DateOnly)}
	if s.AgentName != "" {
		given["agent_name"] = s.AgentName
	}
	return given
}

// Validate returns an error with all problems of a pathway, or nil.
func Validate(p *domain.Pathway) error {
	v := validation{p: p, nodes: make(map[string]*domain.Node), knownVariables: make(map[string]bool)}
	v.checkHead()
	if !IsWithinLimits(p) {
		return v.problems.Err()
	}
	v.checkVariables()
	for i := range p.Nodes {
		v.checkNode(i, &p.Nodes[i])
	}
	if p.Start != "" && v.nodes[p.Start] == nil {
		v.addProblem("start", "there is no node %q", p.Start)
	}
	for i := range p.Edges {
		v.checkEdge(i, &p.Edges[i])
	}
	v.checkQuestionEdges()
	v.checkTexts()
	v.checkResultFields()
	if len(v.problems) > maxProblems {
		v.problems = v.problems[:maxProblems]
	}
	return v.problems.Err()
}

// IsWithinLimits reports whether a pathway is small enough for a full validation.
func IsWithinLimits(p *domain.Pathway) bool {
	return len(p.Nodes) <= MaxNodes && len(p.Edges) <= MaxEdges && len(p.Variables) <= MaxVariables && countPhrases(p) <= maxAllWords
}

// countPhrases counts the phrases of all edges.
func countPhrases(p *domain.Pathway) (n int) {
	for i := range p.Edges {
		n += len(p.Edges[i].When.Words)
	}
	return n
}

// Warnings returns problems that do not make a pathway invalid: nodes that no path from the start reaches, whole results
// that are read aloud, and offers that end the call if the caller takes nothing.
func Warnings(p *domain.Pathway) []domain.Detail {
	reached := map[string]bool{p.Start: true}
	next := []string{p.Start}
	follow := func(from string) {
		for _, e := range p.Edges {
			if e.From == from && !reached[e.To] {
				reached[e.To] = true
				next = append(next, e.To)
			}
		}
	}
	follow(anyNode)
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		follow(from)
	}
	var warnings domain.Problems
	for i, n := range p.Nodes {
		if !reached[n.ID] {
			warnings.Add(fmt.Sprintf("nodes[%d]", i), "unreachable", "no edge leads to node %q", n.ID)
		}
		if n.Type == domain.NodeOffer && !slices.ContainsFunc(p.Edges, func(e domain.Edge) bool {
			return (e.From == n.ID || e.From == anyNode) && e.When.Type == domain.EdgeElse
		}) {
			warnings.Add(fmt.Sprintf("nodes[%d]", i), "no_else", "the call ends if the caller takes no item of node %q; add an edge of type else", n.ID)
		}
	}
	return append(warnings, (&validation{p: p}).warnOfSpokenResults()...)
}

type validation struct {
	p              *domain.Pathway
	problems       domain.Problems
	nodes          map[string]*domain.Node
	knownVariables map[string]bool         // variables that texts may use without a fallback
	shapes         map[string]*resultShape // what is known of the results in variables
	inOffer        bool                    // the text belongs to an offer node, which has the variable item
}

func (v *validation) addProblem(param, format string, args ...any) {
	v.problems.Add(param, domain.CodeValidation, format, args...)
}

func (v *validation) checkHead() {
	switch {
	case strings.TrimSpace(v.p.Name) == "":
		v.addProblem("name", "is required")
	case utf8.RuneCountInString(v.p.Name) > maxName:
		v.addProblem("name", "has more than %d characters", maxName)
	}
	if v.p.Start == "" {
		v.addProblem("start", "is required: the id of the first node")
	}
	for _, c := range []struct {
		param       string
		count, most int
	}{{"nodes", len(v.p.Nodes), MaxNodes}, {"edges", len(v.p.Edges), MaxEdges}, {"variables", len(v.p.Variables), MaxVariables}} {
		if c.count > c.most {
			v.addProblem(c.param, "has %d entries; %d at most", c.count, c.most)
		}
	}
	if n := countPhrases(v.p); n > maxAllWords {
		v.addProblem("edges", "have %d phrases in when.words; %d at most in all", n, maxAllWords)
	}
	if len(v.p.Nodes) == 0 {
		v.addProblem("nodes", "at least one node is required")
	}
}

func (v *validation) checkVariables() {
	for _, name := range BuiltInVariables() {
		v.knownVariables[name] = true
	}
	seen := make(map[string]bool)
	for i, d := range v.p.Variables {
		param := fmt.Sprintf("variables[%d].name", i)
		switch {
		case !variableName.MatchString(d.Name):
			v.addProblem(param, "%q is not a valid name: letters, digits and _, not beginning with a digit", d.Name)
		case seen[d.Name]:
			v.addProblem(param, "%q is declared twice", d.Name)
		}
		if utf8.RuneCountInString(d.Default) > MaxNotes {
			v.addProblem(fmt.Sprintf("variables[%d].default", i), "has more than %d characters", MaxNotes)
		}
		seen[d.Name], v.knownVariables[d.Name] = true, true
	}
}

func (v *validation) checkNode(i int, n *domain.Node) {
	at := fmt.Sprintf("nodes[%d]", i)
	switch {
	case !identifier.MatchString(n.ID):
		v.addProblem(at+".id", "%q is no id: letters, digits, _ . and -, 64 at most", n.ID)
	case v.nodes[n.ID] != nil:
		v.addProblem(at+".id", "node %q exists twice", n.ID)
	default:
		v.nodes[n.ID] = n
	}
	if utf8.RuneCountInString(n.Prompt) > MaxPrompt {
		v.addProblem(at+".prompt", "has more than %d characters", MaxPrompt)
	}
	if utf8.RuneCountInString(n.RetryPrompt) > MaxPrompt {
		v.addProblem(at+".retry_prompt", "has more than %d characters", MaxPrompt)
	} else if n.RetryPrompt != "" && !isQuestion(n) {
		v.addProblem(at+".retry_prompt", "is for collect and offer nodes, which ask again")
	}
	switch n.Type {
	case domain.NodeSay:
		if strings.TrimSpace(n.Prompt) == "" {
			v.addProblem(at+".prompt", "is required for a say node")
		}
	case domain.NodeCollect:
		v.checkCollect(at, n)
	case domain.NodeDTMF:
		if n.Digits == "" {
			v.addProblem(at+".digits", "is required for a dtmf node")
		} else if !strings.Contains(n.Digits, "{{") && phoneKeysIn(n.Digits) != strings.ToUpper(n.Digits) || len(n.Digits) > MaxPrompt {
			v.addProblem(at+".digits", "%q: only 0-9, *, # and A-D can be sent", n.Digits)
		}
	case domain.NodeTransfer:
		v.checkTransfer(at, n)
	case domain.NodeEnd:
		v.checkOutcome(at+".outcome", n.Outcome)
	case domain.NodeConverse, domain.NodeTool, domain.NodeAppointment, domain.NodeSMS, domain.NodeAgent:
		v.checkActionNode(at, n)
	case domain.NodeOffer:
		v.checkOffer(at, n)
	case domain.NodeCondition:
	default:
		v.addProblem(at+".type", "%q is no type; the types are say, collect, offer, converse, dtmf, condition, tool, appointment, sms, transfer, agent and end", n.Type)
	}
	if utf8.RuneCountInString(n.Notes) > MaxNotes {
		v.addProblem(at+".notes", "has more than %d characters", MaxNotes)
	}
	v.checkAssign(at+".set", n.Set)
	v.checkTurnTaking(at+".turn_taking", n.TurnTaking)
}

func (v *validation) checkTransfer(at string, n *domain.Node) {
	switch {
	case strings.TrimSpace(n.Destination) == "":
		v.addProblem(at+".destination", "is required for a transfer node: a name of the agent's destinations, or a number")
	case utf8.RuneCountInString(n.Destination) > maxName:
		v.addProblem(at+".destination", "has more than %d characters", maxName)
	}
	switch n.Mode {
	case "", domain.TransferBlind, domain.TransferAttended, domain.TransferBridge:
	default:
		v.addProblem(at+".mode", "%q is no mode; the modes are blind, attended and bridge", n.Mode)
	}
	if utf8.RuneCountInString(n.Summary) > MaxSummary {
		v.addProblem(at+".summary", "has more than %d characters", MaxSummary)
	}
}

func (v *validation) checkOutcome(param string, o domain.Outcome) {
	switch o {
	case "", domain.OutcomeCompleted, domain.OutcomeConfirmed, domain.OutcomeDeclined:
	case domain.OutcomeVoicemail, domain.OutcomeNoAnswer, domain.OutcomeBusy, domain.OutcomeFailed, domain.OutcomeCancelled:
		v.addProblem(param, "%q cannot be set by a pathway; it may be completed, confirmed or declined", o)
	default:
		v.addProblem(param, "%q is no outcome; it may be completed, confirmed or declined", o)
	}
}

func (v *validation) checkAssign(at string, s *domain.Assign) {
	if s == nil {
		return
	}
	v.checkOutcome(at+".outcome", s.Outcome)
	if utf8.RuneCountInString(s.Notes) > MaxNotes {
		v.addProblem(at+".notes", "has more than %d characters", MaxNotes)
	}
	if utf8.RuneCountInString(s.Intent) > maxName {
		v.addProblem(at+".intent", "has more than %d characters", maxName)
	}
	if s.Language != "" && !languageTag.MatchString(s.Language) {
		v.addProblem(at+".language", "%q is not a language tag (e.g. en-US)", s.Language)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		if !variableName.MatchString(name) {
			v.addProblem(at+".variables", "%q is not a valid name: letters, digits and _, not beginning with a digit", name)
		}
		if utf8.RuneCountInString(s.Variables[name]) > MaxNotes {
			v.addProblem(at+".variables."+name, "has more than %d characters", MaxNotes)
		}
		v.knownVariables[name] = true
	}
}

func (v *validation) checkCollect(at string, n *domain.Node) {
	v.checkAnswer(at, n)
	if n.Length < 0 || n.Length > MaxDigits {
		v.addProblem(at+".length", "must be between 1 and %d", MaxDigits)
	}
	if len(n.Values) > MaxNodes {
		v.addProblem(at+".values", "has %d entries; %d at most", len(n.Values), MaxNodes)
	}
	for i, value := range n.Values {
		param := fmt.Sprintf("%s.values[%d]", at, i)
		switch {
		case n.Input == "speech" || n.Input == "both":
			if value == "" || utf8.RuneCountInString(value) > maxName {
				v.addProblem(param, "must have 1 to %d characters", maxName)
			}
		case value == "" || phoneKeysIn(value) != value:
			v.addProblem(param, "%q: keys are 0-9, *, # and A-D", value)
		case len(value) > lengthOf(n):
			v.addProblem(param, "%q is longer than length %d", value, lengthOf(n))
		}
	}
}

// checkAnswer validates how a collect or offer node takes the answer of the caller.
func (v *validation) checkAnswer(at string, n *domain.Node) {
	if !slices.Contains([]string{"", "dtmf", "speech", "both"}, n.Input) {
		v.addProblem(at+".input", "%q is none of dtmf, speech and both", n.Input)
	}
	if n.SaveAs != "" {
		if !variableName.MatchString(n.SaveAs) {
			v.addProblem(at+".save_as", "%q is not a valid name: letters, digits and _, not beginning with a digit", n.SaveAs)
		}
		v.knownVariables[n.SaveAs] = true
	}
	if n.TimeoutSeconds < 0 || n.TimeoutSeconds > MaxTimeoutSeconds {
		v.addProblem(at+".timeout_seconds", "must be between 0 and %d", MaxTimeoutSeconds)
	}
	if n.Retries < 0 || n.Retries > MaxRetries {
		v.addProblem(at+".retries", "must be between 0 and %d", MaxRetries)
	}
}

func (v *validation) checkEdge(i int, e *domain.Edge) {
	at := fmt.Sprintf("edges[%d]", i)
	from := v.nodes[e.From]
	if from == nil && e.From != anyNode {
		v.addProblem(at+".from", "there is no node %q", e.From)
	}
	if v.nodes[e.To] == nil {
		v.addProblem(at+".to", "there is no node %q", e.To)
	}
	switch e.When.Type {
	case domain.EdgeDTMF:
		switch {
		case e.When.Digits == "" || phoneKeysIn(e.When.Digits) != e.When.Digits || len(e.When.Digits) > MaxDigits:
			v.addProblem(at+".when.digits", "%q: keys are 0-9, *, # and A-D", e.When.Digits)
		case from != nil && len(from.Values) > 0 && !slices.Contains(from.Values, e.When.Digits):
			v.addProblem(at+".when.digits", "%q is not among the values of node %q", e.When.Digits, e.From)
		case from != nil && from.Type == domain.NodeCollect && len(e.When.Digits) > lengthOf(from):
			v.addProblem(at+".when.digits", "%q is longer than what node %q collects", e.When.Digits, e.From)
		}
	case domain.EdgeAlways:
		if e.From == anyNode {
			v.addProblem(at+".when.type", "an edge from anywhere cannot be always")
		}
	case domain.EdgeSuccess, domain.EdgeFailure:
		if from == nil || !slices.Contains([]domain.NodeType{domain.NodeTransfer, domain.NodeTool, domain.NodeAppointment, domain.NodeSMS, domain.NodeConverse}, from.Type) {
			v.addProblem(at+".when.type", "%q leads away from a transfer, tool, appointment, sms or converse node only", e.When.Type)
		}
	case domain.EdgeIntent:
		v.checkText(at+".when.intent", e.When.Intent, maxName)
		v.checkPhrases(at+".when.words", e.When.Words)
	case domain.EdgeExpr:
		if e.From == anyNode {
			v.addProblem(at+".when.type", "an edge from anywhere cannot be expr")
		}
		v.checkExpression(at+".when.expr", e.When.Expr)
	case domain.EdgeLLM:
		v.checkText(at+".when.prompt", e.When.Prompt, MaxNotes)
	case domain.EdgeElse, domain.EdgeTimeout:
	default:
		v.addProblem(at+".when.type", "%q is no type; the types are always, else, dtmf, timeout, success, failure, intent, expr and llm", e.When.Type)
	}
	for _, other := range v.p.Edges[:i] {
		if other.From == e.From && isSameCondition(&other.When, &e.When) {
			v.addProblem(at, "node %q has two edges for the same case", e.From)
			break
		}
	}
}

// checkQuestionEdges adds a problem for each collect and offer node whose answer leads nowhere.
func (v *validation) checkQuestionEdges() {
	leads := make(map[string]bool)
	for _, e := range v.p.Edges {
		leads[e.From] = true
	}
	for i := range v.p.Nodes {
		switch n := &v.p.Nodes[i]; {
		case n.Type == domain.NodeOffer:
			v.checkOfferEdges(fmt.Sprintf("nodes[%d]", i), n)
		case n.Type == domain.NodeCollect && !leads[n.ID]:
			v.addProblem(fmt.Sprintf("nodes[%d]", i), "node %q collects, but no edge leads away from it", n.ID)
		}
	}
}

// nodeText is a text of a node whose placeholders are replaced.
type nodeText struct {
	param, text string
	spoken      bool
}

// textsOf returns the texts of a node whose placeholders are replaced.
func textsOf(n *domain.Node) []nodeText {
	speaks := n.Type != domain.NodeConverse // its prompt is for the model
	texts := []nodeText{
		{"prompt", n.Prompt, speaks},
		{"retry_prompt", n.RetryPrompt, speaks},
		{"digits", n.Digits, false},
		{"notes", n.Notes, false},
		{"destination", n.Destination, false},
		{"summary", n.Summary, true},
		{"body", n.Body, false},
	}
	for _, name := range slices.Sorted(maps.Keys(n.Arguments)) {
		texts = append(texts, nodeText{param: "arguments." + name, text: n.Arguments[name]})
	}
	if n.Set != nil {
		texts = append(texts, nodeText{param: "set.notes", text: n.Set.Notes})
		for _, name := range slices.Sorted(maps.Keys(n.Set.Variables)) {
			texts = append(texts, nodeText{param: "set.variables." + name, text: n.Set.Variables[name]})
		}
	}
	return texts
}

// checkTexts adds a problem for each placeholder without a fallback, and each offered list, that refers to an unknown
// variable.
func (v *validation) checkTexts() {
	for i := range v.p.Nodes {
		n := &v.p.Nodes[i]
		at := fmt.Sprintf("nodes[%d].", i)
		for _, t := range textsOf(n) {
			v.inOffer = n.Type == domain.NodeOffer && t.spoken
			v.checkPlaceholders(at+t.param, t.text)
		}
		if v.inOffer = false; listPath.MatchString(n.List) && !v.isKnown(n.List) {
			v.addProblem(at+"list", "%q is neither declared nor the save_as of a node", n.List)
		}
	}
}

// isKnown reports whether texts may use a variable, or a field of a variable, without a fallback.
func (v *validation) isKnown(name string) bool {
	return v.knownVariables[name] || v.knownVariables[variableOf(name)] || v.inOffer && variableOf(name) == itemVariable
}

func (v *validation) checkPlaceholders(param, text string) {
	for _, p := range placeholdersIn(text) {
		switch {
		case p.name == "" || strings.ContainsAny(p.name, "{}"):
			v.addProblem(param, "{{%s}} names no variable", p.name)
		case !p.hasFallback && !v.isKnown(p.name):
			v.addProblem(param, "{{%s}} is neither declared nor built in, and has no fallback", p.name)
		}
		if p.hasSayAs && !isSayAsForm(p.sayAs) {
			v.addProblem(param, "{{%s}}: %q is not a form of say-as; use one of %s", p.name, p.sayAs, strings.Join(SayAsForms(), ", "))
		}
	}
	if strings.Count(text, "{{") > strings.Count(text, "}}") {
		v.addProblem(param, "a {{ is not closed by }}")
	}
}
