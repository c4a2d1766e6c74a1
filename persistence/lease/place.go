package lease

import "hash/fnv"

// Place is the node that a shard belongs to: of those that do not drain the one
// with the highest hash of both. A node that comes or goes moves no shard
// between the others. false: there is none.
func Place(shard int, nodes []Node) (Node, bool) {
	var best Node
	var most uint64
	found := false
	for _, n := range nodes {
		if n.Draining {
			continue
		}
		w := weight(seed(n.ID), shard)
		if !found || w > most || w == most && n.ID < best.ID {
			best, most, found = n, w, true
		}
	}
	return best, found
}

// places is the ID of Place for every shard; "": there is none.
func places(shards int, nodes []Node) []string {
	list := make([]string, shards)
	var ids []string
	var seeds []uint64
	for _, n := range nodes {
		if !n.Draining {
			ids, seeds = append(ids, n.ID), append(seeds, seed(n.ID))
		}
	}
	for shard := range list {
		var most uint64
		for i, id := range ids {
			w := weight(seeds[i], shard)
			if i == 0 || w > most || w == most && id < list[shard] {
				list[shard], most = id, w
			}
		}
	}
	return list
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
