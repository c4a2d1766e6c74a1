package pathway

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// What is done with words depends on how sure their recognizer is: from Sure on
// they count, from Unsure on the caller is asked whether they were meant.
const (
	Sure   = 0.6
	Unsure = 0.35
)

// NotUnderstood stands in a transcript for words that nobody understood.
const NotUnderstood = "[not understood]"

// MaxWords is how many words an edge has at most.
const MaxWords = 50

// meant is what words come to.
type meant struct {
	to     string // node; "": the way on of the node that stands
	intent string
	key    string // the key that the word names
	phrase string // that was found
	length int
}

// usual are the words of an intent that brings none.
func usual(intent string) []string {
	switch strings.ToLower(strings.TrimSpace(intent)) {
	case "yes", "confirm":
		return []string{"yes", "yeah", "yep", "yes please", "sure", "correct", "that's right", "of course", "i confirm", "confirm"}
	case "no", "decline":
		return []string{"no", "nope", "no thanks", "no thank you", "not now", "wrong", "decline"}
	case "person", "human", "operator":
		return []string{"person", "human", "operator", "representative", "speak to a person", "talk to a person", "i want to speak to a person", "real person"}
	case "repeat":
		return []string{"repeat", "repeat that", "say that again", "again please", "pardon"}
	}
	return nil
}

// wordsOf are the words that take an intent's edge.
func wordsOf(w *domain.When) []string {
	if len(w.Words) > 0 {
		return w.Words
	}
	return usual(w.Intent)
}

// keyWords are how keys are said.
func keyWords(key string) []string {
	switch key {
	case "0":
		return []string{"zero"}
	case "*":
		return []string{"star"}
	case "#":
		return []string{"pound", "hash"}
	}
	names := []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	if len(key) == 1 && key >= "1" && key <= "9" {
		return names[key[0]-'1' : key[0]-'0']
	}
	return nil
}

// Languages are those in which a script may hear: its own, and those that its pathway goes over to.
func Languages(s *domain.Script) []string {
	all := []string{s.Hearing()}
	for i := range s.Pathway.Nodes {
		if set := s.Pathway.Nodes[i].Set; set != nil && set.Language != "" && !slices.Contains(all, set.Language) {
			all = append(all, set.Language)
		}
	}
	return all
}

// English says whether a language tag is one of English, the language of what
// is said unasked.
func English(language string) bool {
	tag, _, _ := strings.Cut(strings.ToLower(language), "-")
	return tag == "en" || tag == ""
}

// Acknowledges says whether words only tell that somebody listens.
func Acknowledges(text string) bool {
	switch plainWords(text) {
	case "okay", "ok", "mm-hm", "mhm", "uh-huh", "uh huh", "mm hm", "hm", "right", "i see", "all right", "alright":
		return true
	}
	return false
}

// plainWords writes words alike: small letters, digits, apostrophes and hyphens
// within words, one space between them.
func plainWords(text string) string {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
	})
	return strings.Join(words, " ")
}

// listens says whether a node asks for words.
func listens(n *domain.Node) bool {
	return n.Type == domain.NodeCollect && (n.Input == "speech" || n.Input == "both")
}

// Listens says whether a pathway hears words anywhere.
func Listens(p *domain.Pathway) bool {
	return slices.ContainsFunc(p.Nodes, func(n domain.Node) bool { return listens(&n) || n.Type == domain.NodeConverse }) ||
		slices.ContainsFunc(p.Edges, func(e domain.Edge) bool { return e.When.Type == domain.EdgeIntent })
}

// choice is one phrase that means something at a node.
type choice struct {
	phrase string
	meant  meant
}

// choices are all phrases that count at a node: those of its edges before those
// of edges from anywhere, its values, and its keys where both count.
func (p *plan) choices(n *domain.Node) []choice {
	var all []choice
	add := func(m meant, phrases ...string) {
		for _, phrase := range phrases {
			if phrase = plainWords(phrase); phrase != "" {
				m.phrase, m.length = phrase, len(phrase)
				all = append(all, choice{phrase, m})
			}
		}
	}
	intents := func(from string) {
		for _, e := range p.edges[from] {
			if e.When.Type == domain.EdgeIntent && (from != anywhere || e.To != n.ID) {
				add(meant{to: e.To, intent: e.When.Intent}, wordsOf(&e.When)...)
			}
		}
	}
	intents(n.ID)
	for _, value := range p.keysSaid(n) {
		add(meant{key: value}, keyWords(value)...)
	}
	if listens(n) || n.Type == domain.NodeConverse {
		for _, value := range n.Values {
			if keyWords(value) == nil {
				add(meant{}, value)
			}
		}
	}
	if n.Type != domain.NodeCollect || listens(n) {
		intents(anywhere)
	}
	return all
}

