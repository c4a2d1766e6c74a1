package pathway

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Step tells what happened and learns what to do. An input that does not fit
// where the conversation stands changes nothing.
func Step(s State, in Input) (State, []Do) {
	w := walk{s: s}
	if s.plan == nil || s.phase == ended {
		return s, nil
	}
	switch in := in.(type) {
	case Began:
		if s.phase == fresh {
			w.enter(s.plan.start)
		}
	case PromptDone:
		w.promptDone()
	case DigitsSent:
		if s.phase == sending {
			w.onward("")
		}
	case Digit:
		w.digit(in.Key)
	case Spoken:
		w.spoken(in)
	case Transferred:
		if s.phase == handing {
			w.transferred(in.OK)
		}
	case Silenced:
		w.silenced()
	case Resume:
		w.resume()
	case TakenUp:
		w.takenUp()
	case Timeout:
		w.timedOut()
	case Overheard:
		w.overheard(in)
	case Wanted:
		w.wanted(in)
	case Rested:
		w.rested(in)
	case Broke:
		w.broke(in)
	case Left:
		w.left(in)
	case Sentence:
		w.sentence(in)
	case Answered:
		w.answered(in)
	case Acted:
		w.acted(in)
	case Slow:
		w.slow(in)
	case Unable:
		w.unable(AgentUnavailable)
	case Hangup:
		w.s.phase = ended
	}
	return w.s, w.out
}

// timedOut: the caller is silent where something is awaited of him.
func (w *walk) timedOut() {
	n := w.s.plan.nodes[w.s.node]
	switch w.s.phase { //nolint:exhaustive // nothing is awaited of him elsewhere
	case collecting, confirming:
		w.failed(domain.EdgeTimeout)
	case listening:
		w.unheard(n)
	case living:
		w.hushed(n)
	}
}

// walk is one step in the making.
type walk struct {
	s   State
	out []Do
}

func (w *walk) tell(d Do) { w.out = append(w.out, d) }

// enter does what a node asks for and goes on to the next where it asks for
// nothing.
func (w *walk) enter(id string) {
	n := w.s.plan.nodes[id]
	if n == nil {
		w.end("", "", "no_such_node")
		return
	}
	if w.s.idle++; w.s.idle > maxSteps {
		w.end("", "", "turns_in_a_circle")
		return
	}
	if w.s.entered++; w.s.entered > maxEntered {
		w.end("", "", "too_long")
		return
	}
	w.s.node, w.s.keyed, w.s.tries = id, "", 0
	w.assign(n)
	switch n.Type {
	case domain.NodeSay:
		w.say(n, speaking)
	case domain.NodeCollect:
		if n.Sensitive {
			w.s.ahead = "" // keys pressed early were shown; they are no secret to keep
		}
		w.say(n, speaking)
	case domain.NodeDTMF:
		w.send(n)
	case domain.NodeTransfer:
		w.say(n, speaking)
	case domain.NodeEnd:
		w.say(n, ending)
	case domain.NodeTool, domain.NodeAppointment, domain.NodeSMS, domain.NodeAgent:
		w.act(n)
	case domain.NodeConverse:
		w.converse(n)
	case domain.NodeCondition:
		w.decide()
	default:
		w.end("", "", "unknown_node_type")
	}
}

// assign takes over what the node sets.
func (w *walk) assign(n *domain.Node) {
	if n.Set == nil {
		return
	}
	if n.Set.Outcome != "" {
		w.s.outcome = n.Set.Outcome
	}
	if n.Set.Notes != "" {
		w.s.notes, _ = w.s.shownText(n.Set.Notes)
	}
	if n.Set.Intent != "" {
		w.s.intent = n.Set.Intent
	}
	if tag := n.Set.Language; tag != "" && tag != w.s.language {
		w.s.language, w.s.english = tag, English(tag)
		w.tell(Speaks{Language: tag})
	}
	for _, name := range slices.Sorted(maps.Keys(n.Set.Variables)) {
		value, _ := Fill(n.Set.Variables[name], w.s.values)
		_, hidden := w.s.shownText(n.Set.Variables[name])
		w.keep(name, value, hidden)
	}
	if n.Set.AddToDNC {
		w.tell(OptOut{})
	}
	w.tell(Set{w.s.Result()})
}

// keep stores a variable; the maps of the state before stay as they were.
func (w *walk) keep(name, value string, secret bool) {
	w.s.values = maps.Clone(w.s.values)
	w.s.values[name] = value
	shown, hidden := maps.Clone(w.s.shown), maps.Clone(w.s.secret)
	if shown == nil {
		shown = make(map[string]string)
	}
	if hidden == nil {
		hidden = make(map[string]bool)
	}
	if secret {
		hidden[name] = true
		delete(shown, name)
	} else {
		delete(hidden, name)
		shown[name] = value
	}
	w.s.shown, w.s.secret = shown, hidden
}

