package pathway

import (
	"slices"

	"github.com/callboard/callboard/domain"
)

// leaveNode leaves a finished node by the edge for the entered keys, or by another edge. keyed may be empty.
func (w *stepper) leaveNode(keyed string) {
	if to, ok := w.findKeyEdge(keyed); ok {
		w.enterNode(to)
		return
	}
	w.followEdge([]domain.EdgeType{domain.EdgeExpr, domain.EdgeAlways, domain.EdgeElse}, w.s.node)
}

// followEdge follows the edge that findEdge returns. Without such an edge the conversation ends.
func (w *stepper) followEdge(order []domain.EdgeType, places ...string) {
	if to, ok := w.findEdge(order, places...); ok {
		w.enterNode(to)
		return
	}
	w.endConversation("", "", "")
}

// findEdge returns the target of an edge that starts at one of the places and has one of the types in order. All types are
// tried for the first place, then for the next place.
func (w *stepper) findEdge(order []domain.EdgeType, places ...string) (to string, ok bool) {
	for _, from := range places {
		for _, t := range order {
			for _, e := range w.s.graph.edges[from] {
				if e.When.Type == t && (from != anyNode || e.To != w.s.node) && (t != domain.EdgeExpr || w.isEdgeMet(&e)) {
					return e.To, true
				}
			}
		}
	}
	return "", false
}

// anyNode is the value of Edge.From for edges that start at every node.
const anyNode = "*"

func (w *stepper) findKeyEdge(keyed string) (to string, ok bool) {
	if keyed == "" {
		return "", false
	}
	if to, ok = w.findKeyEdgeFrom(w.s.node, keyed); ok {
		return to, true
	}
	return w.findKeyEdgeFrom(anyNode, keyed)
}

func (w *stepper) findKeyEdgeFrom(place, keyed string) (to string, ok bool) {
	for _, e := range w.s.graph.edges[place] {
		if e.When.Type == domain.EdgeDTMF && e.When.Digits == keyed {
			return e.To, true
		}
	}
	return "", false
}

func (w *stepper) hasKeyEdges() bool {
	return slices.ContainsFunc(w.s.graph.edges[w.s.node], func(e domain.Edge) bool { return e.When.Type == domain.EdgeDTMF })
}
