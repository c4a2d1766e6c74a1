package domain

import (
	"cmp"
	"time"
)

// ClaimRank says how a call is somebody's, by what is known before it is taken.
// The order is that in which a call is given away.
type ClaimRank int

// The ranks, the worst first.
const (
	ClaimNone                  ClaimRank = iota // the caller is nobody's trunk
	ClaimSource                                 // a trunk leads there, and the number is nobody's
	ClaimUnauthenticated                        // a trunk leads there which the caller would have to prove to be
	ClaimCatchAll                               // the rest of a trunk
	ClaimUnauthenticatedNumber                  // the number is somebody's whose trunk the caller would have to prove to be
	ClaimNumber                                 // the number is somebody's over that trunk
)

// CallClaim is the best claim that one process has to a call. Several have one
// where their workspaces have trunks at the same source.
type CallClaim struct {
	Rank               ClaimRank `json:"rank"`
	Since              time.Time `json:"since,omitzero"`     // its trunk is there
	TrunkID            string    `json:"trunk_id,omitempty"` // "" only with ClaimNone
	NamedByCredentials bool      `json:"named,omitempty"`    // the caller's credentials name the trunk
	// ByHeader says that a trunk at the source takes calls by a header
	// (TrunkMatch): the next call from there to the same number may be another's.
	ByHeader bool `json:"by_header,omitempty"`
}

// order is the place of a claim, the higher the better. The rest of the trunk that
// the caller says to be goes before a number whose trunk it does not: in one
// process who has proved to be a trunk is looked for at that trunk alone.
func (c CallClaim) order() int {
	if c.NamedByCredentials && c.Rank == ClaimCatchAll {
		return 2*int(ClaimUnauthenticatedNumber) + 1
	}
	return 2 * int(c.Rank)
}

// Precedes says whether a claim goes before another one: the better, and of two that
// are alike that of the older trunk, so that a later one takes no calls from one
// that was there.
func (c CallClaim) Precedes(o CallClaim) bool {
	return cmp.Or(cmp.Compare(o.order(), c.order()), c.Since.Compare(o.Since), cmp.Compare(c.TrunkID, o.TrunkID)) < 0
}

// NodeClaim is the claim of another process.
type NodeClaim struct {
	CallClaim

	Node string // its id
}

// BestClaim is the place of the other process that goes before one's own claim;
// -1: none does. To know the source and nothing else is a claim only where one
// does not know it oneself.
func BestClaim(own CallClaim, others []NodeClaim) int {
	at, best := -1, own
	for i, o := range others {
		if o.Rank > min(own.Rank, ClaimSource) && o.Precedes(best) {
			at, best = i, o.CallClaim
		}
	}
	return at
}
