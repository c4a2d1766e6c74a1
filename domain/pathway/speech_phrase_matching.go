package pathway

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/wordlists"
)

// Thresholds of the recognition confidence, 0 to 1. Words are accepted from AcceptConfidence on. From
// ConfirmConfidence on, the caller is asked to confirm the words.
const (
	AcceptConfidence  = 0.6
	ConfirmConfidence = 0.35
)

// NotUnderstood stands in transcripts for speech that was not understood.
const NotUnderstood = "[not understood]"

// MaxEdgeWords is the maximum number of phrases of an intent edge.
const MaxEdgeWords = 50

// phraseMatch is the phrase that recognized words match at a node, and its effect.
type phraseMatch struct {
	to     string // target node; empty: the normal exit of the current node
	intent string
	key    string // the key that the words name
	phrase string // the phrase that matched
	length int
}

// defaultWords returns the built-in phrases for an intent edge that defines no phrases.
func defaultWords(intent string) []string {
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

// edgeWords returns the phrases of an intent edge, or the built-in phrases of its intent.
func edgeWords(w *domain.When) []string {
	if len(w.Words) > 0 {
		return w.Words
	}
	return defaultWords(w.Intent)
}

// keyWords returns the spoken English names of a phone key.
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

// SpeechLanguages returns the languages in which the caller of a script may speak: the language of the script and
// those to which its pathway switches.
func SpeechLanguages(s *domain.Script) []string {
	all := []string{s.RecognitionLanguage()}
	for i := range s.Pathway.Nodes {
		if set := s.Pathway.Nodes[i].Set; set != nil && set.Language != "" && !slices.Contains(all, set.Language) {
			all = append(all, set.Language)
		}
	}
	return all
}

// IsEnglish reports whether a language tag is English or empty. Questions such as "Did you say …?" exist only in
// English.
func IsEnglish(language string) bool {
	tag, _, _ := strings.Cut(strings.ToLower(language), "-")
	return tag == "en" || tag == ""
}

// acceptsSpeech reports whether a collect or offer node accepts speech.
func acceptsSpeech(n *domain.Node) bool {
	return n.Type == domain.NodeCollect && (n.Input == "speech" || n.Input == "both") || n.Type == domain.NodeOffer && n.Input != "dtmf"
}

// UsesSpeech reports whether a pathway needs speech recognition.
func UsesSpeech(p *domain.Pathway) bool {
	return slices.ContainsFunc(p.Nodes, func(n domain.Node) bool { return acceptsSpeech(&n) || n.Type == domain.NodeConverse }) ||
		slices.ContainsFunc(p.Edges, func(e domain.Edge) bool { return e.When.Type == domain.EdgeIntent })
}

// phraseChoice is one phrase that a node accepts, and the effect of saying it.
type phraseChoice struct {
	phrase string
	match  phraseMatch
}

// phraseChoices returns all phrases that are accepted at a node. They come from the node's edges, keys and values, and
// from edges that start at every node.
func (p *graph) phraseChoices(n *domain.Node) []phraseChoice {
	var all []phraseChoice
	add := func(m phraseMatch, phrases ...string) {
		for _, phrase := range phrases {
			if phrase = wordlists.Normalize(phrase); phrase != "" {
				m.phrase, m.length = phrase, len(phrase)
				all = append(all, phraseChoice{phrase, m})
			}
		}
	}
	intents := func(from string) {
		for _, e := range p.edges[from] {
			if e.When.Type == domain.EdgeIntent && (from != anyNode || e.To != n.ID) {
				add(phraseMatch{to: e.To, intent: e.When.Intent}, edgeWords(&e.When)...)
			}
		}
	}
	intents(n.ID)
	if n.Type == domain.NodeOffer && acceptsSpeech(n) {
		p.addOfferChoices(add)
	}
	for _, value := range p.spokenKeys(n) {
		add(phraseMatch{key: value}, keyWords(value)...)
	}
	if acceptsSpeech(n) || n.Type == domain.NodeConverse {
		for _, value := range n.Values {
			if keyWords(value) == nil {
				add(phraseMatch{}, value)
			}
		}
	}
	if n.Type != domain.NodeCollect || acceptsSpeech(n) {
		intents(anyNode)
	}
	return all
}

// spokenKeys returns the keys of a node whose names the caller may speak instead of pressing the key.
func (p *graph) spokenKeys(n *domain.Node) []string {
	if !acceptsSpeech(n) || lengthOf(n) != 1 {
		return nil
	}
	named := slices.Clone(n.Values)
	for _, e := range p.edges[n.ID] {
		if n.Input != "speech" && e.When.Type == domain.EdgeDTMF {
			named = append(named, e.When.Digits)
		}
	}
	return named
}

// matchPhrase returns the longest phrase of a node that the words in text contain.
func (p *graph) matchPhrase(n *domain.Node, text string) (phraseMatch, bool) {
	said := " " + wordlists.Normalize(text) + " "
	if said == "  " {
		return phraseMatch{}, false
	}
	var best phraseMatch
	all := p.phraseChoices(n)
	for i := range all {
		if c := &all[i]; c.match.length > best.length && strings.Contains(said, " "+c.phrase+" ") {
			best = c.match
		}
	}
	if n.Type == domain.NodeOffer {
		best = preferRefusal(said, all, best)
	}
	if n.Type == domain.NodeConverse && best.to == "" {
		return phraseMatch{}, false // other phrases of a converse node only support recognition
	}
	if best.length == 0 && len(all) == 0 && acceptsSpeech(n) {
		return phraseMatch{phrase: strings.TrimSpace(text), length: len(text)}, true
	}
	return best, best.length > 0
}

// phrases returns the accepted phrases of a node without duplicates.
func (p *graph) phrases(n *domain.Node) []string {
	var phrases []string
	seen := make(map[string]bool)
	all := p.phraseChoices(n)
	for i := range all {
		if !seen[all[i].phrase] {
			seen[all[i].phrase] = true
			phrases = append(phrases, all[i].phrase)
		}
	}
	return phrases
}

// ExpectedPhrases returns the phrases that the current node expects, and hears reports whether it accepts speech. If
// it accepts speech and phrases is empty, it accepts any words.
func (s State) ExpectedPhrases() (phrases []string, hears bool) {
	n := s.graph.nodes[s.node]
	if n == nil {
		return nil, false
	}
	switch s.phase {
	case collecting:
		hears = acceptsSpeech(n)
	case confirming:
		hears = true
	case speaking:
		phrases = s.graph.phrases(n)
		hears = acceptsSpeech(n) || n.Type != domain.NodeCollect && len(phrases) > 0
		if next := s.nextNode(n); next != nil && (acceptsSpeech(next) || next.Type == domain.NodeConverse) {
			phrases, hears = append(phrases, s.graph.phrases(next)...), true
		}
		return phrases, hears
	case listening, thinking:
		hears = true
	case ending:
		phrases = s.graph.phrases(n)
		return phrases, len(phrases) > 0
	case fresh, sending, transferring, acting, inRealtime, ended:
		return nil, false
	}
	if !hears {
		return nil, false
	}
	phrases = s.graph.phrases(n)
	if s.phase == confirming {
		phrases = append(append(phrases, defaultWords("yes")...), defaultWords("no")...)
	}
	return phrases, true
}

// nextNode returns the node that always follows a say node, or nil.
func (s State) nextNode(n *domain.Node) *domain.Node {
	if n.Type != domain.NodeSay {
		return nil
	}
	for _, e := range s.graph.edges[n.ID] {
		if e.When.Type == domain.EdgeAlways {
			return s.graph.nodes[e.To]
		}
	}
	return nil
}

// Understands reports whether words match a phrase, or answer a confirmation, in the current state.
func (s State) Understands(text string) bool {
	n := s.graph.nodes[s.node]
	if n == nil || !slices.Contains([]phase{speaking, collecting, confirming, listening, thinking, ending}, s.phase) {
		return false
	}
	if _, ok := s.graph.matchPhrase(n, text); ok {
		return true
	}
	if s.phase == confirming {
		yes, no := findYesNo(text)
		return yes || no
	}
	return false
}

// findYesNo reports whether words contain a yes or a no.
func findYesNo(text string) (yes, no bool) {
	said := " " + wordlists.Normalize(text) + " "
	containsAny := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, " "+w+" ") })
	}
	no = containsAny(defaultWords("no"))
	return !no && containsAny(defaultWords("yes")), no
}

