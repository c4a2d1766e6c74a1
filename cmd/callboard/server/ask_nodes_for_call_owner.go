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

// clusterView finds the node that owns a call from the leases, the shards of this node and queries to other nodes. It
// implements location.Cluster.
type clusterView struct {
	self    lease.Node
	shards  int // number of shards of the cluster
	leases  shardOwners
	peers   nodeQuerier
	running *runningShards
	reader  atomic.Pointer[persistence.Reader] // reads claims while no shard runs here; nil: not opened yet
}

// shardOwners is the source of the live nodes and of the nodes that own shards.
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

// OwnerOf returns the node that owns the shard of a workspace. ok is false if no node owns the shard, or if this node
// is still starting it or hands it over.
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

// LocalClaim returns the best claim to an inbound call among the workspaces of this node's shards. Incomplete is true
// if a shard that this node owns cannot answer now.
func (v *clusterView) LocalClaim(ctx context.Context, q actornode.MatchQuery) (c location.Claim) {
	service, complete := v.running.serviceOf(v.ownsShard)
	c.Incomplete = !complete
	if service != nil {
		best, all := service.router.FindClaim(ctx, q)
		c.CallClaim, c.Incomplete = best, c.Incomplete || !all
	}
	return c
}

// HasTrunkTo reports whether a workspace on this node may have a trunk to a SIP peer at an address.
func (v *clusterView) HasTrunkTo(at netip.AddrPort) bool {
	service := v.running.currentService()
	if service == nil {
		return false
	}
	c, all := service.router.FindClaim(context.Background(), actornode.MatchQuery{Source: at})
	return !all || c.Rank > domain.ClaimNone
}

// StoredClaim reads from the store which workspace owns a number or a phone. The first byte of name is the kind, such
// as 'p' for a phone.
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

// QueryNode asks another node for its best claim to an inbound call. After an error that node may have a better claim
// than the returned one.
func (v *clusterView) QueryNode(ctx context.Context, addr string, q actornode.MatchQuery) (c location.Claim, err error) {
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

// QueryNodes asks all other nodes that own shards for their best claims to an inbound call. If it returns an error,
// claims of some nodes are missing.
func (v *clusterView) QueryNodes(ctx context.Context, q actornode.MatchQuery) ([]domain.NodeClaim, error) {
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

// handleClaimQuery answers HTTP requests of other nodes with the best claim of this node's workspaces to an inbound
// call.
func (v *clusterView) handleClaimQuery(w http.ResponseWriter, r *http.Request) {
	var q actornode.MatchQuery
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxClaimQuery)).Decode(&q); err != nil {
		http.Error(w, "the request is not a claim query", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), location.QueryTimeout)
	defer cancel()
	_ = json.NewEncoder(w).Encode(v.LocalClaim(ctx, q))
}
