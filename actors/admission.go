package actors

import "github.com/callboard/callboard/domain"

// AcceptsCalls returns an error while no outbound call may begin: the node stops, the
// store is in quarantine, or an operator has stopped dialling or drained the node.
func (n *Node) AcceptsCalls() error {
	if n.Draining() {
		return stoppingError()
	}
	return n.halts.refusal()
}

// AcceptsInboundCalls returns an error while no inbound call may begin: the node
// stops, the store is in quarantine, or an operator has drained the node.
func (n *Node) AcceptsInboundCalls() error {
	switch {
	case n.Draining():
		return stoppingError()
	case n.halts.drained.Load() != nil || n.Quarantined():
		return n.halts.refusal()
	}
	return nil
}

func stoppingError() error {
	return domain.Errorf(domain.CodeUnavailable, "the service is being stopped; try again").With("retry_after", 5)
}
