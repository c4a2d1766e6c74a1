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
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/persistence/lease"
)

// otherShards is the rest of the install, as the front door of a seat asks it.
type otherShards struct{ shard *shard }

func (t *shard) elsewhere() httpapi.Elsewhere {
	if t.ownsWorkspace() == nil {
		return nil
	}
	return otherShards{t}
}

// Has says whether another shard has a workspace.
func (e otherShards) Has(workspaceID string) bool { return !e.shard.ownsWorkspace()(workspaceID) }

// Ask asks the seat of a workspace's shard, wherever that is; "": of the one
// that is to have the next workspace.
func (e otherShards) Ask(ctx context.Context, workspaceID, seed string, r *http.Request) (*http.Response, error) {
	shards := e.shard.cfg.Node.Shards
	shard := domain.ShardOf(workspaceID, shards)
	if workspaceID == "" {
		sum := fnv.New64a()
		_, _ = sum.Write([]byte(seed))            // never fails
		shard = int(sum.Sum64() % uint64(shards)) //nolint:gosec // below shards
	}
	return e.shard.node.http.forwarder.Ask(ctx, shard, r)
}

// Own is the seat's shard.
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

// PartOf is the shard of a workspace.
func (e otherShards) PartOf(workspaceID string) int {
	return domain.ShardOf(workspaceID, e.shard.cfg.Node.Shards)
}

// AskPart asks the seat of a shard, wherever that is.
func (e otherShards) AskPart(ctx context.Context, shard int, r *http.Request) (*http.Response, error) {
	return e.shard.node.http.forwarder.Ask(ctx, shard, r)
}

// queryOtherShards has the other seats look at what alert rules are about.
func (t *shard) queryOtherShards(ctx context.Context, rules []*domain.AlertRule) alert.Answers {
	return t.http.LookElsewhere(ctx, rules)
}

// liveNodes are the nodes that live, for a front door; nil: the process is alone.
func (t *shard) liveNodes() func() []httpapi.Place {
	if t.token == "" {
		return nil
	}
	return t.node.liveNodes
}

// liveNodes are the nodes that live, by their ids, and which shards each has.
func (m *node) liveNodes() []httpapi.Place {
	nodes := slices.Clone(m.leases.Nodes())
	slices.SortFunc(nodes, func(a, b lease.Node) int { return cmp.Compare(a.ID, b.ID) })
	out := make([]httpapi.Place, 0, len(nodes))
	at := make(map[string]int, len(nodes))
	for _, n := range nodes {
		at[n.ID] = len(out)
		p := httpapi.Place{NodeNow: load.NodeNow{ID: n.ID, Address: n.Addr, SIP: n.SIP, Version: n.Version, Leaving: n.Draining, Here: n.ID == m.self.ID}}
		if n.Since > 0 {
			p.StartedAt = new(time.UnixMilli(n.Since).UTC())
		}
		out = append(out, p)
	}
	for shard := range m.cfg.Node.Shards {
		n, has := m.leases.Owner(shard)
		if i, lives := at[n.ID]; has && lives {
			out[i].Parts = append(out[i].Parts, shard)
		}
	}
	return out
}
