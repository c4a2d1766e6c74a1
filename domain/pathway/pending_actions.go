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
const pendingResult = "(It is being done, and what came of it is not known yet. Do not ask for it again.)"

// hasHeldInput reports whether a key or words came while something was being done that an
// edge is for.
func (w *stepper) hasHeldInput(n *domain.Node) bool {
	if _, ok := w.findKeyEdge(w.s.bufferedKeys); ok {
		return true
	}
	said := w.s.bufferedSpeech
	if said.Text == "" || said.Confidence < AcceptConfidence {
		return false
	}
	_, ok := w.s.graph.matchPhrase(n, said.Text)
	return ok
}

// applyHeldInput takes that edge.
func (w *stepper) applyHeldInput(n *domain.Node) bool {
	if !w.hasHeldInput(n) {
		return false
	}
	if to, ok := w.findKeyEdge(w.s.bufferedKeys); ok {
		w.s.bufferedKeys = ""
		w.enterNode(to)
		return true
	}
	said := w.s.bufferedSpeech
	w.s.bufferedSpeech = Utterance{}
	m, _ := w.s.graph.matchPhrase(n, said.Text)
	w.applyMatch(n, m, said)
	return true
}

// awaitActions goes on once what is being done is done: its result comes to the same
// round. The caller is told to wait.
func (w *stepper) awaitActions() {
	t := &w.s.exchange
	w.s.phase = thinking
	w.s.exchange = exchange{turns: t.turns, followUp: t.followUp, pendingActions: t.pendingActions, needsAnswer: t.followUp.kind == followUpListen}
	w.speakFiller()
}

// speakFiller has a word said into a silence in which something is being thought or
// done.
func (w *stepper) speakFiller() {
	t := &w.s.exchange
	t.fillerSpoken, t.speaking, t.speakingFiller = true, true, true
	text := phrasesFor(w.s.language).moment
	w.emit(Say{Node: w.s.node, Text: text, Shown: text, Interruptible: w.s.interruptible})
}

// silenced: nothing sounds any more of what was being said, and nothing tells of
// its end.
func (w *stepper) handlePromptCut() {
	if t := &w.s.exchange; w.s.phase == thinking {
		w.recordHeardAnswer()
		t.speaking, t.speakingFiller, t.queue = false, false, nil
	}
}

// recordAbandonedActions notes what is still being done where nobody waits for it any more.
func (w *stepper) recordAbandonedActions() {
	for range w.s.exchange.pendingActions {
		id := w.unansweredCall()
		if id == "" {
			return
		}
		w.recordResult(id, pendingResult)
	}
}

// unansweredCall is something that was wanted and has no result in the history.
func (w *stepper) unansweredCall() string {
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

// recordResult keeps a result right behind the message that wanted it, wherever
// the conversation has come to since.
func (w *stepper) recordResult(id, text string) {
	if !w.s.graph.usesModel {
		return
	}
	h := w.s.history
	for i, m := range slices.Backward(h) {
		if !slices.ContainsFunc(m.Calls, func(c ToolCall) bool { return c.ID == id }) {
			continue
		}
		at := i + 1
		for at < len(h) && h[at].By == ByTool && h[at].ID != id {
			at++
		}
		if at < len(h) && h[at].By == ByTool {
			continue // ids are the model's own, and may come again
		}
		if w.s.exchange.historyIndex > at {
			w.s.exchange.historyIndex++
		}
		w.setHistory(slices.Insert(slices.Clone(h), at, Message{By: ByTool, ID: id, Text: truncateText(text)}))
		return
	}
}

// recordLateResult keeps the result of something that nobody waits for any more; an
// engine that has the caller now was told that it is under way.
func (w *stepper) recordLateResult(in ActionEnded) {
	for i, m := range slices.Backward(w.s.history) {
		if m.By == ByTool && m.ID == in.ID && m.Text == pendingResult {
			w.s.history = slices.Clone(w.s.history)
			w.s.history[i].Text = resultText(in)
			if w.s.phase == inRealtime {
				w.emit(SendToolResult{ID: in.ID, Text: resultText(in)})
			}
			return
		}
	}
}
