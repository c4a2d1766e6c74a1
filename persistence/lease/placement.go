package lease

import (
	"cmp"
	"container/heap"
	"hash/fnv"
	"slices"
)

// loadTolerance lets a node exceed its even share of the shards by a sixteenth. Without this tolerance more shards would
// move when a node joins or leaves.
const loadTolerance = 16

// MaxShardsPerNode returns the maximum number of shards of a node: its even share plus a sixteenth of that share.
func MaxShardsPerNode(shards, nodes int) int {
	even := (shards + nodes - 1) / nodes
	return even + even/loadTolerance
}

// PlaceShards returns for each shard the ID of the node to which it is assigned, or "" if there is no node. By rendezvous
// hashing a shard goes to the node with the highest hash of node and shard. Draining nodes and nodes with
// MaxShardsPerNode shards are excluded. All nodes with the same list of nodes compute the same placement, and few shards
// move when a node joins or leaves.
func PlaceShards(shards int, nodes []Node) []string {
	var all []nodeShards
	for _, n := range nodes {
		if !n.Draining {
			all = append(all, nodeShards{id: n.ID, seed: hashNode(n.ID)})
		}
	}
	list := make([]string, shards)
	if len(all) == 0 {
		return list
	}
	slices.SortFunc(all, func(a, b nodeShards) int { return cmp.Compare(a.id, b.id) })
	most := MaxShardsPerNode(shards, len(all))
	for shard := range list {
		placeShard(all, shardWeight{shard: shard}, most)
	}
	for _, n := range all {
		for _, d := range n.shards {
			list[d.shard] = n.id
		}
	}
	return list
}

// nodeShards is a node with the shards assigned so far, as a heap. The shard with the lowest weight is on top.
type nodeShards struct {
	id     string
	seed   uint64
	shards shardHeap
}

// shardWeight is a shard with its weight for one node, which is the hash of node and shard.
type shardWeight struct {
	shard  int
	weight uint64
}

// placeShard assigns a shard to the node with the highest weight for it. If that node is full, the node's shard with the
// lowest weight moves on to the node that has the next lower weight for that shard. The placement therefore does not
// depend on the order of the shards.
func placeShard(all []nodeShards, d shardWeight, most int) {
	last, from := ^uint64(0), -1 // the node that was full last, and its weight
	for {
		to := -1
		var best uint64
		for i := range all {
			w := hashShard(all[i].seed, d.shard)
			if (w < last || w == last && i > from) && (to < 0 || w > best) {
				to, best = i, w
			}
		}
		n := &all[to]
		d.weight = best
		heap.Push(&n.shards, d)
		if len(n.shards) <= most {
			return
		}
		d, _ = heap.Pop(&n.shards).(shardWeight)
		last, from = d.weight, to
	}
}

type shardHeap []shardWeight

// Len implements heap.Interface.
func (h shardHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h shardHeap) Less(i, j int) bool {
	return h[i].weight < h[j].weight || h[i].weight == h[j].weight && h[i].shard > h[j].shard
}

// Swap implements heap.Interface.
func (h shardHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *shardHeap) Push(x any) {
	if d, is := x.(shardWeight); is {
		*h = append(*h, d)
	}
}

// Pop implements heap.Interface.
func (h *shardHeap) Pop() any {
	old := *h
	d := old[len(old)-1]
	*h = old[:len(old)-1]
	return d
}

func hashNode(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}

// hashShard mixes seed and shard number with the function of splitmix64. With FNV alone, neighboring shard numbers would
// order the nodes similarly.
func hashShard(seed uint64, shard int) uint64 {
	x := seed + uint64(shard+1)*0x9e3779b97f4a7c15 //nolint:gosec // shards count from 0
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
