package cluster

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
)

// countedLoad is a slow NodeLoad that counts its calls.
type countedLoad struct{ calls atomic.Int32 }

func (l *countedLoad) LocalReport(context.Context, func(*domain.Workspace) int) (*load.Report, error) {
	l.calls.Add(1)
	time.Sleep(10 * time.Millisecond)
	return &load.Report{Node: &load.NodeLoad{Ready: true}, Workspaces: []*load.WorkspaceLoad{{ID: "ws_1", LiveCalls: 2}}}, nil
}

func TestConcurrentLoadCallersShareOneQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := new(countedLoad)
		cl := New(Config{Version: "1", Services: Services{Load: node}})
		for range 20 {
			go func() {
				_, nodes, err := cl.Load(t.Context())
				assert.NoError(t, err)
				assert.Len(t, nodes, 1)
			}()
		}
		time.Sleep(time.Second / 2)
		assert.EqualValues(t, 1, node.calls.Load())
		_, _, err := cl.Load(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 1, node.calls.Load(), "within loadMaxAge")
		time.Sleep(loadMaxAge)
		_, nodes, err := cl.Load(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 2, node.calls.Load())
		assert.Equal(t, []int{1, 2, 1}, []int{nodes[0].Shards, nodes[0].LiveCalls, nodes[0].Workspaces})
	})
}

func TestResetLoadDropsRunningQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := new(countedLoad)
		cl := New(Config{Services: Services{Load: node}})
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, err := cl.Load(t.Context())
			assert.NoError(t, err)
		}()
		synctest.Wait()
		cl.ResetLoad()
		<-done
		_, _, err := cl.Load(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 2, node.calls.Load())
	})
}

func TestShardsOfNode(t *testing.T) {
	cl := New(Config{Nodes: func() []Node {
		return []Node{
			{NodeNow: load.NodeNow{ID: "node_a", Here: true}, OwnedShards: []int{0}},
			{NodeNow: load.NodeNow{ID: "node_b"}, OwnedShards: []int{1, 3}},
			{NodeNow: load.NodeNow{ID: "node_c"}},
		}
	}})
	here, err := cl.OwnsNode("node_a")
	require.NoError(t, err)
	assert.True(t, here)
	shards, here, err := cl.shardsOfNode("node_b")
	require.NoError(t, err)
	assert.False(t, here)
	assert.Equal(t, []int{1, 3}, shards)
	_, err = cl.OwnsNode("node_c")
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
	_, err = cl.OwnsNode("node_d")
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	assert.Equal(t, []int{0, 3}, cl.ownedShards([]int{0, 2, 3}))
}
