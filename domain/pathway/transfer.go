package pathway

import (
	"strings"

	"github.com/callboard/callboard/domain"
)

// unreached is the input that the model gets after a transfer that failed.
const unreached = "(Nobody could be reached; the caller is back.)"

// MaxSummary is the maximum length of the summary that the target of a transfer
// hears, in characters.
const MaxSummary = 2000

// transfer transfers the caller to the destination of a node.
func (w *walk) transfer(n *domain.Node) {
	for _, text := range []string{n.Destination, n.Summary} {
		_, missing := Fill(text, w.s.values)
		for _, name := range missing {
			w.tell(Missing{Node: n.ID, Name: name})
		}
	}
	to, _ := Fill(n.Destination, w.s.values)
	summary, _ := Fill(n.Summary, w.s.values)
	_, hidden := w.s.shownText(n.Summary)
	mode := n.Mode
	if mode == "" {
		mode = domain.TransferBridge
	}
	w.s.phase = handing
	if to = strings.TrimSpace(to); to == "" {
		w.transferred(false)
		return
	}
	w.tell(Transfer{Node: n.ID, Destination: to, Mode: mode, Summary: strings.TrimSpace(summary), Sensitive: hidden})
}

// transferred goes on with a caller who is back, or who never left.
func (w *walk) transferred(ok bool) {
	if n := w.s.plan.nodes[w.s.node]; !ok && n.Type == domain.NodeConverse && !w.hasEdge(n.ID, domain.EdgeFailure) {
		w.s.idle = 0
		w.note(Message{By: ByCaller, Text: unreached})
		if w.s.live {
			w.enliven(n)
			return
		}
		w.think(n)
		return
	}
	order := []domain.EdgeType{domain.EdgeFailure, domain.EdgeElse, domain.EdgeAlways}
	if ok {
		w.s.idle = 0 // it took somebody's time: no circle
		order = []domain.EdgeType{domain.EdgeExpr, domain.EdgeSuccess, domain.EdgeAlways}
	}
	w.leave(order, w.s.node)
}

// resume begins the node that stands anew, without what it sets.
func (w *walk) resume() {
	n := w.s.plan.nodes[w.s.node]
	switch w.s.phase {
	case speaking, collecting, confirming:
		w.s.keyed = ""
		if n.Type == domain.NodeCollect {
			w.s.ahead = ""
		}
		w.say(n, speaking)
	case sending:
		w.onward("")
	case ending:
		w.say(n, ending)
	case handing:
		w.transferred(false)
	case listening:
		w.listen(n)
	case thinking:
		if w.s.talk.acting > 0 {
			w.await()
			return
		}
		if w.s.talk.then.kind != thenListen { // all was said but the last of it
			w.next(n)
			return
		}
		choosing := w.s.talk.choosing
		w.s.talk = talk{turns: w.s.talk.turns}
		if choosing {
			w.say(n, speaking)
			return
		}
		w.think(n)
	case living:
		if w.s.talk.acting > 0 {
			w.await()
			return
		}
		if w.s.talk.then.kind != thenListen {
			w.next(n)
			return
		}
		w.converse(n)
	case fresh, acting, ended: // what is being done tells when it is done
	}
}
