package domain_test

import (
	"hash/fnv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
)

// The shard of an ID must never change, because existing installations store their records by shard.
func TestShardOfWorkspaceIsStable(t *testing.T) {
	for id, want := range map[string][5]int{ // of 1, 2, 3, 64 and 1024 shards
		"":                              {},
		"a":                             {0, 0, 1, 12, 140},
		"ws_1":                          {0, 1, 1, 3, 451},
		"ws_01ARZ3NDEKTSV4RRFFQ69G5FAV": {0, 1, 2, 25, 729},
		"ws_01J8ZQ6V4Q3W9N0C5T2M7K1XBE": {0, 1, 0, 25, 857},
		"ws_ü":                          {0, 1, 0, 31, 415},
	} {
		for i, shards := range []int{1, 2, 3, 64, domain.MaxShards} {
			assert.Equal(t, want[i], domain.ShardOf(id, shards), "%q of %d", id, shards)
		}
	}
	for _, none := range []int{-1, 0, 1} {
		assert.Zero(t, domain.ShardOf("ws_1", none))
	}
}

func TestShardsAreInRangeAndEvenlyFilled(t *testing.T) {
	const shards, each = 16, 500
	var have [shards]int
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range shards * each {
		id := domain.ID(domain.PrefixWorkspace, at.Add(time.Duration(i)*time.Minute), [10]byte{byte(i), byte(i >> 8), 3, 9: byte(i * 7)})
		h := fnv.New64a()
		_, _ = h.Write([]byte(id))
		shard := domain.ShardOf(id, shards)
		assert.Equal(t, h.Sum64()%shards, uint64(shard))
		have[shard]++
	}
	for shard, n := range have {
		assert.InDelta(t, each, n, each/4, "shard %d", shard)
	}
}
