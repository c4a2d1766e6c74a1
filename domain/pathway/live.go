package pathway

import (
	"maps"

	"github.com/callboard/callboard/domain"
)

// Where an engine hears and speaks by itself, a converse node is its: the
// pathway hears what was said, does what the engine wants and the node offers,
// and takes the word back where the node is left.

// The inputs that come of such an engine.
type (
	// Overheard are words that were said, by ByCaller or ByAgent.
	Overheard struct {
		Round int
		By    string
		Text  string
	}
	// Wanted is what the engine wants done, at the end of each of its answers.
	Wanted struct {
		Round int
		Calls []Called
	}
	// Rested says that the engine's answer was heard to its end, and that it
	// makes no other one.
	Rested struct{ Round int }
	// Left says that the engine has no more to do with the caller.
	Left struct{ Round int }
	// Broke says that the engine is gone. Instead: a model, a voice and ears are
	// there that can go on in its place.
	Broke struct {
		Round   int
		Instead bool
	}
)

func (Overheard) input() {}
func (Wanted) input()    {}
func (Rested) input()    {}
func (Broke) input()     {}
func (Left) input()      {}

// What a step asks of such an engine.
type (
	// Live hands the caller to the engine, with all that a Think tells. Speak:
	// it has the word. Interruptible: words cut what it says. Known are the
	// variables, as a record may show them.
	Live struct {
		Think
		Known         map[string]string
		Speak         bool
		Interruptible bool
	}
	// Told is the result of something that it wanted.
	Told struct{ ID, Text string }
	// Answer asks it for its next answer, Text ("": none) being told before.
	Answer struct{ Text string }
)

func (Live) do()   {}
func (Told) do()   {}
func (Answer) do() {}

// Lively says whether an engine hears and speaks by itself at converse nodes.
func (s State) Lively(on bool) State {
	s.live = on
	return s
}

// Lives says whether one does now, and by which round.
func (s State) Lives() (round int, lives bool) { return s.round, s.phase == living }

// enliven enters a node at which an engine hears and speaks by itself.
func (w *walk) enliven(n *domain.Node) {
	said := w.s.said
	w.s.said = Spoken{}
	if to, ok := w.keyEdge(w.s.ahead); ok {
		w.s.ahead = ""
		w.enter(to)
		return
	}
	w.s.ahead = ""
	if said.Text != "" {
		w.note(Message{By: ByCaller, Text: said.Text})
	}
	w.s.phase = living
	w.s.round++
	w.s.talk = talk{}
	w.s.reply = n.Interruptible == nil || *n.Interruptible
	last := len(w.s.history) - 1
	prompt, _ := w.s.shownText(n.Prompt)
	w.tell(Live{
		Think: Think{Round: w.s.round, Node: n.ID, Prompt: prompt, History: w.s.history, Offers: w.s.plan.offers(n), Bases: n.KnowledgeBaseIDs},
		Known: maps.Clone(w.s.shown),
		Speak: last < 0 || w.s.history[last].By != ByAgent || len(w.s.history[last].Calls) > 0, Interruptible: w.s.reply,
	})
}

// lives says whether an input is of the engine that has the caller.
func (w *walk) lives(round int) bool { return w.s.phase == living && round == w.s.round }

// overheard keeps what was said. Edges that code decides come first, though the
// engine may have begun to answer.
func (w *walk) overheard(in Overheard) {
	if !w.lives(in.Round) || in.Text == "" {
		return
	}
	if in.By == ByCaller {
		w.s.idle, w.s.tries, w.s.talk.acts = 0, 0, 0
		n := w.s.plan.nodes[w.s.node]
		if m, ok := w.s.plan.understand(n, in.Text); ok && w.s.talk.then.kind == thenListen {
			said := Spoken{Text: in.Text, Confidence: byModel}
			if w.s.talk.acting > 0 {
				w.s.said = said // it leads on once that is done
				return
			}
			w.take(n, m, said)
			return
		}
	}
	w.note(Message{By: in.By, Text: in.Text})
}

// wanted does what the engine wants, where the node offers it.
func (w *walk) wanted(in Wanted) {
	if !w.lives(in.Round) {
		return
	}
	t, n := &w.s.talk, w.s.plan.nodes[w.s.node]
	if t.turns++; t.turns > turnsOf(n) {
		w.giveUp("too_many_turns")
		return
	}
	if len(in.Calls) == 0 {
		return
	}
	w.note(Message{By: ByAgent, Calls: in.Calls})
	for i := range in.Calls {
		w.called(n, &in.Calls[i])
	}
	t.again = t.then.kind == thenListen
	if t.acts++; t.acts > maxActRounds {
		w.giveUp("too_many_actions")
		return
	}
	w.settled()
}

// settled goes on once nothing is being done any more: what is to follow waits
// for the end of what is being said.
func (w *walk) settled() {
	t := &w.s.talk
	switch {
	case t.acting > 0:
	case w.held(w.s.plan.nodes[w.s.node]):
	case t.then.kind != thenListen:
		if t.rested {
			w.next(w.s.plan.nodes[w.s.node])
		}
	case t.again:
		t.again, t.rested = false, false
		w.tell(Answer{})
	}
}

// rested: nobody speaks.
func (w *walk) rested(in Rested) {
	if !w.lives(in.Round) {
		return
	}
	t, n := &w.s.talk, w.s.plan.nodes[w.s.node]
	t.rested = true
	switch {
	case t.acting > 0 || t.again:
	case t.then.kind != thenListen:
		w.next(n)
	default:
		w.tell(Collect{Length: lengthOf(n), Timeout: patienceOf(n)})
	}
}

// left: the engine is done with the caller, who hears it to its end.
func (w *walk) left(in Left) {
	if !w.lives(in.Round) {
		return
	}
	if t := &w.s.talk; t.then.kind == thenListen {
		t.then = then{kind: thenLeave}
		t.again = false
	}
}

// hushed: the caller is silent, and the engine says something to that, until he
// was silent too often.
func (w *walk) hushed(n *domain.Node) {
	if w.tooSilent(n) {
		return
	}
	w.s.talk.rested = false
	w.tell(Answer{Text: silent})
}

// livelyKey takes a key where an engine has the caller: what no edge is for
// goes unheard, and what is being done is waited for.
func (w *walk) livelyKey(key byte) {
	to, ok := w.keyEdge(string(key))
	switch {
	case !ok:
	case w.s.talk.acting > 0:
		w.s.ahead = string(key)
	default:
		w.enter(to)
	}
}

// broke goes on without the engine. What is being done for it goes on too, and
// the others go on by its result: nothing is done twice.
func (w *walk) broke(in Broke) {
	if !w.lives(in.Round) {
		return
	}
	t, n := &w.s.talk, w.s.plan.nodes[w.s.node]
	w.s.live = false
	if t.then.kind == thenListen && !in.Instead {
		t.then = then{kind: thenLost}
	}
	if t.turns = 0; t.acting > 0 {
		w.await()
		return
	}
	w.s.round++
	w.s.phase = thinking
	w.s.talk = talk{then: t.then}
	if t.then.kind != thenListen {
		w.next(n)
		return
	}
	w.think(n)
}

// CutShort is how words stand in a history that somebody spoke over.
func CutShort(text string) string { return text + interruption }
