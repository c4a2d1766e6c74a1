package dashboard

// pathwayNode is a node of a pathway with the edges that start at it.
type pathwayNode struct {
	Node        object
	Transitions []object // edges that start at the node
}

// nodesOf returns the nodes of a pathway in depth-first order from the start node. Unreachable nodes come last.
func nodesOf(p object) []pathwayNode {
	byID, edgesFrom := map[string]object{}, map[string][]object{}
	var order []string
	all, _ := p["nodes"].([]any)
	for _, n := range all {
		if o, ok := n.(object); ok {
			byID[text(o, "id")] = o
			order = append(order, text(o, "id"))
		}
	}
	edges, _ := p["edges"].([]any)
	for _, e := range edges {
		if o, ok := e.(object); ok {
			edgesFrom[text(o, "from")] = append(edgesFrom[text(o, "from")], o)
		}
	}
	var nodes []pathwayNode
	seen := map[string]bool{}
	for queue := append([]string{text(p, "start")}, order...); len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if seen[id] || byID[id] == nil {
			continue
		}
		seen[id] = true
		nodes = append(nodes, pathwayNode{Node: byID[id], Transitions: edgesFrom[id]})
		var next []string
		for _, e := range edgesFrom[id] {
			next = append(next, text(e, "to"))
		}
		if len(next) > 0 {
			queue = append(append([]string{id}, next...), queue[1:]...)
		}
	}
	return nodes
}
