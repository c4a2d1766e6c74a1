package lease

import "slices"

// phase is the state of a shard that a holder has.
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

// plan is what a holder does next.
type plan struct {
	claim   []int // free shards that are assigned to this node
	release []int // claimed by this node in a request without an answer, and assigned to another node
	stop    []int // assigned to another node
	lost    []int // owned by another node: stopped without a release
	keeps   bool  // some shards are assigned to another node and kept for now
}

// makePlan compares the owners with the assigned nodes. A node that joins gets a few shards at a time, because each
// shard pauses while it is handed over. A node that drains releases all shards at once.
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

// hasNodeGone reports whether a node that did not drain is missing or drains now.
func hasNodeGone(before, now []Node) bool {
	return slices.ContainsFunc(before, func(n Node) bool {
		return !n.Draining && !slices.ContainsFunc(now, func(m Node) bool { return m.ID == n.ID && !m.Draining })
	})
}
