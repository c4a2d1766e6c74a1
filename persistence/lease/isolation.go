package lease

import (
	"slices"
	"time"
)

// PeerView is what a node knows about the reachability of the others.
type PeerView struct {
	Self            string
	Nodes           []Node // live nodes according to the store
	AnyAnswered     bool   // at least one other node answers
	MissedRounds    int    // rounds in a row without an answer, including this one
	MinMissedRounds int    // minimum rounds after which a dead node is no longer in Nodes; 0: defaultMissedRounds
}

// defaultMissedRounds is the minimum number of rounds without any answer after which a node counts as isolated. A
// node waits one more round for each node with a higher ID, at most maxExtraRounds. The node with the lowest ID
// waits one round more than all others.
const (
	defaultMissedRounds = 3
	maxExtraRounds      = 2
)

// IsIsolated reports whether a node that reaches the store but no other node has to drain, so that requests that
// arrive at other nodes find its shards there. The last node that does not drain never has to. If no node reaches
// any other, all would drain at once. They therefore wait for different numbers of rounds and see in the store that
// others drain already. The node with the lowest ID waits longest.
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

// minMissedRounds returns PeerView.MinMissedRounds. A dead node stays in the list for the duration of a lease, and
// the first round may follow its death at once.
func minMissedRounds(lease, probe time.Duration) int { return int((lease+probe-1)/probe) + 2 }

// rotatePeers returns the other nodes, beginning at another one in each round.
func rotatePeers(self string, nodes []Node, round int) []Node {
	list := slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.ID == self })
	if len(list) == 0 {
		return nil
	}
	at := round % len(list)
	return slices.Concat(list[at:], list[:at])
}
