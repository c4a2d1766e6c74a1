package redis_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/leasetest"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

// join opens an engine and joins. The engine leaves when the test ends.
func join(t *testing.T, url, space string, self lease.Node, o lease.Options) (lease.Engine, error) {
	t.Helper()
	o.Lease = shortLease
	e, err := open(url, space, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Leave(context.Background()) })
	return e, e.Join(t.Context(), self, func() {})
}

func TestJoinRefusesOtherParameters(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	node := lease.Node{ID: "a", Addr: "10.0.0.1:8090", Lease: 2000, Shards: 4}
	single := lease.Node{ID: "p", Lease: 2000, Shards: 1, Single: true}
	for name, c := range map[string]struct {
		lives, joins lease.Node
		refused      string // the error; "": the node joins
	}{
		"same parameters":                                 {node, lease.Node{ID: "b", Lease: 2000, Shards: 4}, ""},
		"no parameters":                                   {node, lease.Node{ID: "b"}, ""},
		"other lease duration":                            {node, lease.Node{ID: "b", Lease: 10000, Shards: 4}, "lease_seconds is 10 here and 2 in the store, and a node lives on this store (10.0.0.1:8090): set lease_seconds to 2, or stop all nodes before starting them with another value"},
		"other shard count":                               {node, lease.Node{ID: "b", Lease: 2000, Shards: 8}, "shards is 8 here and 4 in the store, and a node lives on this store (10.0.0.1:8090): set shards to 4, or stop all nodes before starting them with another value"},
		"single process while a node lives":               {node, single, "node_addr is not set here, and a node lives on this store (10.0.0.1:8090): set node_addr to be one of the nodes, or stop all of them first; run commands on the node that owns the shards"},
		"node while a single process lives":               {single, node, "node_addr is set here, and a process without node_addr uses this store: stop that process, or wait for its lease to end if it was killed"},
		"two single processes":                            {single, lease.Node{ID: "q", Lease: 2000, Shards: 1, Single: true}, "node_addr is not set here, and a process without node_addr uses this store: stop it, wait for its lease to end, or run commands on its machine"},
		"single process restarts in the same data folder": {single, single, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lives, err := join(t, url, name, c.lives, lease.Options{})
			require.NoError(t, err)
			e, err := join(t, url, name, c.joins, lease.Options{})
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			refused := new(lease.ParameterMismatchError)
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, c.refused, err.Error())
			assert.Empty(t, e.Nodes())
			require.NoError(t, lives.Leave(t.Context()))
			_, err = join(t, url, name, c.joins, lease.Options{})
			require.NoError(t, err, "no live node: the parameters may change")
			_, err = join(t, url, name, c.lives, lease.Options{})
			require.ErrorAs(t, err, &refused, "the new parameters apply")
			assert.Equal(t, refused.Stored, valueOf(c.joins, refused.Setting))
		})
	}
}

func valueOf(n lease.Node, setting string) string {
	for _, p := range n.Parameters() {
		if p.Setting == setting {
			return p.Value
		}
	}
	return ""
}

func TestRejoinIsRefusedAfterParametersChanged(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	refusals := make(chan error, 1)
	_, err := join(t, url, "x", lease.Node{ID: "a", Lease: 2000}, lease.Options{OnMismatch: func(err error) {
		select {
		case refusals <- err:
		default:
		}
	}})
	require.NoError(t, err)
	r := direct(t, url)
	leasetest.Eventually(t, "another node joins while the first has no lease", func() bool {
		require.NoError(t, r.ZRem(t.Context(), "x:{cb}lease:nodes", "a").Err())
		_, err := join(t, url, "x", lease.Node{ID: "b", Lease: 3000}, lease.Options{})
		return err == nil
	})
	leasetest.Eventually(t, "the first is refused", func() bool { return len(refusals) == 1 })
	err = <-refusals
	refused := new(lease.ParameterMismatchError)
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, lease.ParameterMismatchError{Parameter: lease.Parameter{Setting: "lease_seconds", Value: "2"}, Stored: "3", LiveNodes: 1}, *refused)
}