// handleUtterance handles recognized speech according to the phase of the conversation.
func (w *stepper) handleUtterance(in Utterance) {
	n := w.s.graph.nodes[w.s.node]
	if n == nil {
		return
	}
	switch w.s.phase {
	case collecting:
		if acceptsSpeech(n) {
			w.evaluateSpeech(n, in)
		}
	case confirming:
		w.emit(StopSpeaking{})
		w.handleConfirmation(n, in)
	case speaking:
		w.handleSpeechDuringPrompt(n, in)
	case listening:
		w.handleConversationSpeech(n, in)
	case thinking:
		w.handleInterruption(n, in)
	case acting:
		w.s.bufferedSpeech = in
	case ending:
		w.handleWordsDuringLastPrompt(n, in)
	case fresh, sending, transferring, inRealtime, ended:
	}
}

// handleSpeechDuringPrompt handles words of the caller during a prompt. If the prompt is interruptible, it stops and
// the words are evaluated. Otherwise the prompt continues and the words are stored.
func (w *stepper) handleSpeechDuringPrompt(n *domain.Node, in Utterance) {
	_, ok := w.s.graph.matchPhrase(n, in.Text)
	switch {
	case in.Text == "":
	case !w.s.interruptible || !ok && !acceptsSpeech(n):
		w.s.bufferedSpeech = in
	default:
		w.stopPrompt()
		w.s.interruptible = false
		w.s.phase = collecting
		w.evaluateSpeech(n, in)
	}
}

