package domain

import (
	"cmp"
	"time"
)

// ClaimRank ranks how well an inbound call fits the numbers and trunks of one process, before the caller is
// authenticated. The process with the highest rank gets the call.
type ClaimRank int

// Ranks of a claim in ascending order.
const (
	ClaimNone                  ClaimRank = iota // the source address matches no trunk
	ClaimSource                                 // the source matches a trunk, but the called number is unknown
	ClaimUnauthenticated                        // the source matches a trunk that requires authentication
	ClaimCatchAll                               // the trunk has a catch-all number
	ClaimUnauthenticatedNumber                  // the called number belongs to a trunk that requires authentication
	ClaimNumber                                 // the called number belongs to the trunk
)

// CallClaim states how well an inbound call fits the workspaces on one process. Several processes claim a call if their
// workspaces have trunks with the same source address.
type CallClaim struct {
	Rank               ClaimRank `json:"rank"`
	Since              time.Time `json:"since,omitzero"`     // creation time of the trunk
	TrunkID            string    `json:"trunk_id,omitempty"` // empty only for ClaimNone
	NamedByCredentials bool      `json:"named,omitempty"`    // the credentials of the caller belong to the trunk
	// ByHeader means that a trunk at the source address selects its calls by a header (TrunkMatch). The next call from
	// that address to the same number may belong to another trunk.
	ByHeader bool `json:"by_header,omitempty"`
}

// order returns the precedence of a claim. The claim with the highest value gets the call. If the caller sends the digest
// credentials of a trunk, the catch-all number (*) of this trunk precedes a number of another trunk that requires
// authentication. An authenticated caller reaches numbers of its own trunk only.
func (c CallClaim) order() int {
	if c.NamedByCredentials && c.Rank == ClaimCatchAll {
		return 2*int(ClaimUnauthenticatedNumber) + 1
	}
	return 2 * int(c.Rank)
}

// Precedes reports whether the claim wins over o. The better rank wins. Between equal ranks the older trunk wins,
// so that a new trunk takes no calls from an existing trunk.
func (c CallClaim) Precedes(o CallClaim) bool {
	return cmp.Or(cmp.Compare(o.order(), c.order()), c.Since.Compare(o.Since), cmp.Compare(c.TrunkID, o.TrunkID)) < 0
}

// NodeClaim is a claim to an inbound call by another process of the cluster.
type NodeClaim struct {
	CallClaim

	Node string // ID of the process
}

// BestClaim returns the index of the claim in others that gets the call, or -1 if own precedes all of them. A claim of
// rank ClaimSource counts only if own has the rank ClaimNone.
func BestClaim(own CallClaim, others []NodeClaim) int {
	at, best := -1, own
	for i, o := range others {
		if o.Rank > min(own.Rank, ClaimSource) && o.Precedes(best) {
			at, best = i, o.CallClaim
		}
	}
	return at
}
