package lease

import (
	"slices"
	"time"
)

// PeerView is the information by which IsIsolated decides: the live nodes, and whether any other node answers pings.
type PeerView struct {
	Self            string
	Nodes           []Node // live nodes according to the store
	AnyAnswered     bool   // at least one other node answers
	MissedRounds    int    // rounds in a row without an answer, including this one
	MinMissedRounds int    // minimum rounds after which a dead node is no longer in Nodes; 0: defaultMissedRounds
}

// defaultMissedRounds is the minimum number of ping rounds without any answer after which a node counts as isolated. A
// node waits one more round for each node with a higher ID, at most maxExtraRounds. The node with the lowest ID
// waits maxExtraRounds+1 more rounds.
const (
	defaultMissedRounds = 3
	maxExtraRounds      = 2
)

// IsIsolated reports whether a node must drain because it reaches the store but no other node. Requests that arrive at
// other nodes then find its shards there. The last node that does not drain never has to drain. If no node reaches any
// other, the nodes must not all drain at once. They therefore wait for different numbers of rounds, and each sees in the
// store that others drain already. The node with the lowest ID waits longest.
func IsIsolated(s PeerView) bool {
	if s.AnyAnswered {
		return false
	}
	rank, others, lowest := 0, 0, true
	for _, n := range s.Nodes {
		switch {
		case n.ID > s.Self:
			rank++
		case n.ID < s.Self:
			lowest = false
		}
		if n.ID != s.Self && !n.Draining {
			others++
		}
	}
	wait := max(defaultMissedRounds, s.MinMissedRounds) + min(rank, maxExtraRounds)
	if lowest {
		wait = max(defaultMissedRounds, s.MinMissedRounds) + maxExtraRounds + 1
	}
	return others > 0 && s.MissedRounds >= wait
}

// minMissedRounds returns the value for PeerView.MinMissedRounds. A dead node stays in the list of nodes for the
// duration of a lease, and the first ping round may follow its death at once.
func minMissedRounds(lease, probe time.Duration) int { return int((lease+probe-1)/probe) + 2 }

// rotatePeers returns all nodes except self. The list begins with another node in each round.
func rotatePeers(self string, nodes []Node, round int) []Node {
	list := slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.ID == self })
	if len(list) == 0 {
		return nil
	}
	at := round % len(list)
	return slices.Concat(list[at:], list[:at])
}