// say speaks the node's prompt, or goes on at once where it has none.
func (w *walk) say(n *domain.Node, next phase) {
	w.s.phase = next
	w.s.reply = next == speaking && (n.Interruptible == nil || *n.Interruptible)
	prompt := n.Prompt
	if w.s.tries > 0 && n.RetryPrompt != "" {
		prompt = n.RetryPrompt
	}
	text, missing := Fill(prompt, w.s.values)
	for _, name := range missing {
		w.tell(Missing{Node: n.ID, Name: name})
	}
	if strings.TrimSpace(text) == "" || w.answeredAhead(n) {
		w.promptDone()
		return
	}
	shown, hidden := w.s.shownText(prompt)
	w.tell(Say{Node: n.ID, Text: text, Shown: shown, Interruptible: w.s.reply, Sensitive: hidden})
	w.note(Message{By: ByAgent, Text: shown})
}

// answeredAhead: the caller knows the menu and has pressed the key already.
func (w *walk) answeredAhead(n *domain.Node) bool {
	return n.Type == domain.NodeCollect && w.s.reply && w.s.ahead != ""
}

func (w *walk) send(n *domain.Node) {
	text, missing := Fill(n.Digits, w.s.values)
	for _, name := range missing {
		w.tell(Missing{Node: n.ID, Name: name})
	}
	w.s.phase = sending
	digits := digitsOf(text)
	if digits == "" {
		w.onward("")
		return
	}
	_, hidden := w.s.shownText(n.Digits)
	w.tell(SendDigits{Digits: digits, Sensitive: hidden || n.Sensitive})
}

func (w *walk) promptDone() {
	n := w.s.plan.nodes[w.s.node]
	switch w.s.phase {
	case speaking:
		w.s.reply = false
		switch n.Type { //nolint:exhaustive // the others go on at once
		case domain.NodeCollect:
			w.collect(n)
			return
		case domain.NodeTransfer:
			w.transfer(n)
			return
		}
		if to, ok := w.keyEdge(w.s.ahead); ok {
			w.s.ahead = ""
			w.enter(to)
			return
		}
		w.onward("")
	case ending:
		notes, _ := w.s.shownText(n.Notes)
		w.end(n.Outcome, notes, "")
	case confirming:
		w.tell(Collect{Length: lengthOf(n), Timeout: timeoutOf(n), Sensitive: n.Sensitive})
	case thinking:
		w.spokenOn(n)
	case fresh, collecting, sending, handing, listening, acting, living, ended:
	}
}

// collect waits for keys or words, beginning with those of before.
func (w *walk) collect(n *domain.Node) {
	w.s.phase = collecting
	said := w.s.said
	w.s.said = Spoken{}
	early := w.s.ahead
	w.s.ahead = ""
	for i := range len(early) {
		if w.key(n, early[i]) {
			w.s.ahead += early[i+1:]
			return
		}
	}
	if early == "" && w.keptWords(n, said) {
		return
	}
	w.wait(n)
}

func (w *walk) wait(n *domain.Node) {
	w.tell(Collect{Length: lengthOf(n) - len(w.s.keyed), Timeout: timeoutOf(n), Sensitive: n.Sensitive})
}

func (w *walk) digit(key byte) {
	if !strings.ContainsRune(keys, rune(key)) {
		return
	}
	w.s.idle = 0
	n := w.s.plan.nodes[w.s.node]
	switch w.s.phase {
	case collecting:
		if !w.key(n, key) {
			w.wait(n)
		}
	case speaking:
		w.keyWhileSpeaking(n, key)
	case confirming:
		w.tell(Hush{})
		w.s.phase = collecting
		if !w.key(n, key) {
			w.wait(n)
		}
	case sending, handing, acting:
		w.remember(key)
	case thinking, listening:
		w.keyedWhile(n, key)
	case living:
		w.livelyKey(key)
	case fresh, ending, ended:
	}
}

func (w *walk) keyWhileSpeaking(n *domain.Node, key byte) {
	if !w.s.reply {
		w.remember(key)
		return
	}
	if n.Type == domain.NodeCollect {
		w.tell(Hush{})
		w.s.reply = false
		w.remember(key)
		w.collect(n)
		return
	}
	if to, ok := w.keyEdge(string(key)); ok {
		w.tell(Hush{})
		w.s.reply = false
		w.enter(to)
		return
	}
	w.remember(key)
}

// remember keeps a key for the next collect.
func (w *walk) remember(key byte) {
	if len(w.s.ahead) < 32 {
		w.s.ahead += string(key)
	}
}

