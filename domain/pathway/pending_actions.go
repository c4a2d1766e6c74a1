package pathway

import (
	"slices"

	"github.com/callboard/callboard/domain"
)

// An action takes time. Meanwhile the caller may speak, the call may be transferred, or the realtime engine may fail.
// The functions in this file ensure that an action runs once and that its result enters the history.

// pendingResult is the tool result in the history if the conversation left the node while the action was pending.
const pendingResult = "(It is being done, and what came of it is not known yet. Do not ask for it again.)"

// hasHeldInput reports whether a key or words that the caller entered during an action match an edge.
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

// applyHeldInput follows the edge for a key or words that the caller entered during an action. It returns false if no
// edge matches.
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

// awaitActions waits for the results of pending actions after the realtime engine failed, and speaks a filler phrase.
func (w *stepper) awaitActions() {
	t := &w.s.exchange
	w.s.phase = thinking
	w.s.exchange = modelConversation{turns: t.turns, followUp: t.followUp, pendingActions: t.pendingActions, needsAnswer: t.followUp.kind == followUpListen}
	w.speakFiller()
}

// speakFiller speaks a filler phrase, such as "one moment", during a delay.
func (w *stepper) speakFiller() {
	t := &w.s.exchange
	t.fillerSpoken, t.speaking, t.speakingFiller = true, true, true
	text := phrasesFor(w.s.language).moment
	w.emit(Say{Node: w.s.node, Text: text, Shown: text, Interruptible: w.s.interruptible})
}

// handlePromptCut discards the sentences of the model's answer that were not played when the playback was interrupted.
// The history keeps the part that was played.
func (w *stepper) handlePromptCut() {
	if t := &w.s.exchange; w.s.phase == thinking {
		w.recordHeardAnswer()
		t.speaking, t.speakingFiller, t.queue = false, false, nil
	}
}

// recordAbandonedActions records pendingResult for each pending action when the conversation leaves the node.
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

// recordResult inserts the result of a tool call into the history, directly after the message with the call.
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

// recordLateResult replaces pendingResult in the history when the result of an action arrives after its node was left.
// It also sends the result to a running realtime engine.
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
