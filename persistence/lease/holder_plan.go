package lease

import "slices"

// phase is the state of a shard that this node holds.
type phase int

const (
	starting phase = iota + 1
	running
	leaving // Stop is due or running
)

// planInput is the state from which a holder makes its plan.
type planInput struct {
	self         string
	placement    []string      // the assigned node of each shard; "": none
	owners       []string      // the owner of each shard; "": no live node
	held         map[int]phase // the shards of this holder
	handedOver   int           // shards handed over, and not claimed by the other node yet
	draining     bool
	isSettling   bool                            // a node has gone recently and may come back
	maxHandovers int                             // maximum number of shards that are being handed over
	keepShard    func(shard int, to string) bool // Config.KeepShard; nil: no shard is kept
}

// plan lists the shards that a holder claims, releases and stops next.
type plan struct {
	claim   []int // free shards that are assigned to this node
	release []int // shards that this node claimed in a request without an answer, and that are assigned to another node
	stop    []int // shards to be stopped and released, because they are assigned to another node
	lost    []int // shards owned by another node, to be stopped without a release
	keeps   bool  // some shards are assigned to another node and kept for now
}

// makePlan compares the owners of shards with the nodes to which the shards are assigned. It hands only a few shards at
// a time over to a node that joins, because a shard pauses during its hand-over. A draining node releases all shards.
func makePlan(v planInput) plan {
	var p plan
	room := v.maxHandovers - v.handedOver
	for _, doing := range v.held {
		if doing == leaving {
			room--
		}
	}
	for shard, owner := range v.owners {
		place := v.placement[shard]
		own := place == v.self && !v.draining
		switch doing := v.held[shard]; {
		case doing == leaving:
		case doing != 0 && owner != v.self:
			p.lost = append(p.lost, shard)
		case doing == running && v.draining:
			p.stop = append(p.stop, shard)
		case doing == running && !own && place != "" && room > 0 && !v.isSettling:
			if v.keepShard != nil && v.keepShard(shard, place) {
				p.keeps = true
				continue
			}
			p.stop = append(p.stop, shard)
			room--
		case doing != 0:
		case own && (owner == "" || owner == v.self):
			p.claim = append(p.claim, shard)
		case owner == v.self:
			p.release = append(p.release, shard)
		}
	}
	return p
}

// hasNodeGone reports whether a node that did not drain in the list before is missing or draining in the list now.
func hasNodeGone(before, now []Node) bool {
	return slices.ContainsFunc(before, func(n Node) bool {
		return !n.Draining && !slices.ContainsFunc(now, func(m Node) bool { return m.ID == n.ID && !m.Draining })
	})
}
