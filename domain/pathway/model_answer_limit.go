package pathway

import (
	"github.com/callboard/callboard/domain"
)

// reasonTooManyTurns is End.Reason after more answers of the model than the agent or the node allows.
const reasonTooManyTurns = "too_many_turns"

// countModelAnswer counts an answer of the model. It returns false if the agent or the node allows no more answers, after which
// the node is left or the agent says goodbye.
func (w *stepper) countModelAnswer(n *domain.Node) bool {
	t := &w.s.exchange
	t.turns++
	w.s.answers++
	switch {
	case w.s.answers > w.s.graph.maxAnswers:
		w.abandonAnswer()
		w.sayGoodbye(phrasesFor(w.s.language).limit, reasonTooManyTurns)
	case n.MaxTurns > 0 && t.turns > n.MaxTurns:
		w.leaveFailedNode(reasonTooManyTurns)
	default:
		return true
	}
	return false
}
