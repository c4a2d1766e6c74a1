package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/cmd/callboard/server/location"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/lease"
)

const maxClaimQuery = 64 << 10 // bytes

// clusterView answers which node owns a call. It uses the leases, the shards of this node and queries to other
// nodes. It implements location.Cluster.
type clusterView struct {
	self    lease.Node
	shards  int // number of shards of the cluster
	leases  shardOwners
	peers   nodeQuerier
	running *runningShards
	reader  atomic.Pointer[persistence.Reader] // reads claims while no shard runs here; nil: not opened yet
}

// shardOwners returns the live nodes and the owners of shards.
type shardOwners interface {
	Nodes() []lease.Node
	Owner(shard int) (lease.Node, bool)
}

// nodeQuerier sends a query to the node at addr and returns its reply, both in JSON.
type nodeQuerier interface {
	RequestNode(ctx context.Context, addr string, question []byte) ([]byte, error)
}

// Self returns the ID of this node.
func (v *clusterView) Self() string { return v.self.ID }

// LiveNodes returns the nodes that hold a lease.
func (v *clusterView) LiveNodes() []lease.Node { return v.leases.Nodes() }

// OwnerOf returns the node that owns the shard of a workspace. ok is false while no node accepts the calls of the
// shard.
func (v *clusterView) OwnerOf(workspace string) (n lease.Node, ok bool) {
	shard := domain.ShardOf(workspace, v.shards)
	n, ok = v.leases.Owner(shard)
	return n, ok && (n.ID != v.self.ID || v.running.takesCalls(shard)) // the shard may be starting or handed over
}

// ownsShard reports whether this node owns a shard according to the leases.
func (v *clusterView) ownsShard(shard int) bool {
	n, ok := v.leases.Owner(shard)
	return ok && n.ID == v.self.ID
}

// otherOwners returns the other nodes that own shards. complete is true if each shard has an owner.
func (v *clusterView) otherOwners() (out []lease.Node, complete bool) {
	complete = true
	for shard := range v.shards {
		n, ok := v.leases.Owner(shard)
		complete = complete && ok
		if ok && n.ID != v.self.ID && !slices.ContainsFunc(out, func(x lease.Node) bool { return x.ID == n.ID }) {
			out = append(out, n)
		}
	}
	return out, complete
}

// hasSuccessor reports whether another live node can take over the shards of this node.
func (v *clusterView) hasSuccessor() bool {
	return slices.ContainsFunc(v.leases.Nodes(), func(n lease.Node) bool { return n.ID != v.self.ID && !n.Draining })
}

// LocalClaim returns the best claim of the shards of this node. Incomplete is set if one of the shards cannot
// answer now.
func (v *clusterView) LocalClaim(ctx context.Context, q actornode.ClaimQuery) (c location.Claim) {
	service, complete := v.running.serviceOf(v.ownsShard)
	c.Incomplete = !complete
	if service != nil {
		best, all := service.router.FindClaim(ctx, q)
		c.CallClaim, c.Incomplete = best, c.Incomplete || !all
	}
	return c
}

// HasTrunkTo reports whether a trunk of the shards of this node leads to an address.
func (v *clusterView) HasTrunkTo(at netip.AddrPort) bool {
	service := v.running.currentService()
	if service == nil {
		return false
	}
	c, all := service.router.FindClaim(context.Background(), actornode.ClaimQuery{Source: at})
	return !all || c.Rank > domain.ClaimNone
}

// StoredClaim returns the workspace of a number or a phone, read from the store.
func (v *clusterView) StoredClaim(ctx context.Context, name string) (workspace string, err error) {
	err = errNoShard
	if r := v.reader.Load(); r != nil && len(v.running.all()) == 0 {
		workspace, err = location.ReadWorkspaceClaim(ctx, r, name[0], name[1:])
	}
	for _, t := range v.running.all() { // after a failed read the next shard is tried
		if workspace, err = location.ReadWorkspaceClaim(ctx, t.store.Records, name[0], name[1:]); err == nil {
			break
		}
	}
	return workspace, err
}

// QueryNode sends a claim query to another node. After an error that node may still have a better claim.
func (v *clusterView) QueryNode(ctx context.Context, addr string, q actornode.ClaimQuery) (c location.Claim, err error) {
	question, err := json.Marshal(q)
	if err != nil {
		return c, err
	}
	answer, err := v.peers.RequestNode(ctx, addr, question)
	if err == nil {
		err = json.Unmarshal(answer, &c)
	}
	if err == nil && c.Incomplete {
		err = errNoShard
	}
	return c, err
}

// QueryNodes sends a claim query to all other nodes that own shards. With an error the replies are incomplete.
func (v *clusterView) QueryNodes(ctx context.Context, q actornode.ClaimQuery) ([]domain.NodeClaim, error) {
	nodes, complete := v.otherOwners()
	out, errs := make([]domain.NodeClaim, len(nodes)), make([]error, len(nodes)+1)
	if !complete {
		errs[len(nodes)] = errNoShard
	}
	var wait sync.WaitGroup
	for i, n := range nodes {
		wait.Go(func() {
			c, err := v.QueryNode(ctx, n.Addr, q)
			out[i], errs[i] = domain.NodeClaim{CallClaim: c.CallClaim, Node: n.ID}, err
		})
	}
	wait.Wait()
	return out, errors.Join(errs...)
}

// handleClaimQuery is the HTTP handler with which another node asks whether an inbound call is for a workspace of
// this node.
func (v *clusterView) handleClaimQuery(w http.ResponseWriter, r *http.Request) {
	var q actornode.ClaimQuery
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxClaimQuery)).Decode(&q); err != nil {
		http.Error(w, "the request is not a claim query", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), location.QueryTimeout)
	defer cancel()
	_ = json.NewEncoder(w).Encode(v.LocalClaim(ctx, q))
}
