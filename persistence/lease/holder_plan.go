package lease

import "slices"

// phase is what a holder does with a shard that it has.
type phase int

const (
	starting phase = iota + 1
	running
	leaving // its Stop is due or under way
)

// view is what a holder decides by.
type view struct {
	self     string
	places   []string      // by shard, whose it should be; "": nobody's
	owners   []string      // by shard, whose it is; "": nobody's who lives
	held     map[int]phase // what the holder has
	given    int           // handed to others who have not taken it yet
	draining bool
	settling bool                            // the list of nodes may soon be what it was
	handover int                             // so many may be on their way to others at a time
	stays    func(shard int, to string) bool // what is held stays where it is for now, though it is due to a node that has joined; nil: nothing does
}

// plan is what a holder does next.
type plan struct {
	claim []int // free, and its own
	drop  []int // claimed without the answer being heard, and no longer its own: to be freed
	stop  []int // to be given back
	lost  []int // others have them: to be stopped without a further word
	stay  bool  // some would be given back, and stay for now
}

// decide compares what is with what should be. What comes to a node that joins
// is handed over a few at a time, because each shard pauses on its way; what a
// node that drains has goes at once.
func decide(v view) plan {
	var p plan
	room := v.handover - v.given
	for _, doing := range v.held {
		if doing == leaving {
			room--
		}
	}
	for shard, owner := range v.owners {
		place := v.places[shard]
		own := place == v.self && !v.draining
		switch doing := v.held[shard]; {
		case doing == leaving:
		case doing != 0 && owner != v.self:
			p.lost = append(p.lost, shard)
		case doing == running && v.draining:
			p.stop = append(p.stop, shard)
		case doing == running && !own && place != "" && room > 0 && !v.settling:
			if v.stays != nil && v.stays(shard, place) {
				p.stay = true
				continue
			}
			p.stop = append(p.stop, shard)
			room--
		case doing != 0:
		case own && (owner == "" || owner == v.self):
			p.claim = append(p.claim, shard)
		case owner == v.self:
			p.drop = append(p.drop, shard)
		}
	}
	return p
}

// fewer says whether a node that could have shards has gone.
func fewer(before, now []Node) bool {
	return slices.ContainsFunc(before, func(n Node) bool {
		return !n.Draining && !slices.ContainsFunc(now, func(m Node) bool { return m.ID == n.ID && !m.Draining })
	})
}
