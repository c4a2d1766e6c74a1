package call_test

import "github.com/callboard/callboard/domain"

func newEdge(from, to string, t domain.EdgeType, digits ...string) domain.Edge {
	e := domain.Edge{From: from, To: to, When: domain.When{Type: t}}
	if len(digits) > 0 {
		e.When.Digits = digits[0]
	}
	return e
}

// confirmPathway returns a pathway that greets the caller and asks for the digit 1 or 2.
func confirmPathway() domain.Pathway {
	return domain.Pathway{
		Start: "hello",
		Nodes: []domain.Node{
			{ID: "hello", Type: domain.NodeSay, Prompt: "Hello {{name}}."},
			{ID: "ask", Type: domain.NodeCollect, Prompt: "Press 1 or 2.", Values: []string{"1", "2"}, SaveAs: "choice", TimeoutSeconds: 20, Retries: 1},
			{ID: "yes", Type: domain.NodeEnd, Prompt: "Thanks.", Outcome: domain.OutcomeConfirmed, Notes: "chose {{choice}}"},
			{ID: "no", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined},
			{ID: "bye", Type: domain.NodeEnd, Prompt: "Goodbye."},
		},
		Edges: []domain.Edge{
			newEdge("hello", "ask", domain.EdgeAlways), newEdge("ask", "yes", domain.EdgeDTMF, "1"), newEdge("ask", "no", domain.EdgeDTMF, "2"),
			newEdge("ask", "bye", domain.EdgeElse),
		},
	}
}

// waitingPathway returns a pathway that repeats a prompt until the call ends, because nobody presses the digit.
func waitingPathway() domain.Pathway {
	return domain.Pathway{
		Start: "wait",
		Nodes: []domain.Node{
			{ID: "wait", Type: domain.NodeCollect, Input: "dtmf", Length: 1, Values: []string{"9"}, TimeoutSeconds: 0.2, Retries: 2000, Prompt: "Go on."},
			{ID: "end", Type: domain.NodeEnd},
		},
		Edges: []domain.Edge{newEdge("wait", "end", domain.EdgeElse)},
	}
}