// key adds one key to the input and says whether the input is complete.
func (w *walk) key(n *domain.Node, key byte) bool {
	length := lengthOf(n)
	if key == '#' && length > 1 && !slices.ContainsFunc(n.Values, func(v string) bool { return strings.Contains(v, "#") }) {
		w.complete(n)
		return true
	}
	w.s.keyed += string(key)
	if len(w.s.keyed) < length {
		return false
	}
	w.complete(n)
	return true
}

// complete judges the input of a collect.
func (w *walk) complete(n *domain.Node) {
	got := w.s.keyed
	if to, ok := w.edgeFrom(anywhere, got); ok {
		if _, own := w.edgeFrom(n.ID, got); !own {
			w.enter(to)
			return
		}
	}
	_, edge := w.keyEdge(got)
	free := len(n.Values) == 0 && (edge || !w.hasKeyEdges())
	if got == "" || !free && !slices.Contains(n.Values, got) {
		w.failed(domain.EdgeElse)
		return
	}
	if n.SaveAs != "" {
		w.keep(n.SaveAs, got, n.Sensitive)
		w.tell(Set{w.s.Result()})
	}
	if !n.Sensitive {
		w.note(Message{By: ByCaller, Text: pressed + got + "]"})
	}
	w.onward(got)
}

// failed asks again, or leaves by the edge for it once all tries are used.
func (w *walk) failed(why domain.EdgeType) {
	n := w.s.plan.nodes[w.s.node]
	w.s.keyed = ""
	if w.s.tries < n.Retries {
		w.s.tries++
		if w.s.idle++; w.s.idle > maxSteps {
			w.end("", "", "turns_in_a_circle")
			return
		}
		w.say(n, speaking)
		return
	}
	order := []domain.EdgeType{domain.EdgeElse, domain.EdgeTimeout, domain.EdgeAlways}
	if why == domain.EdgeTimeout {
		order = []domain.EdgeType{domain.EdgeTimeout, domain.EdgeElse, domain.EdgeAlways}
	}
	w.leave(order, w.s.node, anywhere)
}

// onward leaves a node that has done its work, with what was keyed in.
func (w *walk) onward(keyed string) {
	if to, ok := w.keyEdge(keyed); ok {
		w.enter(to)
		return
	}
	w.leave([]domain.EdgeType{domain.EdgeExpr, domain.EdgeAlways, domain.EdgeElse}, w.s.node)
}

// leave takes the first edge of the first type that there is, place by place.
// A node without one ends the conversation.
func (w *walk) leave(order []domain.EdgeType, places ...string) {
	for _, from := range places {
		for _, t := range order {
			for _, e := range w.s.plan.edges[from] {
				if e.When.Type == t && (from != anywhere || e.To != w.s.node) && (t != domain.EdgeExpr || w.met(&e)) {
					w.enter(e.To)
					return
				}
			}
		}
	}
	w.end("", "", "")
}

// anywhere is the From of edges that lead away from every node.
const anywhere = "*"

func (w *walk) keyEdge(keyed string) (to string, ok bool) {
	if keyed == "" {
		return "", false
	}
	if to, ok = w.edgeFrom(w.s.node, keyed); ok {
		return to, true
	}
	return w.edgeFrom(anywhere, keyed)
}

func (w *walk) edgeFrom(place, keyed string) (to string, ok bool) {
	for _, e := range w.s.plan.edges[place] {
		if e.When.Type == domain.EdgeDTMF && e.When.Digits == keyed {
			return e.To, true
		}
	}
	return "", false
}

func (w *walk) hasKeyEdges() bool {
	return slices.ContainsFunc(w.s.plan.edges[w.s.node], func(e domain.Edge) bool { return e.When.Type == domain.EdgeDTMF })
}

func (w *walk) end(outcome domain.Outcome, notes, reason string) {
	if outcome != "" {
		w.s.outcome = outcome
	}
	if notes != "" {
		w.s.notes = notes
	}
	if w.s.outcome == "" {
		w.s.outcome = domain.OutcomeCompleted
	}
	w.s.phase = ended
	w.tell(End{Outcome: w.s.outcome, Notes: w.s.notes, Reason: reason})
}

func lengthOf(n *domain.Node) int {
	if n.Length <= 0 {
		return defaultLength
	}
	return n.Length
}

func timeoutOf(n *domain.Node) time.Duration {
	if n.TimeoutSeconds <= 0 {
		return defaultTimeout
	}
	return time.Duration(n.TimeoutSeconds * float64(time.Second))
}

// patienceOf is how long a caller may take to speak to a model.
func patienceOf(n *domain.Node) time.Duration {
	if n.TimeoutSeconds <= 0 {
		return conversePatience
	}
	return timeoutOf(n)
}

const conversePatience = 8 * time.Second
