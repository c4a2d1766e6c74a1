package pathway

import (
	"github.com/callboard/callboard/domain"
)

// unheard: the caller is silent. The model says something to that, until it
// was silent too often.
func (w *walk) unheard(n *domain.Node) {
	if !w.tooSilent(n) {
		w.note(Message{By: ByCaller, Text: silent})
		w.think(n)
	}
}

// tooSilent leaves a node whose caller was silent too often.
func (w *walk) tooSilent(n *domain.Node) bool {
	most := n.Retries
	if most == 0 {
		most = defaultAskings
	}
	if w.s.tries++; w.s.tries <= most {
		return false
	}
	w.leave([]domain.EdgeType{domain.EdgeTimeout, domain.EdgeElse, domain.EdgeAlways}, n.ID, anywhere)
	return true
}

// Reasons of an End whose agent was of no use.
const (
	AgentUnavailable = "agent_unavailable" // it could not speak or hear
	ModelFailed      = "model_failed"
	RealtimeFailed   = "realtime_failed"
)

// IsUnable says whether an End has its reason in an agent that was of no use.
func (e End) IsUnable() bool {
	return e.Reason == AgentUnavailable || e.Reason == ModelFailed || e.Reason == RealtimeFailed
}

// speechless: there is no answer, by no engine. The caller hears that, and may
// try again; then the node is left.
func (w *walk) speechless(n *domain.Node) {
	t := &w.s.talk
	t.failed++
	if w.hasEdge(n.ID, domain.EdgeFailure) {
		w.leave([]domain.EdgeType{domain.EdgeFailure}, n.ID)
		return
	}
	if t.failed > 1 {
		w.giveUp(ModelFailed)
		return
	}
	w.utter(phraseOf(w.s.language).again)
}

// giveUp leaves a node whose model is of no use, with a word where no edge is
// for that.
func (w *walk) giveUp(why string) {
	t := &w.s.talk
	if t.waits {
		w.tell(Forget{})
	}
	w.abandon()
	t.waits, t.again, t.acting = false, false, 0
	w.s.round++
	for _, e := range []domain.EdgeType{domain.EdgeFailure, domain.EdgeElse, domain.EdgeTimeout} {
		if w.hasEdge(w.s.node, e) || e != domain.EdgeFailure && w.hasEdge(anywhere, e) {
			if t.saying {
				w.tell(Hush{})
			}
			w.leave([]domain.EdgeType{e}, w.s.node, anywhere)
			return
		}
	}
	w.sayGoodbye(why)
}

// unable ends the conversation of an agent that cannot speak or hear any more.
func (w *walk) unable(why string) {
	t := &w.s.talk
	if t.waits {
		w.tell(Forget{})
	}
	w.abandon()
	t.waits, t.again, t.acting = false, false, 0
	w.s.round++
	w.sayGoodbye(why)
}

// sayGoodbye ends the conversation once the caller has been told that nothing
// can be done for them.
func (w *walk) sayGoodbye(why string) {
	w.s.phase = thinking
	w.s.talk.then = then{kind: thenEnd, reason: why}
	w.utter(phraseOf(w.s.language).goodbye)
}

func (w *walk) hasEdge(from string, t domain.EdgeType) bool {
	for _, e := range w.s.plan.edges[from] {
		if e.When.Type == t {
			return true
		}
	}
	return false
}

// slow fills a silence in which something is being thought or done.
func (w *walk) slow(in Slow) {
	t := &w.s.talk
	if in.Round != w.s.round || t.filled || t.saying || t.choosing {
		return
	}
	if w.s.phase == thinking && (t.waits || t.acting > 0) {
		w.fill()
	}
}
