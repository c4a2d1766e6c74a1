package pathway

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/wordlists"
)

// sayGoodbye speaks a goodbye and ends the conversation afterwards with the reason why. If why is "", the caller's words or
// keys during the goodbye continue the conversation.
func (w *stepper) sayGoodbye(text, why string) {
	w.s.phase = thinking
	w.s.exchange.followUp = followUp{kind: followUpEnd, reason: why}
	w.queueSentence(text)
}

// leaveSilentNode leaves a node whose caller is silent by an edge of one of the types, in their order. Without such an edge
// the agent says goodbye.
func (w *stepper) leaveSilentNode(order ...domain.EdgeType) {
	if to, ok := w.findEdge(order, w.s.node, anyNode); ok {
		w.enterNode(to)
		return
	}
	w.sayGoodbyeToSilentCaller()
}

// sayGoodbyeToSilentCaller says goodbye to a caller who does not answer. Nothing else is being spoken.
func (w *stepper) sayGoodbyeToSilentCaller() {
	w.s.exchange = modelConversation{turns: w.s.exchange.turns}
	w.s.interruptible = true
	w.sayGoodbye(phrasesFor(w.s.language).silent, "")
}

// handleSilenceLimit says goodbye to a caller who has been silent for as long as the agent allows.
func (w *stepper) handleSilenceLimit() {
	switch w.s.phase {
	case fresh, transferring, ended:
		w.endConversation("", "", "")
		return
	case ending:
		return
	case speaking, collecting, confirming, sending, thinking, listening, acting, inRealtime:
	}
	w.abandonAnswer()
	w.sayGoodbyeToSilentCaller()
}

// isGoodbye reports whether the agent says goodbye to a caller who may still continue the conversation.
func (s State) isGoodbye() bool {
	t := &s.exchange
	return s.phase == thinking && t.followUp.kind == followUpEnd && t.followUp.reason == "" && t.pendingActions == 0 && !t.choosing
}

// EndsAfterPrompt reports whether the conversation ends when the text being spoken has ended.
func (s State) EndsAfterPrompt() bool {
	return s.phase == ending || s.isGoodbye() && !s.exchange.awaitsAnswer && len(s.exchange.queue) == 0
}

// continueAfterGoodbye continues the conversation by the caller's words during a goodbye. It returns false for words that
// only return the goodbye.
func (w *stepper) continueAfterGoodbye(n *domain.Node, in Utterance) bool {
	_, expected := w.s.graph.matchPhrase(n, in.Text)
	if in.Confidence < ConfirmConfidence || !expected && wordlists.OnlyReturnsGoodbye(in.Text, w.s.language) {
		return false
	}
	w.cancelAnswer()
	w.s.tries = 0
	if isQuestion(n) {
		w.s.phase = collecting
		w.evaluateSpeech(n, in)
		return true
	}
	if w.s.realtime {
		w.s.bufferedSpeech = in
		w.startRealtime(n)
		return true
	}
	w.s.phase = listening
	w.handleConversationSpeech(n, in)
	return true
}

// handleKeyDuringGoodbye continues the conversation at a question or with a realtime engine by a key that the caller presses
// during a goodbye. It returns false in a conversation with a language model.
func (w *stepper) handleKeyDuringGoodbye(n *domain.Node, key byte) bool {
	switch {
	case isQuestion(n):
		w.cancelAnswer()
		w.s.tries, w.s.enteredKeys, w.s.phase = 0, "", collecting
		if !w.addKey(n, key) {
			w.waitForKeys(n)
		}
		return true
	case w.s.realtime:
		w.cancelAnswer()
		w.s.bufferedKeys = string(key)
		w.startRealtime(n)
		return true
	}
	return false
}

// handleWordsDuringLastPrompt follows an edge from any node for the caller's words during the prompt of an end node.
func (w *stepper) handleWordsDuringLastPrompt(n *domain.Node, in Utterance) {
	if m, ok := w.s.graph.matchPhrase(n, in.Text); ok && in.Confidence >= AcceptConfidence && m.to != "" {
		w.stopPrompt()
		w.applyMatch(n, m, in)
	}
}
