package location

import (
	"context"
	"net/netip"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/lease"
)

// Claim is the reply of a node to a claim query: the best claim of its workspaces to an inbound call.
type Claim struct {
	domain.CallClaim

	Incomplete bool `json:"part,omitempty"` // a shard of the node could not answer
}

// Cluster answers which nodes and workspaces claim a call, as one node of the cluster sees them.
type Cluster interface {
	Self() string                                                                       // ID of this node
	LiveNodes() []lease.Node                                                            // nodes with a lease
	OwnerOf(workspace string) (n lease.Node, ok bool)                                   // ok is false while no node accepts the workspace's calls
	HasTrunkTo(at netip.AddrPort) bool                                                  // a trunk of this node's shards leads there; reads no store
	StoredClaim(ctx context.Context, name string) (workspace string, err error)         // workspace of a number or phone in the store; "": none
	LocalClaim(ctx context.Context, q actornode.MatchQuery) Claim                       // best claim of this node's shards
	QueryNode(ctx context.Context, addr string, q actornode.MatchQuery) (Claim, error)  // claim of one other node
	QueryNodes(ctx context.Context, q actornode.MatchQuery) ([]domain.NodeClaim, error) // claims of all other nodes that own shards
}
