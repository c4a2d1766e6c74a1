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

// otherShards are the shards of the installation as the API of one shard reaches them.
type otherShards struct{ shard *shard }

func (t *shard) otherShards() cluster.Shards {
	if t.ownsWorkspace() == nil {
		return nil
	}
	return otherShards{t}
}

// IsElsewhere says whether another shard has a workspace.
func (e otherShards) IsElsewhere(workspaceID string) bool {
	return !e.shard.ownsWorkspace()(workspaceID)
}

// Send sends a request to the shard of a workspace; "": to the shard of the next new
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

// Own is this shard.
func (e otherShards) Own() int { return e.shard.number }

// Others are the other shards.
func (e otherShards) Others() []int {
	out := make([]int, 0, e.shard.cfg.Node.Shards)
	for shard := range e.shard.cfg.Node.Shards {
		if shard != e.shard.number {
			out = append(out, shard)
		}
	}
	return out
}

// ShardOf is the shard of a workspace.
func (e otherShards) ShardOf(workspaceID string) int {
	return domain.ShardOf(workspaceID, e.shard.cfg.Node.Shards)
}

// SendToShard sends a request to a shard.
func (e otherShards) SendToShard(ctx context.Context, shard int, r *http.Request) (*http.Response, error) {
	return e.shard.node.http.forwarder.Send(ctx, shard, r)
}

// queryOtherShards has the other seats look at what alert rules are about.
func (t *shard) queryOtherShards(ctx context.Context, rules []*domain.AlertRule) alert.PeerFindings {
	return t.http.SearchAlerts(ctx, rules)
}

// liveNodes returns the live nodes for the API; nil: the process is the only node.
func (t *shard) liveNodes() func() []cluster.Node {
	if t.token == "" {
		return nil
	}
	return t.node.liveNodes
}

// liveNodes returns the live nodes by id, with the shards that each owns.
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
