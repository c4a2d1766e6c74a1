package pathway

import (
	"strings"

	"github.com/callboard/callboard/domain"
)

// transferFailedText is the message to the model after a failed transfer.
const transferFailedText = "(The transfer failed; the caller is back.)"

// MaxSummary is the maximum length of the summary for the transfer target, in characters.
const MaxSummary = 2000

// startTransfer requests the transfer of the caller to the destination of a transfer node.
func (w *stepper) startTransfer(n *domain.Node) {
	for _, text := range []string{n.Destination, n.Summary} {
		_, missing := FillPlaceholders(text, w.s.values)
		for _, name := range missing {
			w.emit(MissingVariable{Node: n.ID, Name: name})
		}
	}
	to, _ := FillPlaceholders(n.Destination, w.s.values)
	summary, _ := FillPlaceholders(n.Summary, w.s.values)
	_, hidden := w.s.shownText(n.Summary)
	mode := n.Mode
	if mode == "" {
		mode = domain.TransferBridge
	}
	w.s.phase = transferring
	if to = strings.TrimSpace(to); to == "" {
		w.handleTransferEnded(false)
		return
	}
	w.emit(Transfer{Node: n.ID, Destination: to, Mode: mode, Summary: strings.TrimSpace(summary), Sensitive: hidden})
}

// handleTransferEnded continues the conversation with a caller who has returned or could not be transferred.
func (w *stepper) handleTransferEnded(ok bool) {
	if n := w.s.graph.nodes[w.s.node]; !ok && n.Type == domain.NodeConverse && !w.hasEdge(n.ID, domain.EdgeFailure) {
		w.s.nodesSinceInput = 0
		w.addToHistory(Message{By: ByCaller, Text: transferFailedText})
		if w.s.realtime {
			w.startRealtime(n)
			return
		}
		w.requestModel(n)
		return
	}
	order := []domain.EdgeType{domain.EdgeFailure, domain.EdgeElse, domain.EdgeAlways}
	if ok {
		w.s.nodesSinceInput = 0 // time has passed, so this is no loop
		order = []domain.EdgeType{domain.EdgeExpr, domain.EdgeSuccess, domain.EdgeAlways}
	}
	w.followEdge(order, w.s.node)
}

// resumeNode restarts the current node without applying its assignments again.
func (w *stepper) resumeNode() {
	n := w.s.graph.nodes[w.s.node]
	switch w.s.phase {
	case speaking, collecting, confirming:
		w.s.enteredKeys = ""
		if isQuestion(n) {
			w.s.bufferedKeys = ""
		}
		w.speakPrompt(n, speaking)
	case sending:
		w.leaveNode("")
	case ending:
		w.speakPrompt(n, ending)
	case transferring:
		w.handleTransferEnded(false)
	case listening:
		w.waitForSpeech(n)
	case thinking:
		if w.s.exchange.pendingActions > 0 {
			w.awaitActions()
			return
		}
		if w.s.exchange.followUp.kind != followUpListen { // all but the last sentence was spoken
			w.runFollowUp(n)
			return
		}
		choosing := w.s.exchange.choosing
		w.s.exchange = modelConversation{turns: w.s.exchange.turns}
		if choosing {
			w.speakPrompt(n, speaking)
			return
		}
		w.requestModel(n)
	case inRealtime:
		if w.s.exchange.pendingActions > 0 {
			w.awaitActions()
			return
		}
		if w.s.exchange.followUp.kind != followUpListen {
			w.runFollowUp(n)
			return
		}
		w.startConversing(n)
	case fresh, acting, ended: // the end of a pending action continues the conversation
	}
}