// keysSaid are the keys of a node whose names count as well.
func (p *plan) keysSaid(n *domain.Node) []string {
	if !listens(n) || lengthOf(n) != 1 {
		return nil
	}
	named := slices.Clone(n.Values)
	for _, e := range p.edges[n.ID] {
		if n.Input == "both" && e.When.Type == domain.EdgeDTMF {
			named = append(named, e.When.Digits)
		}
	}
	return named
}

// understand finds the longest phrase within the words.
func (p *plan) understand(n *domain.Node, text string) (meant, bool) {
	said := " " + plainWords(text) + " "
	if said == "  " {
		return meant{}, false
	}
	var best meant
	all := p.choices(n)
	for i := range all {
		if c := &all[i]; c.meant.length > best.length && strings.Contains(said, " "+c.phrase+" ") {
			best = c.meant
		}
	}
	if n.Type == domain.NodeConverse && best.to == "" {
		return meant{}, false // the phrases of such a node only help to hear
	}
	if best.length == 0 && len(all) == 0 && listens(n) {
		return meant{phrase: strings.TrimSpace(text), length: len(text)}, true
	}
	return best, best.length > 0
}

// phrases are those of choices, each once.
func (p *plan) phrases(n *domain.Node) []string {
	var phrases []string
	seen := make(map[string]bool)
	all := p.choices(n)
	for i := range all {
		if !seen[all[i].phrase] {
			seen[all[i].phrase] = true
			phrases = append(phrases, all[i].phrase)
		}
	}
	return phrases
}

// Expects are the phrases that may be said now, and whether words are heard at
// all; without a phrase any words count.
func (s State) Expects() (phrases []string, hears bool) {
	n := s.plan.nodes[s.node]
	if n == nil {
		return nil, false
	}
	switch s.phase {
	case collecting:
		hears = listens(n)
	case confirming:
		hears = true
	case speaking:
		phrases = s.plan.phrases(n)
		hears = listens(n) || n.Type != domain.NodeCollect && len(phrases) > 0
		if next := s.next(n); next != nil && (listens(next) || next.Type == domain.NodeConverse) {
			phrases, hears = append(phrases, s.plan.phrases(next)...), true
		}
		return phrases, hears
	case listening, thinking:
		hears = true
	case fresh, sending, handing, acting, living, ending, ended:
		return nil, false
	}
	if !hears {
		return nil, false
	}
	phrases = s.plan.phrases(n)
	if s.phase == confirming {
		phrases = append(append(phrases, usual("yes")...), usual("no")...)
	}
	return phrases, true
}

// next is the node that follows one that only speaks.
func (s State) next(n *domain.Node) *domain.Node {
	if n.Type != domain.NodeSay {
		return nil
	}
	for _, e := range s.plan.edges[n.ID] {
		if e.When.Type == domain.EdgeAlways {
			return s.plan.nodes[e.To]
		}
	}
	return nil
}

// Understands says whether words mean something where the conversation stands.
func (s State) Understands(text string) bool {
	n := s.plan.nodes[s.node]
	if n == nil || s.phase != speaking && s.phase != collecting && s.phase != confirming && s.phase != listening && s.phase != thinking {
		return false
	}
	if _, ok := s.plan.understand(n, text); ok {
		return true
	}
	if s.phase == confirming {
		yes, no := answers(text)
		return yes || no
	}
	return false
}

// answers says whether words are a yes or a no.
func answers(text string) (yes, no bool) {
	said := " " + plainWords(text) + " "
	among := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, " "+w+" ") })
	}
	no = among(usual("no"))
	return !no && among(usual("yes")), no
}

// spoken takes words.
func (w *walk) spoken(in Spoken) {
	n := w.s.plan.nodes[w.s.node]
	if n == nil {
		return
	}
	switch w.s.phase {
	case collecting:
		if listens(n) {
			w.judge(n, in)
		}
	case confirming:
		w.tell(Hush{})
		w.confirmed(n, in)
	case speaking:
		w.spokenOver(n, in)
	case listening:
		w.words(n, in)
	case thinking:
		w.interrupted(n, in)
	case acting:
		w.s.said = in
	case fresh, sending, handing, ending, living, ended:
	}
}

