package lease_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/persistence/lease"
)

// newNodes returns n nodes with random IDs. The result is the same for the same n.
func newNodes(n int) []lease.Node {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	list := make([]lease.Node, n)
	for i := range list {
		id := make([]byte, 26)
		for k := range id {
			id[k] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[r.IntN(32)]
		}
		list[i] = lease.Node{ID: "node_" + string(id)}
	}
	return list
}

func shardsPerNode(places []string) map[string]int {
	count := make(map[string]int)
	for _, id := range places {
		count[id]++
	}
	return count
}

func TestPlaceShardsBoundsShardsPerNode(t *testing.T) {
	t.Parallel()
	for _, shards := range []int{1, 2, 12, 24, 48, 160, 1000} {
		for n := 1; n <= 20; n++ {
			places := lease.PlaceShards(shards, newNodes(n))
			assert.NotContains(t, places, "", "each shard is assigned")
			for _, c := range shardsPerNode(places) {
				assert.LessOrEqual(t, c, lease.MaxShardsPerNode(shards, n), "%d shards, %d nodes", shards, n)
			}
		}
	}
	assert.Equal(t, []int{12, 6, 4, 8, 17, 54}, []int{lease.MaxShardsPerNode(12, 1), lease.MaxShardsPerNode(12, 2), lease.MaxShardsPerNode(12, 3), lease.MaxShardsPerNode(24, 3), lease.MaxShardsPerNode(48, 3), lease.MaxShardsPerNode(152, 3)})
}

func TestPlaceShardsIsDeterministic(t *testing.T) {
	t.Parallel()
	list := newNodes(7)
	want := lease.PlaceShards(112, list)
	for range 20 {
		rand.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		assert.Equal(t, want, lease.PlaceShards(112, list))
	}
}

// When a node leaves, its shards must move. At most 60 percent more shards than these may move.
func TestPlaceShardsMovesFewShards(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 12; n++ {
		moved, due := 0, 0
		for seed := range 20 {
			all := newNodes(n + 13*seed)[:n]
			shards := 16 * n
			before, after := lease.PlaceShards(shards, all), lease.PlaceShards(shards, all[1:])
			for shard := range before {
				if before[shard] != after[shard] {
					moved++
				}
			}
			due += shardsPerNode(before)[all[0].ID]
		}
		assert.LessOrEqual(t, float64(moved), 1.6*float64(due), "%d nodes: %d shards move, of which %d have to", n, moved, due)
	}
}
