package pathway

import (
	"strings"

	"github.com/callboard/callboard/domain"
)

// unreached is the input that the model gets after a transfer that failed.
const transferFailedText = "(Nobody could be reached; the caller is back.)"

// MaxSummary is the maximum length of the summary that the target of a transfer
// hears, in characters.
const MaxSummary = 2000

// startTransfer transfers the caller to the destination of a node.
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

// handleTransferEnded goes on with a caller who is back, or who never left.
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
		w.s.nodesSinceInput = 0 // it took somebody's time: no circle
		order = []domain.EdgeType{domain.EdgeExpr, domain.EdgeSuccess, domain.EdgeAlways}
	}
	w.followEdge(order, w.s.node)
}

// resumeNode begins the node that stands anew, without what it sets.
func (w *stepper) resumeNode() {
	n := w.s.graph.nodes[w.s.node]
	switch w.s.phase {
	case speaking, collecting, confirming:
		w.s.enteredKeys = ""
		if n.Type == domain.NodeCollect {
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
		if w.s.exchange.followUp.kind != followUpListen { // all was said but the last of it
			w.runFollowUp(n)
			return
		}
		choosing := w.s.exchange.choosing
		w.s.exchange = exchange{turns: w.s.exchange.turns}
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
	case fresh, acting, ended: // what is being done tells when it is done
	}
}