// spokenOver takes words that were said while a prompt was being spoken. What
// must not be interrupted goes on, and the words are kept.
func (w *walk) spokenOver(n *domain.Node, in Spoken) {
	_, ok := w.s.plan.understand(n, in.Text)
	switch {
	case in.Text == "":
	case !w.s.reply || !ok && !listens(n):
		w.s.said = in
	default:
		w.tell(Hush{})
		w.s.reply = false
		w.s.phase = collecting
		w.judge(n, in)
	}
}

// keptWords takes words that were said before they were asked for, where they
// mean something.
func (w *walk) keptWords(n *domain.Node, in Spoken) bool {
	if !listens(n) || in.Text == "" || in.Confidence < Unsure {
		return false
	}
	if _, ok := w.s.plan.understand(n, in.Text); !ok {
		return false
	}
	w.judge(n, in)
	return true
}

// judge acts on words, asks whether they were meant, or asks again.
func (w *walk) judge(n *domain.Node, in Spoken) {
	m, ok := w.s.plan.understand(n, in.Text)
	switch {
	case !ok && w.choose(n, in):
	case !ok || in.Confidence < Unsure || in.Confidence < Sure && !w.s.english:
		w.failed(domain.EdgeElse)
	case in.Confidence < Sure:
		w.ask(n, m)
	default:
		w.take(n, m, in)
	}
}

// ask asks whether the words were meant.
func (w *walk) ask(n *domain.Node, m meant) {
	if w.s.idle++; w.s.idle > maxSteps {
		w.end("", "", "turns_in_a_circle")
		return
	}
	w.s.phase, w.s.guess = confirming, m
	text := fmt.Sprintf("Did you say: %s?", m.phrase)
	shown := text
	if n.Sensitive {
		shown = keyedHide
	}
	w.tell(Say{Node: n.ID, Text: text, Shown: shown, Interruptible: true, Sensitive: n.Sensitive})
}

// confirmed takes the answer to ask: yes, no, or other words in place of it.
func (w *walk) confirmed(n *domain.Node, in Spoken) {
	guess := w.s.guess
	w.s.phase, w.s.guess = collecting, meant{}
	yes, no := answers(in.Text)
	m, ok := w.s.plan.understand(n, in.Text)
	switch {
	case in.Confidence < Unsure:
		w.failed(domain.EdgeElse)
	case ok && m == guess: // said once more
		w.take(n, guess, in)
	case yes:
		w.take(n, guess, in)
	case no:
		w.failed(domain.EdgeElse)
	default:
		w.judge(n, in)
	}
}

// take does what words mean.
func (w *walk) take(n *domain.Node, m meant, in Spoken) {
	w.s.idle = 0
	if !n.Sensitive {
		w.note(Message{By: ByCaller, Text: in.Text})
	}
	if m.key != "" {
		w.s.keyed = ""
		w.key(n, m.key[0])
		return
	}
	if m.intent != "" {
		w.s.intent = m.intent
	}
	if n.SaveAs != "" {
		w.keep(n.SaveAs, m.phrase, n.Sensitive)
	}
	if m.intent != "" || n.SaveAs != "" {
		w.tell(Set{w.s.Result()})
	}
	if m.intent != "" {
		told := Meant{Node: n.ID, Intent: m.intent, Confidence: in.Confidence, Text: in.Text}
		if n.Sensitive {
			told.Text = ""
		}
		w.tell(told)
	}
	if m.to != "" {
		w.enter(m.to)
		return
	}
	w.leave([]domain.EdgeType{domain.EdgeExpr, domain.EdgeAlways, domain.EdgeElse}, w.s.node)
}

// sameCase says whether two edges are for the same case.
func sameCase(a, b *domain.When) bool {
	return a.Type == b.Type && a.Digits == b.Digits && a.Intent == b.Intent && a.Expr == b.Expr && a.Prompt == b.Prompt
}

// words checks what takes the edge of an intent.
func (v *validation) words(param string, words []string) {
	if len(words) > MaxWords {
		v.bad(param, "has %d entries; %d at most", len(words), MaxWords)
		return
	}
	for i, phrase := range words {
		if plainWords(phrase) == "" || utf8.RuneCountInString(phrase) > maxName {
			v.bad(fmt.Sprintf("%s[%d]", param, i), "must have a letter or digit, and at most %d characters", maxName)
		}
	}
}
