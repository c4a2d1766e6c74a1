package pathway

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// keyPause is the time after a key until which a further key belongs to the same input.
const keyPause = 2 * time.Second

// handleKeyInConversation handles a pressed key while the model speaks, prepares an answer or waits for the caller. A key
// with an edge follows the edge. Other keys interrupt the model, which gets them when no further key follows.
func (w *stepper) handleKeyInConversation(n *domain.Node, key byte) {
	t := &w.s.exchange
	isGoodbye := w.s.isGoodbye()
	if isGoodbye && w.handleKeyDuringGoodbye(n, key) {
		return
	}
	if w.s.phase == thinking && (!w.s.interruptible || t.choosing || t.pendingActions > 0 || t.followUp.kind != followUpListen && !isGoodbye) {
		w.bufferKey(key)
		return
	}
	if w.s.phase == thinking {
		w.cancelAnswer()
		w.s.phase = listening
	}
	if key == '#' && w.s.enteredKeys != "" {
		w.submitKeys(n)
		return
	}
	if len(w.s.enteredKeys) < MaxDigits {
		w.s.enteredKeys += string(key)
	}
	w.waitForMoreKeys(n)
}

// waitForMoreKeys follows the edge of the keys that were entered, or waits for the next key.
func (w *stepper) waitForMoreKeys(n *domain.Node) {
	if to, ok := w.findKeyEdge(w.s.enteredKeys); ok {
		w.enterNode(to)
		return
	}
	w.emit(CollectInput{Length: MaxDigits - len(w.s.enteredKeys), Timeout: min(keyPause, speechTimeoutOf(n))})
}

// submitKeys gives the entered keys to the model.
func (w *stepper) submitKeys(n *domain.Node) {
	w.addKeysToHistory()
	w.requestModel(n)
}

func (w *stepper) addKeysToHistory() {
	w.s.tries = 0
	w.addToHistory(Message{By: ByCaller, Text: "(The caller pressed the keys " + w.s.enteredKeys + ".)"})
	w.s.enteredKeys = ""
}

// hasKeysForModel reports whether the caller has pressed keys that the model gets at the next Timeout.
func (s State) hasKeysForModel() bool { return s.phase == listening && s.enteredKeys != "" }
