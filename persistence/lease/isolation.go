package lease

import (
	"slices"
	"time"
)

// Sight is what a node sees of the others.
type Sight struct {
	Self    string
	Nodes   []Node // live ones, by the store
	Reached bool   // at least one of the others answers
	Missed  int    // rounds in a row in which none did, this one included
	Least   int    // rounds in which a node that has died is lost sight of; 0: missRounds
}

// missRounds are the least rounds without an answer from anybody after which a
// node takes itself for cut off. It waits one more for each with a higher ID, at
// most rankRounds, and the one with the lowest ID one more than all others.
const (
	missRounds = 3
	rankRounds = 2
)

// Isolated says whether a node that sees the store but none of the others
// drains itself, so that requests that reach them find their shards there. The
// last one that does not drain never does. Where nobody sees anybody each would
// drain at once: so they wait differently long, see the flags of those before
// them in the store, and the one with the lowest ID goes on.
func Isolated(s Sight) bool {
	if s.Reached {
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
	wait := max(missRounds, s.Least) + min(rank, rankRounds)
	if lowest {
		wait = max(missRounds, s.Least) + rankRounds + 1
	}
	return others > 0 && s.Missed >= wait
}

// least is Sight.Least where a node that has died is seen for as long as a lease,
// and the first round without it may come as soon as it is dead.
func least(lease, probe time.Duration) int { return int((lease+probe-1)/probe) + 2 }

// peers are the others in an order that begins elsewhere each round.
func peers(self string, nodes []Node, round int) []Node {
	list := slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.ID == self })
	if len(list) == 0 {
		return nil
	}
	at := round % len(list)
	return slices.Concat(list[at:], list[:at])
}
