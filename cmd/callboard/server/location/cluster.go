package location

import (
	"context"
	"net/netip"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/lease"
)

// Claim is what a node answers.
type Claim struct {
	domain.CallClaim

	Incomplete bool `json:"part,omitempty"` // it cannot speak for all of its shards now
}

// Cluster is what is known of all nodes, and of this one's own seats.
type Cluster interface {
	Self() string                                                                       // the ID of this node
	LiveNodes() []lease.Node                                                            // all that live
	OwnerOf(workspace string) (n lease.Node, ok bool)                                   // ok false: nobody takes what is for it now
	HasTrunkTo(at netip.AddrPort) bool                                                  // a trunk of the seats here leads there; without a read
	StoredClaim(ctx context.Context, name string) (workspace string, err error)         // of a number or phone, by the store; "": nobody's
	LocalClaim(ctx context.Context, q actornode.ClaimQuery) Claim                       // of the seats here
	QueryNode(ctx context.Context, addr string, q actornode.ClaimQuery) (Claim, error)  // of one other node
	QueryNodes(ctx context.Context, q actornode.ClaimQuery) ([]domain.NodeClaim, error) // of all others that have work
}
