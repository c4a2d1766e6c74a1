package lease_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/leasetest"
)

func TestTokenEpochAndInstance(t *testing.T) {
	for _, c := range []struct {
		token    lease.Token
		epoch    uint64
		instance string
	}{
		{"1712|n1", 1712, "n1"}, {"5|", 5, ""}, {"", 0, ""}, {"x|n1", 0, "n1"}, {"7", 7, ""},
	} {
		assert.Equal(t, c.epoch, c.token.Epoch(), c.token)
		assert.Equal(t, c.instance, c.token.Instance(), c.token)
	}
}

func TestNextEpochGrows(t *testing.T) {
	now := time.UnixMilli(1_000_000_000)
	for _, c := range []struct {
		before uint64
		wall   time.Time
		next   uint64
	}{
		{0, now, 1_000_000_000},
		{5, now, 1_000_000_000},
		{1_000_000_000, now, 1_000_000_001},
		{1_000_000_000, now.Add(-time.Hour), 1_000_000_001},
		{1_000_000_000, now.Add(time.Hour), 1_003_600_000},
		{0, time.Time{}, 1},
	} {
		assert.Equal(t, c.next, lease.NextEpoch(c.before, c.wall), "%+v", c)
	}
}

func TestNodeCheckRefusesInvalidIDs(t *testing.T) {
	for id, fine := range map[string]bool{"n1": true, "01J-x_y.z:1": true, "": false, "a|b": false, "a/b": false, "a b": false, "a\x00": false} {
		assert.Equal(t, fine, lease.Node{ID: id}.Check() == nil, "%q", id)
	}
	require.NoError(t, lease.CheckShards(0, lease.MaxShards-1))
	require.ErrorIs(t, lease.CheckShards(1, -1), lease.ErrMalformed)
	require.ErrorIs(t, lease.CheckShards(lease.MaxShards), lease.ErrMalformed)
}

// The in-memory store must pass the conformance suite, because other tests use it in place of a real store.
func TestMemoryStoreConforms(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	stores := make(map[string]*leasetest.MemoryStore)
	leasetest.Suite{ShortLease: time.Second, InProcess: true, Open: func(_, space string, o lease.Options) (lease.Engine, error) {
		mu.Lock()
		defer mu.Unlock()
		if stores[space] == nil {
			stores[space] = leasetest.NewMemoryStore(o.Lease)
		}
		return lease.NewHeartbeat(stores[space].Client(), o), nil
	}}.Run(t)
}

func nodes(n int) []lease.Node {
	var list []lease.Node
	for i := range n {
		list = append(list, lease.Node{ID: fmt.Sprintf("01JD%04d", i)})
	}
	return list
}

const many = 4096

func placeMany(list []lease.Node) map[int]string {
	of := make(map[int]string)
	for shard, id := range lease.PlaceShards(many, list) {
		of[shard] = id
	}
	return of
}

func TestPlaceShardsSpreadsEvenly(t *testing.T) {
	for _, n := range []int{2, 3, 7, 16} {
		count := make(map[string]int)
		for _, id := range placeMany(nodes(n)) {
			count[id]++
		}
		assert.Len(t, count, n)
		for id, c := range count {
			assert.InEpsilon(t, many/n, c, 0.25, "%s of %d nodes", id, n)
		}
	}
}

func TestPlaceShardsSkipsDrainingNodes(t *testing.T) {
	list := nodes(3)
	list[1].Draining = true
	without := placeMany([]lease.Node{list[2], list[0]})
	assert.Equal(t, without, placeMany(list))
	for i := range list {
		list[i].Draining = true
	}
	assert.Equal(t, []string{"", ""}, lease.PlaceShards(2, list))
}
