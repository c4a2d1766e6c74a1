package node

import (
	"context"
	"errors"
	"net/netip"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// ClaimQuery asks the nodes of a cluster which of them owns a call or a text message.
type ClaimQuery struct {
	To     string         `json:"to"`             // called number as the trunk writes it; "": query only whether the source is known
	User   string         `json:"user,omitempty"` // digest user name that the caller states; the receiver of the query does not verify it
	Source netip.AddrPort `json:"source"`         // address that sent the request
	// MatchFields are the header fields of sip.Incoming.MatchFields.
	MatchFields map[string]string `json:"match_fields,omitempty"`
}

// FindClaim returns the best claim to a call among the shards of this process. all is false if one of the shards
// could not answer. A source without trunks needs no read of the store. A draining shard has claims too: it refuses
// the call itself.
func (s *Router) FindClaim(ctx context.Context, q ClaimQuery) (best domain.CallClaim, all bool) {
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

// findClaim returns the claim of this node to a call.
func (n *Node) findClaim(ctx context.Context, q ClaimQuery) (domain.CallClaim, error) {
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
