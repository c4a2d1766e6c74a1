package domain

import (
	"cmp"
	"time"
)

// ClaimRank ranks how well an inbound call fits the numbers and trunks of one process, before the caller is
// authenticated. The process with the highest rank gets the call.
type ClaimRank int

// The ranks in ascending order.
const (
	ClaimNone                  ClaimRank = iota // the source address matches no trunk
	ClaimSource                                 // the source matches a trunk, but the called number is unknown
	ClaimUnauthenticated                        // the source matches a trunk that requires authentication
	ClaimCatchAll                               // the trunk has a catch-all number
	ClaimUnauthenticatedNumber                  // the called number belongs to a trunk that requires authentication
	ClaimNumber                                 // the called number belongs to the trunk
)

// CallClaim is the best claim of one process to an inbound call. Several processes claim a call if their workspaces
// have trunks with the same source address.
type CallClaim struct {
	Rank               ClaimRank `json:"rank"`
	Since              time.Time `json:"since,omitzero"`     // creation time of the trunk
	TrunkID            string    `json:"trunk_id,omitempty"` // empty only for ClaimNone
	NamedByCredentials bool      `json:"named,omitempty"`    // the credentials of the caller belong to the trunk
	// ByHeader means that a trunk at the source address selects its calls by a header (TrunkMatch). The next call from
	// that address to the same number may belong to another trunk.
	ByHeader bool `json:"by_header,omitempty"`
}

// order returns the precedence of a node's claim to an inbound call; the highest claim gets the call. The
// catch-all number (*) of a trunk whose digest credentials the caller sends precedes a number of another trunk
// that requires authentication, because an authenticated caller reaches numbers of its own trunk only.
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

// NodeClaim is the claim of another process.
type NodeClaim struct {
	CallClaim

	Node string // ID of the process
}

// BestClaim returns the index of the claim of another process that wins over the own claim, or -1. A claim of rank
// ClaimSource counts only if the own process does not know the source.
func BestClaim(own CallClaim, others []NodeClaim) int {
	at, best := -1, own
	for i, o := range others {
		if o.Rank > min(own.Rank, ClaimSource) && o.Precedes(best) {
			at, best = i, o.CallClaim
		}
	}
	return at
}
