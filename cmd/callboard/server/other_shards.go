package server

import (
	"cmp"
	"context"
	"hash/fnv"
	"net/http"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/httpapi/cluster"
	"github.com/callboard/callboard/persistence/lease"
)

// otherShards sends requests from the API of one shard to the other shards of the cluster.
type otherShards struct{ shard *shard }

// otherShards returns access to the other shards of the cluster, or nil if there is only one shard.
func (t *shard) otherShards() cluster.Shards {
	if t.ownsWorkspace() == nil {
		return nil
	}
	return otherShards{t}
}

// IsElsewhere reports whether another shard owns a workspace.
func (e otherShards) IsElsewhere(workspaceID string) bool {
	return !e.shard.ownsWorkspace()(workspaceID)
}

// Send sends a request to the shard of a workspace. If workspaceID is empty, a hash of seed selects the shard for a new
// workspace.
func (e otherShards) Send(ctx context.Context, workspaceID, seed string, r *http.Request) (*http.Response, error) {
	shards := e.shard.cfg.Node.Shards
	shard := domain.ShardOf(workspaceID, shards)
	if workspaceID == "" {
		sum := fnv.New64a()
		_, _ = sum.Write([]byte(seed))            // never fails
		shard = int(sum.Sum64() % uint64(shards)) //nolint:gosec // below shards
	}
	return e.shard.node.http.forwarder.Send(ctx, shard, r)
}

// Own returns the number of this shard.
func (e otherShards) Own() int { return e.shard.number }

// Others returns the numbers of the other shards.
func (e otherShards) Others() []int {
	out := make([]int, 0, e.shard.cfg.Node.Shards)
	for shard := range e.shard.cfg.Node.Shards {
		if shard != e.shard.number {
			out = append(out, shard)
		}
	}
	return out
}

// ShardOf returns the shard number of a workspace.
func (e otherShards) ShardOf(workspaceID string) int {
	return domain.ShardOf(workspaceID, e.shard.cfg.Node.Shards)
}

// SendToShard sends a request to the node that owns the shard with this number.
func (e otherShards) SendToShard(ctx context.Context, shard int, r *http.Request) (*http.Response, error) {
	return e.shard.node.http.forwarder.Send(ctx, shard, r)
}

// queryOtherShards evaluates alert rules on the other shards and returns their findings.
func (t *shard) queryOtherShards(ctx context.Context, rules []*domain.AlertRule) alert.PeerFindings {
	return t.http.SearchAlerts(ctx, rules)
}

// liveNodes returns a function that lists the live nodes, or nil if the process is not part of a cluster.
func (t *shard) liveNodes() func() []cluster.Node {
	if t.token == "" {
		return nil
	}
	return t.node.liveNodes
}

// liveNodes returns the live nodes sorted by ID, with the shards that each owns.
func (m *node) liveNodes() []cluster.Node {
	nodes := slices.Clone(m.leases.Nodes())
	slices.SortFunc(nodes, func(a, b lease.Node) int { return cmp.Compare(a.ID, b.ID) })
	out := make([]cluster.Node, 0, len(nodes))
	at := make(map[string]int, len(nodes))
	for _, n := range nodes {
		at[n.ID] = len(out)
		p := cluster.Node{NodeNow: load.NodeNow{ID: n.ID, Address: n.Addr, SIP: n.SIP, Version: n.Version, Leaving: n.Draining, Here: n.ID == m.self.ID}}
		if n.Since > 0 {
			p.StartedAt = new(time.UnixMilli(n.Since).UTC())
		}
		out = append(out, p)
	}
	for shard := range m.cfg.Node.Shards {
		n, has := m.leases.Owner(shard)
		if i, lives := at[n.ID]; has && lives {
			out[i].OwnedShards = append(out[i].OwnedShards, shard)
		}
	}
	return out
}
