package server

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/lease"
)

// fakeOwners are the owners by shard number and the live nodes.
type fakeOwners struct {
	lease.Engine

	of   map[int]string
	live []lease.Node
}

func (o fakeOwners) Nodes() []lease.Node { return o.live }

func (o fakeOwners) Owner(shard int) (lease.Node, bool) {
	id, ok := o.of[shard]
	return lease.Node{ID: id, Addr: id}, ok
}

func TestNodeServesAWorkspaceUntilAnotherNodeHasItsShard(t *testing.T) {
	t.Parallel()
	m := &node{
		cfg: &configs.Config{Node: configs.Node{Shards: 4}}, self: lease.Node{ID: "here"}, shards: &runningShards{byNumber: map[int]*ownedShard{1: {}}},
		leases: fakeOwners{of: map[int]string{0: "there", 1: "there", 2: "here"}}, // shard 1 stops here, shard 2 starts here, shard 3 has no owner
	}
	seen := make(map[int]bool)
	for i := 0; len(seen) < 4; i++ {
		workspace := "ws_" + strconv.Itoa(i)
		shard := domain.ShardOf(workspace, 4)
		seen[shard] = true
		assert.Equal(t, shard != 0, m.mayServeWorkspace(workspace), "%d", shard)
	}
}
