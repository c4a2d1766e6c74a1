package pathway

import (
	"github.com/callboard/callboard/domain"
)

// handleSilence requests an answer of the model to the caller's silence, or leaves the node after too many silences.
func (w *stepper) handleSilence(n *domain.Node) {
	if !w.leaveAfterSilence(n) {
		w.addToHistory(Message{By: ByCaller, Text: silenceText})
		w.requestModel(n)
	}
}

// leaveAfterSilence counts a silence of the caller. If the caller was silent more often than the node allows, it
// leaves the node and returns true.
func (w *stepper) leaveAfterSilence(n *domain.Node) bool {
	most := n.Retries
	if most == 0 {
		most = defaultSilenceRetries
	}
	if w.s.tries++; w.s.tries <= most {
		return false
	}
	w.leaveSilentNode(domain.EdgeTimeout, domain.EdgeElse, domain.EdgeAlways)
	return true
}

// The values of End.Reason after a failure of the agent.
const (
	ReasonAgentUnavailable = "agent_unavailable" // a speech engine failed
	ReasonModelFailed      = "model_failed"
	ReasonRealtimeFailed   = "realtime_failed"
)

// IsAgentFailure reports whether the conversation ended because of a failure of the agent.
func (e End) IsAgentFailure() bool {
	return e.Reason == ReasonAgentUnavailable || e.Reason == ReasonModelFailed || e.Reason == ReasonRealtimeFailed
}

// handleNoAnswer handles a model request that failed or returned nothing. It follows a failure edge if the node has
// one. Otherwise it asks the caller to repeat, and leaves the node after the second failure.
func (w *stepper) handleNoAnswer(n *domain.Node) {
	t := &w.s.exchange
	t.failed++
	if w.hasEdge(n.ID, domain.EdgeFailure) {
		w.followEdge([]domain.EdgeType{domain.EdgeFailure}, n.ID)
		return
	}
	if t.failed > 1 {
		w.leaveFailedNode(ReasonModelFailed)
		return
	}
	w.queueSentence(phrasesFor(w.s.language).again)
}

// leaveFailedNode leaves a node after a failure by a failure, else or timeout edge. Without such an edge the agent
// says goodbye and the conversation ends.
func (w *stepper) leaveFailedNode(why string) {
	t := &w.s.exchange
	w.abandonAnswer()
	for _, e := range []domain.EdgeType{domain.EdgeFailure, domain.EdgeElse, domain.EdgeTimeout} {
		if w.hasEdge(w.s.node, e) || e != domain.EdgeFailure && w.hasEdge(anyNode, e) {
			if t.speaking {
				w.emit(StopSpeaking{})
			}
			t.speaking, t.queue = false, nil
			w.followEdge([]domain.EdgeType{e}, w.s.node, anyNode)
			return
		}
	}
	w.sayGoodbye(phrasesFor(w.s.language).goodbye, why)
}

// handleAgentFailed ends the conversation of an agent that cannot speak or listen.
func (w *stepper) handleAgentFailed(why string) {
	w.abandonAnswer()
	w.sayGoodbye(phrasesFor(w.s.language).goodbye, why)
}

// abandonAnswer cancels the model's answer and no longer waits for actions that are pending.
func (w *stepper) abandonAnswer() {
	t := &w.s.exchange
	if t.awaitsAnswer {
		w.emit(CancelModelRequest{})
	}
	w.recordAbandonedActions()
	t.awaitsAnswer, t.needsAnswer, t.pendingActions = false, false, 0
	w.s.round++
}

func (w *stepper) hasEdge(from string, t domain.EdgeType) bool {
	for _, e := range w.s.graph.edges[from] {
		if e.When.Type == t {
			return true
		}
	}
	return false
}

// handleResponseDelayed speaks a filler phrase when a pending model answer or action takes long.
func (w *stepper) handleResponseDelayed(in ResponseDelayed) {
	t := &w.s.exchange
	if in.Round != w.s.round || t.fillerSpoken || t.speaking || t.choosing {
		return
	}
	if w.s.phase == thinking && (t.awaitsAnswer || t.pendingActions > 0) {
		w.speakFiller()
	}
}
