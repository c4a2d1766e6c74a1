package lend

// spreadFrom is how full a node is, of what it wants to carry at most, before
// others have the sound of its calls: nearer is simpler, and one machine less
// can fail.
const spreadFrom = 0.5

// margin is how much emptier another node has to be, so that two that are alike
// do not send each other theirs.
const margin = 0.1

// full is how much of what it wants to carry a node has.
func (l Load) full() float64 {
	if l.Most <= 0 {
		return 1
	}
	return float64(l.Live) / float64(l.Most)
}

// Choose says where the sound of a next call goes: to the node with that index in
// others, or here, -1. It stays here until this node is half full, or has no
// room, and goes to whoever is the least full then.
func Choose(here Load, others []Load) int {
	best, least := -1, here.full()-margin
	switch {
	case here.Free <= 0:
		least = 2 * max(1, here.full()) // anybody is better
	case here.full() < spreadFrom:
		return -1
	}
	for i, o := range others {
		if o.Leaving || o.Free <= 0 {
			continue
		}
		if full := o.full(); full < least {
			best, least = i, full
		}
	}
	return best
}
