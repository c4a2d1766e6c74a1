package dashboard

func agentsPage(r *Request) (view, error) {
	agents, err := r.list("/v1/agents", "/agents")
	if err != nil {
		return view{}, err
	}
	pathways, err := r.pageOf("pathways", "/v1/pathways", "/agents")
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	return view{name: "agents", title: "Agents", data: object{"agents": agents, "pathways": pathways}}, nil
}

func agentPage(r *Request) (view, error) {
	a, err := r.get("/v1/agents/" + r.ID)
	if err != nil {
		return view{}, err
	}
	versions, err := r.list("/v1/agents/"+r.ID+"/versions", "/agents/"+r.ID)
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	return view{name: "agent", title: text(a, "name"), data: object{"agent": a, "versions": versions}}, nil
}

type pathwayNode struct {
	Node object
	Ways []object // edges that start at the node
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
		nodes = append(nodes, pathwayNode{Node: byID[id], Ways: edgesFrom[id]})
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
