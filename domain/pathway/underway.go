package pathway

import (
	"slices"

	"github.com/callboard/callboard/domain"
)

// What is being done takes its time. Meanwhile the caller speaks and presses
// keys, somebody else may have him, and the engine that wanted it may be gone:
// what came of it is known nevertheless, and it is done once.

// underway stands in a history for the result of something that is still being
// done where its node was left.
const underway = "(It is being done, and what came of it is not known yet. Do not ask for it again.)"

// holds says whether a key or words came while something was being done that an
// edge is for.
func (w *walk) holds(n *domain.Node) bool {
	if _, ok := w.keyEdge(w.s.ahead); ok {
		return true
	}
	said := w.s.said
	if said.Text == "" || said.Confidence < Sure {
		return false
	}
	_, ok := w.s.plan.understand(n, said.Text)
	return ok
}

// held takes that edge.
func (w *walk) held(n *domain.Node) bool {
	if !w.holds(n) {
		return false
	}
	if to, ok := w.keyEdge(w.s.ahead); ok {
		w.s.ahead = ""
		w.enter(to)
		return true
	}
	said := w.s.said
	w.s.said = Spoken{}
	m, _ := w.s.plan.understand(n, said.Text)
	w.take(n, m, said)
	return true
}

// await goes on once what is being done is done: its result comes to the same
// round. The caller is told to wait.
func (w *walk) await() {
	t := &w.s.talk
	w.s.phase = thinking
	w.s.talk = talk{turns: t.turns, then: t.then, acting: t.acting, again: t.then.kind == thenListen}
	w.fill()
}

// fill has a word said into a silence in which something is being thought or
// done.
func (w *walk) fill() {
	t := &w.s.talk
	t.filled, t.saying, t.fills = true, true, true
	text := phraseOf(w.s.language).moment
	w.tell(Say{Node: w.s.node, Text: text, Shown: text, Interruptible: w.s.reply})
}

// silenced: nothing sounds any more of what was being said, and nothing tells of
// its end.
func (w *walk) silenced() {
	if t := &w.s.talk; w.s.phase == thinking {
		w.noteHeard()
		t.saying, t.fills, t.queue = false, false, nil
	}
}

// abandon notes what is still being done where nobody waits for it any more.
func (w *walk) abandon() {
	for range w.s.talk.acting {
		id := w.unanswered()
		if id == "" {
			return
		}
		w.noteResult(id, underway)
	}
}

// unanswered is something that was wanted and has no result in the history.
func (w *walk) unanswered() string {
	answered := make(map[string]bool)
	for _, m := range slices.Backward(w.s.history) {
		if m.By == ByTool {
			answered[m.ID] = true
		}
		for _, c := range m.Calls {
			if !answered[c.ID] {
				return c.ID
			}
		}
	}
	return ""
}

// noteResult keeps a result right behind the message that wanted it, wherever
// the conversation has come to since.
func (w *walk) noteResult(id, text string) {
	if !w.s.plan.thinks {
		return
	}
	h := w.s.history
	for i, m := range slices.Backward(h) {
		if !slices.ContainsFunc(m.Calls, func(c Called) bool { return c.ID == id }) {
			continue
		}
		at := i + 1
		for at < len(h) && h[at].By == ByTool && h[at].ID != id {
			at++
		}
		if at < len(h) && h[at].By == ByTool {
			continue // ids are the model's own, and may come again
		}
		if w.s.talk.noted > at {
			w.s.talk.noted++
		}
		w.keepHistory(slices.Insert(slices.Clone(h), at, Message{By: ByTool, ID: id, Text: cut(text)}))
		return
	}
}

// noteLate keeps the result of something that nobody waits for any more; an
// engine that has the caller now was told that it is under way.
func (w *walk) noteLate(in Acted) {
	for i, m := range slices.Backward(w.s.history) {
		if m.By == ByTool && m.ID == in.ID && m.Text == underway {
			w.s.history = slices.Clone(w.s.history)
			w.s.history[i].Text = resultOf(in)
			if w.s.phase == living {
				w.tell(Told{ID: in.ID, Text: resultOf(in)})
			}
			return
		}
	}
}
