package node

import (
	"context"
	"errors"
	"net/netip"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// MatchQuery asks each node of a cluster how well an inbound call or SMS message matches its trunks and numbers.
type MatchQuery struct {
	To     string         `json:"to"`             // called number as the trunk writes it; "": asks only whether a trunk has the source address
	User   string         `json:"user,omitempty"` // digest user name that the caller states; the receiver of the query does not verify it
	Source netip.AddrPort `json:"source"`         // address that sent the request
	// MatchFields are the header fields by which trunks recognize their requests (sip.Incoming.MatchFields).
	MatchFields map[string]string `json:"match_fields,omitempty"`
}

// FindClaim returns the best claim of the shards of this process: how well a call matches their trunks and numbers.
// all is false if one of the shards could not answer. A shard without trunks at the source address reads no rows.
// A draining shard also returns its claim, because it refuses the call itself.
func (s *Router) FindClaim(ctx context.Context, q MatchQuery) (best domain.CallClaim, all bool) {
	all = true
	for _, n := range s.all() {
		c, err := n.findClaim(ctx, q)
		hasMatch := best.ByHeader || c.ByHeader
		if err != nil {
			all = false
		} else if c.Precedes(best) {
			best = c
		}
		best.ByHeader = hasMatch
	}
	return best, all
}

// findClaim returns how well a call matches the trunks and numbers of this node.
func (n *Node) findClaim(ctx context.Context, q MatchQuery) (domain.CallClaim, error) {
	entries := n.trunkSources.TrunksAt(q.Source)
	switch {
	case len(entries) == 0:
		return domain.CallClaim{}, nil
	case q.To == "":
		return domain.CallClaim{Rank: domain.ClaimSource, Since: entries[0].Trunk.CreatedAt, TrunkID: entries[0].Trunk.ID}, nil
	}
	in := &sip.Incoming{To: q.To, Source: q.Source, MatchFields: q.MatchFields}
	for i := range entries {
		if auth := entries[i].Trunk.Inbound.Auth; q.User != "" && auth != nil && auth.Username == q.User {
			in.IsAuthenticated, in.TrunkID = true, entries[i].Trunk.ID // the node that receives the call verifies the digest
			break
		}
	}
	if !n.routing.acquire() {
		return domain.CallClaim{}, errors.New("too many calls wait for the store")
	}
	defer n.routing.release()
	return n.lookup.RankClaim(ctx, in)
}
