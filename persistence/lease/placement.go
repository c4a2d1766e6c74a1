package lease

import (
	"cmp"
	"container/heap"
	"hash/fnv"
	"slices"
)

// spare says by how much a node may have more than its even share: by one in so
// many. Without, more would move when a node comes or goes.
const spare = 16

// Most is how many of so many shards one of so many nodes has at most: its even
// share and a sixteenth of it.
func Most(shards, nodes int) int {
	even := (shards + nodes - 1) / nodes
	return even + even/spare
}

// Places are the IDs of the nodes that shards belong to, by shard; "": there is
// none. A shard belongs to the one of those that do not drain with the highest
// hash of both that has room (Most), so whoever has the same list has the same
// places, and few shards move when a node comes or goes.
func Places(shards int, nodes []Node) []string {
	var all []drawer
	for _, n := range nodes {
		if !n.Draining {
			all = append(all, drawer{id: n.ID, seed: seed(n.ID)})
		}
	}
	list := make([]string, shards)
	if len(all) == 0 {
		return list
	}
	slices.SortFunc(all, func(a, b drawer) int { return cmp.Compare(a.id, b.id) })
	most := Most(shards, len(all))
	for shard := range list {
		settleDraw(all, draw{shard: shard}, most)
	}
	for _, n := range all {
		for _, d := range n.has {
			list[d.shard] = n.id
		}
	}
	return list
}

// drawer is a node that draws shards; its heap has the one on top that it would
// give up first.
type drawer struct {
	id   string
	seed uint64
	has  draws
}

// draw is a shard, and how much its node wants it.
type draw struct {
	shard  int
	weight uint64
}

// settleDraw gives a shard to the node that wants it most. Where that has enough, the
// one that it wants least goes on to the node that wants it next: so each shard is
// with the best of all nodes that do not have better ones, in whichever order they
// come.
func settleDraw(all []drawer, d draw, most int) {
	last, from := ^uint64(0), -1 // who has refused it last
	for {
		to := -1
		var best uint64
		for i := range all {
			w := weight(all[i].seed, d.shard)
			if (w < last || w == last && i > from) && (to < 0 || w > best) {
				to, best = i, w
			}
		}
		n := &all[to]
		d.weight = best
		heap.Push(&n.has, d)
		if len(n.has) <= most {
			return
		}
		d, _ = heap.Pop(&n.has).(draw)
		last, from = d.weight, to
	}
}

type draws []draw

// Len is heap.Interface's.
func (h draws) Len() int { return len(h) }

// Less is heap.Interface's.
func (h draws) Less(i, j int) bool {
	return h[i].weight < h[j].weight || h[i].weight == h[j].weight && h[i].shard > h[j].shard
}

// Swap is heap.Interface's.
func (h draws) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is heap.Interface's.
func (h *draws) Push(x any) {
	if d, is := x.(draw); is {
		*h = append(*h, d)
	}
}

// Pop is heap.Interface's.
func (h *draws) Pop() any {
	old := *h
	d := old[len(old)-1]
	*h = old[:len(old)-1]
	return d
}

func seed(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}

// weight mixes as splitmix64 does: FNV alone leaves the order of two nodes much
// the same for neighbouring shards.
func weight(seed uint64, shard int) uint64 {
	x := seed + uint64(shard+1)*0x9e3779b97f4a7c15 //nolint:gosec // shards count from 0
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
