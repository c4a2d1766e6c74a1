package pathway

import (
	"slices"

	"github.com/callboard/callboard/domain"
)

// Actions take time. Meanwhile the caller may speak, another party may have the call, or the engine may fail. Each
// action still runs once, and its result is always recorded.

// pendingResult is the result in the history for an action that was pending when its node was left.
const pendingResult = "(It is being done, and what came of it is not known yet. Do not ask for it again.)"

// hasHeldInput reports whether a key or words that arrived during an action match an edge.
func (w *stepper) hasHeldInput(n *domain.Node) bool {
	if _, ok := w.findKeyEdge(w.s.bufferedKeys); ok {
		return true
	}
	words := w.s.bufferedSpeech
	if words.Text == "" || words.Confidence < AcceptConfidence {
		return false
	}
	_, ok := w.s.graph.matchPhrase(n, words.Text)
	return ok
}

// applyHeldInput follows the edge for input that arrived during an action.
func (w *stepper) applyHeldInput(n *domain.Node) bool {
	if !w.hasHeldInput(n) {
		return false
	}
	if to, ok := w.findKeyEdge(w.s.bufferedKeys); ok {
		w.s.bufferedKeys = ""
		w.enterNode(to)
		return true
	}
	words := w.s.bufferedSpeech
	w.s.bufferedSpeech = Utterance{}
	m, _ := w.s.graph.matchPhrase(n, words.Text)
	w.applyMatch(n, m, words)
	return true
}

// awaitActions waits for the results of pending actions and tells the caller to wait.
func (w *stepper) awaitActions() {
	t := &w.s.exchange
	w.s.phase = thinking
	w.s.exchange = exchange{turns: t.turns, followUp: t.followUp, pendingActions: t.pendingActions, needsAnswer: t.followUp.kind == followUpListen}
	w.speakFiller()
}

// speakFiller speaks a filler during a delay.
func (w *stepper) speakFiller() {
	t := &w.s.exchange
	t.fillerSpoken, t.speaking, t.speakingFiller = true, true, true
	text := phrasesFor(w.s.language).moment
	w.emit(Say{Node: w.s.node, Text: text, Shown: text, Interruptible: w.s.interruptible})
}

// handlePromptCut drops the rest of the model's answer after its playback was interrupted, and keeps the part that
// was played in the history.
func (w *stepper) handlePromptCut() {
	if t := &w.s.exchange; w.s.phase == thinking {
		w.recordHeardAnswer()
		t.speaking, t.speakingFiller, t.queue = false, false, nil
	}
}

// recordAbandonedActions records pending actions whose node is left.
func (w *stepper) recordAbandonedActions() {
	for range w.s.exchange.pendingActions {
		id := w.unansweredCall()
		if id == "" {
			return
		}
		w.recordResult(id, pendingResult)
	}
}

// unansweredCall returns the ID of the last tool call without a result in the history, or "".
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

// recordResult inserts the result of a tool call directly after the message with the call.
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
			continue // the model may reuse IDs
		}
		if w.s.exchange.historyIndex > at {
			w.s.exchange.historyIndex++
		}
		w.setHistory(slices.Insert(slices.Clone(h), at, Message{By: ByTool, ID: id, Text: truncateText(text)}))
		return
	}
}

// recordLateResult records a result that arrives after its node was left, and sends it to the running realtime
// engine.
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
