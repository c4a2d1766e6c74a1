package pathway

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/wordlists"
)

// An offer node speaks the items of a list one by one until the caller takes one. The list is a variable or a field of a
// result, such as the free times of a calendar. The functions in this file run and validate the node.

// The keys of an offer node.
const (
	takeKey   = "1" // takes the item
	nextKey   = "2" // asks for the next item
	repeatKey = "*" // repeats the item
)

// itemVariable is the name of the current item in the prompts of an offer node.
const itemVariable = "item"

var (
	itemPlaceholder = regexp.MustCompile(`\{\{\s*` + itemVariable + `\b`)
	listPath        = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}(\.[^\s.{}|]{1,64})*$`)
)

// isQuestion reports whether a node waits for an answer of the caller in keys or words.
func isQuestion(n *domain.Node) bool {
	return n.Type == domain.NodeCollect || n.Type == domain.NodeOffer
}

// listOf returns the items of the list that an offer node names. ok is false if there is no such list.
func (s State) listOf(n *domain.Node) (items []json.RawMessage, ok bool) {
	text, ok := valueOf(s.values, n.List)
	return items, ok && json.Unmarshal([]byte(text), &items) == nil
}

// itemPath returns the name of the current item of an offer node as a field of the list.
func (s State) itemPath(n *domain.Node) string {
	return n.List + "." + strconv.Itoa(s.offered[n.ID])
}

// withItem replaces the name item in the placeholders of an offer node's prompt by the name of the current item. It
// returns the prompts of other nodes unchanged.
func (s State) withItem(n *domain.Node, prompt string) string {
	if n.Type != domain.NodeOffer {
		return prompt
	}
	return itemPlaceholder.ReplaceAllLiteralString(prompt, "{{"+s.itemPath(n))
}

// offerItem speaks the current item of an offer node. Without a further item it leaves the node by an else edge, and the
// next visit starts again with the first item. Keys and words from before the prompt are discarded, because the caller has
// not heard the item.
func (w *stepper) offerItem(n *domain.Node) {
	items, ok := w.s.listOf(n)
	if !ok {
		w.emit(MissingVariable{Node: n.ID, Name: n.List})
	}
	w.s.tries, w.s.enteredKeys, w.s.bufferedKeys, w.s.bufferedSpeech = 0, "", "", Utterance{}
	if w.s.offered[n.ID] >= len(items) {
		w.setOffered(n.ID, 0)
		w.followEdge([]domain.EdgeType{domain.EdgeElse}, n.ID, anyNode)
		return
	}
	w.speakPrompt(n, speaking)
}

// answerOffer applies a key that the caller pressed, or whose meaning the caller spoke, at an offer node.
func (w *stepper) answerOffer(n *domain.Node, key string) {
	if !n.Sensitive {
		w.addToHistory(Message{By: ByCaller, Text: pressedPrefix + key + "]"})
	}
	switch key {
	case takeKey:
		w.takeItem(n)
	case nextKey:
		w.setOffered(n.ID, w.s.offered[n.ID]+1)
		w.offerItem(n)
	case repeatKey:
		w.offerItem(n)
	default:
		if to, ok := w.findKeyEdge(key); ok {
			w.enterNode(to)
			return
		}
		w.retryOrLeave(domain.EdgeElse)
	}
}

// takeItem saves the current item and leaves the node. The next visit continues with the item after it, so that a pathway
// can offer the next time if this one was taken by somebody else.
func (w *stepper) takeItem(n *domain.Node) {
	item, _ := valueOf(w.s.values, w.s.itemPath(n))
	w.setOffered(n.ID, w.s.offered[n.ID]+1)
	if n.SaveAs != "" {
		w.setVariable(n.SaveAs, item, n.Sensitive || w.s.secret[variableOf(n.List)])
		w.emit(UpdateResult{w.s.Result()})
	}
	w.followEdge([]domain.EdgeType{domain.EdgeExpr, domain.EdgeAlways}, n.ID)
}

// setOffered sets the index of the current item of an offer node in a copy of the map, because the previous state must not
// change.
func (w *stepper) setOffered(node string, item int) {
	w.s.offered = maps.Clone(w.s.offered)
	if w.s.offered == nil {
		w.s.offered = make(map[string]int)
	}
	w.s.offered[node] = item
}

// restartOffers makes the offers of a variable start again with the first item, because the variable has a new value.
func (w *stepper) restartOffers(variable string) {
	for node, item := range w.s.offered {
		if n := w.s.graph.nodes[node]; item > 0 && n != nil && variableOf(n.List) == variable {
			w.setOffered(node, 0)
		}
	}
}

// addOfferChoices calls add with the phrases that an offer node accepts in the languages of the caller. The key of a match
// is the one that the phrases stand for.
func (p *graph) addOfferChoices(add func(m phraseMatch, phrases ...string)) {
	for _, language := range p.languages {
		words := wordlists.OfferAnswersIn(language)
		add(phraseMatch{key: takeKey}, words.Take...)
		add(phraseMatch{key: nextKey}, words.Next...)
		add(phraseMatch{key: repeatKey}, words.Repeat...)
	}
}

// preferRefusal returns the match of words at an offer node. An item is not taken if the words also ask for another one,
// as in "yes, no, another one". A word within a longer phrase does not count: "no problem" is no refusal.
func preferRefusal(said string, all []phraseChoice, best phraseMatch) phraseMatch {
	if best.key != takeKey {
		return best
	}
	phrases := slices.Clone(all)
	slices.SortStableFunc(phrases, func(a, b phraseChoice) int { return b.match.length - a.match.length })
	for i := range phrases {
		if c := &phrases[i]; strings.Contains(said, " "+c.phrase+" ") {
			if c.match.key == nextKey {
				return c.match
			}
			said = strings.ReplaceAll(said, " "+c.phrase+" ", "  ")
		}
	}
	return best
}

// checkOffer validates an offer node.
func (v *validation) checkOffer(at string, n *domain.Node) {
	switch {
	case n.List == "":
		v.addProblem(at+".list", "is required for an offer node: a variable that holds a list, or a field of a result such as times.free")
	case !listPath.MatchString(n.List) || utf8.RuneCountInString(n.List) > maxName:
		v.addProblem(at+".list", "%q is no name of a variable or of a field of a result; write it like times.free", n.List)
	case n.SaveAs != "" && n.SaveAs == variableOf(n.List):
		v.addProblem(at+".save_as", "%q holds the list; use another name for the chosen item", n.SaveAs)
	}
	if strings.TrimSpace(n.Prompt) == "" {
		v.addProblem(at+".prompt", "is required for an offer node: it names the item, as in {{%s}}", itemVariable)
	}
	if n.Length != 0 || len(n.Values) > 0 {
		v.addProblem(at, "length and values are for collect nodes; an offer takes the keys %s, %s and %s", takeKey, nextKey, repeatKey)
	}
	v.checkAnswer(at, n)
}

// checkOfferEdges adds problems for edges of an offer node that its own keys and words hide, and for a missing edge for
// the chosen item.
func (v *validation) checkOfferEdges(at string, n *domain.Node) {
	leaves := false
	for i := range v.p.Edges {
		e := &v.p.Edges[i]
		if e.From != n.ID {
			continue
		}
		param := "edges[" + strconv.Itoa(i) + "].when"
		switch w := &e.When; {
		case w.Type == domain.EdgeAlways || w.Type == domain.EdgeExpr:
			leaves = true
		case w.Type == domain.EdgeDTMF && slices.Contains([]string{takeKey, nextKey, repeatKey}, w.Digits):
			v.addProblem(param+".digits", "%q is a key of the offer %q itself; use always for the chosen item and else for none", w.Digits, n.ID)
		case w.Type == domain.EdgeIntent && len(w.Words) == 0 && slices.Contains([]string{"yes", "confirm", "no", "decline", "repeat"}, strings.ToLower(strings.TrimSpace(w.Intent))):
			v.addProblem(param+".intent", "the offer %q hears %q itself; use always for the chosen item and else for none", n.ID, w.Intent)
		}
	}
	if !leaves {
		v.addProblem(at, "node %q offers, but no edge of type always or expr leads on with the chosen item", n.ID)
	}
}
