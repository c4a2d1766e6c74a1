package pathway

import (
	"github.com/callboard/callboard/domain"
)

// handleSilence lets the model react to a silent caller, or leaves the node after too many silences.
func (w *stepper) handleSilence(n *domain.Node) {
	if !w.leaveAfterSilence(n) {
		w.addToHistory(Message{By: ByCaller, Text: silenceText})
		w.requestModel(n)
	}
}

// leaveAfterSilence counts a silence and leaves the node after the last one allowed.
func (w *stepper) leaveAfterSilence(n *domain.Node) bool {
	most := n.Retries
	if most == 0 {
		most = defaultSilenceRetries
	}
	if w.s.tries++; w.s.tries <= most {
		return false
	}
	w.followEdge([]domain.EdgeType{domain.EdgeTimeout, domain.EdgeElse, domain.EdgeAlways}, n.ID, anywhere)
	return true
}

// Reasons of an End after a failure of the agent.
const (
	ReasonAgentUnavailable = "agent_unavailable" // a speech engine failed
	ReasonModelFailed      = "model_failed"
	ReasonRealtimeFailed   = "realtime_failed"
)

// IsAgentFailure reports whether the conversation ended because of a failure of the agent.
func (e End) IsAgentFailure() bool {
	return e.Reason == ReasonAgentUnavailable || e.Reason == ReasonModelFailed || e.Reason == ReasonRealtimeFailed
}

// handleNoAnswer handles a missing answer of the model. The first time the caller is asked to repeat, and then the
// node is left.
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

// leaveFailedNode leaves a node after a failure, by an edge for failures or with a goodbye.
func (w *stepper) leaveFailedNode(why string) {
	t := &w.s.exchange
	if t.awaitsAnswer {
		w.emit(CancelModelRequest{})
	}
	w.recordAbandonedActions()
	t.awaitsAnswer, t.needsAnswer, t.pendingActions = false, false, 0
	w.s.round++
	for _, e := range []domain.EdgeType{domain.EdgeFailure, domain.EdgeElse, domain.EdgeTimeout} {
		if w.hasEdge(w.s.node, e) || e != domain.EdgeFailure && w.hasEdge(anywhere, e) {
			if t.speaking {
				w.emit(StopSpeaking{})
			}
			w.followEdge([]domain.EdgeType{e}, w.s.node, anywhere)
			return
		}
	}
	w.sayGoodbye(why)
}

// handleAgentFailed ends the conversation of an agent that cannot speak or listen.
func (w *stepper) handleAgentFailed(why string) {
	t := &w.s.exchange
	if t.awaitsAnswer {
		w.emit(CancelModelRequest{})
	}
	w.recordAbandonedActions()
	t.awaitsAnswer, t.needsAnswer, t.pendingActions = false, false, 0
	w.s.round++
	w.sayGoodbye(why)
}

// sayGoodbye speaks a goodbye and ends the conversation.
func (w *stepper) sayGoodbye(why string) {
	w.s.phase = thinking
	w.s.exchange.followUp = followUp{kind: followUpEnd, reason: why}
	w.queueSentence(phrasesFor(w.s.language).goodbye)
}

func (w *stepper) hasEdge(from string, t domain.EdgeType) bool {
	for _, e := range w.s.graph.edges[from] {
		if e.When.Type == t {
			return true
		}
	}
	return false
}

// handleResponseDelayed fills a long silence during a pending answer or action.
func (w *stepper) handleResponseDelayed(in ResponseDelayed) {
	t := &w.s.exchange
	if in.Round != w.s.round || t.fillerSpoken || t.speaking || t.choosing {
		return
	}
	if w.s.phase == thinking && (t.awaitsAnswer || t.pendingActions > 0) {
		w.speakFiller()
	}
}