// useBufferedSpeech evaluates words that the caller said before the prompt ended. It returns false if they match no
// phrase.
func (w *stepper) useBufferedSpeech(n *domain.Node, in Utterance) bool {
	if !acceptsSpeech(n) || in.Text == "" || in.Confidence < ConfirmConfidence {
		return false
	}
	if _, ok := w.s.graph.matchPhrase(n, in.Text); !ok {
		return false
	}
	w.evaluateSpeech(n, in)
	return true
}

// evaluateSpeech evaluates words by their phrase and confidence. It accepts the words, asks for confirmation, asks a
// model, or repeats the prompt.
func (w *stepper) evaluateSpeech(n *domain.Node, in Utterance) {
	m, ok := w.s.graph.matchPhrase(n, in.Text)
	switch {
	case !ok && w.requestChoice(n, in):
	case !ok || in.Confidence < ConfirmConfidence || in.Confidence < AcceptConfidence && !w.s.english:
		w.retryOrLeave(domain.EdgeElse)
	case in.Confidence < AcceptConfidence:
		w.askConfirmation(n, m)
	default:
		w.applyMatch(n, m, in)
	}
}

// askConfirmation asks the caller to confirm the recognized words.
func (w *stepper) askConfirmation(n *domain.Node, m phraseMatch) {
	if w.s.nodesSinceInput++; w.s.nodesSinceInput > maxSteps {
		w.endConversation("", "", "turns_in_a_circle")
		return
	}
	w.s.phase, w.s.unconfirmed = confirming, m
	text := fmt.Sprintf("Did you say: %s?", m.phrase)
	shown := text
	if n.Sensitive {
		shown = hiddenKeys
	}
	w.emit(Say{Node: n.ID, Text: text, Shown: shown, Interruptible: true, Sensitive: n.Sensitive})
}

// handleConfirmation handles the answer to askConfirmation: yes, no, or other words.
func (w *stepper) handleConfirmation(n *domain.Node, in Utterance) {
	guess := w.s.unconfirmed
	w.s.phase, w.s.unconfirmed = collecting, phraseMatch{}
	yes, no := findYesNo(in.Text)
	m, ok := w.s.graph.matchPhrase(n, in.Text)
	switch {
	case in.Confidence < ConfirmConfidence:
		w.retryOrLeave(domain.EdgeElse)
	case ok && m == guess: // the caller repeated the words
		w.applyMatch(n, guess, in)
	case yes:
		w.applyMatch(n, guess, in)
	case no:
		w.retryOrLeave(domain.EdgeElse)
	default:
		w.evaluateSpeech(n, in)
	}
}

// applyMatch applies the effect of a matched phrase: it enters the key, sets the intent, saves the value and follows
// the edge.
func (w *stepper) applyMatch(n *domain.Node, m phraseMatch, in Utterance) {
	w.s.nodesSinceInput = 0
	if !n.Sensitive {
		w.addToHistory(Message{By: ByCaller, Text: in.Text})
	}
	if m.key != "" {
		w.s.enteredKeys = ""
		w.addKey(n, m.key[0])
		return
	}
	if m.intent != "" {
		w.s.intent = m.intent
	}
	if n.SaveAs != "" && n.Type != domain.NodeOffer {
		w.setVariable(n.SaveAs, m.phrase, n.Sensitive)
	}
	if m.intent != "" || n.SaveAs != "" {
		w.emit(UpdateResult{w.s.Result()})
	}
	if m.intent != "" {
		detected := IntentDetected{Node: n.ID, Intent: m.intent, Confidence: in.Confidence, Text: in.Text}
		if n.Sensitive {
			detected.Text = ""
		}
		w.emit(detected)
	}
	if m.to != "" {
		w.enterNode(m.to)
		return
	}
	w.followEdge([]domain.EdgeType{domain.EdgeExpr, domain.EdgeAlways, domain.EdgeElse}, w.s.node)
}

// isSameCondition reports whether two edges have the same condition, not regarding the phrases.
func isSameCondition(a, b *domain.When) bool {
	return a.Type == b.Type && a.Digits == b.Digits && a.Intent == b.Intent && a.Expr == b.Expr && a.Prompt == b.Prompt
}

// checkPhrases validates the phrases of an intent edge.
func (v *validation) checkPhrases(param string, phrases []string) {
	if len(phrases) > MaxEdgeWords {
		v.addProblem(param, "has %d entries; %d at most", len(phrases), MaxEdgeWords)
		return
	}
	for i, phrase := range phrases {
		if wordlists.Normalize(phrase) == "" || utf8.RuneCountInString(phrase) > maxName {
			v.addProblem(fmt.Sprintf("%s[%d]", param, i), "must have a letter or digit, and at most %d characters", maxName)
		}
	}
}
