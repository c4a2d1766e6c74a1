package actors

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// CallQuestion asks whose a call or a text is, before it is taken.
type CallQuestion struct {
	To     string         `json:"to"`             // as the trunk writes it; "": only whether the source is known
	User   string         `json:"user,omitempty"` // that the caller says to be, by digest: nothing of it is proved here
	Source netip.AddrPort `json:"source"`
	// MatchFields are those of sip.Incoming.
	MatchFields map[string]string `json:"match_fields,omitempty"`
}

// errNumberAuthRequired: the number is somebody's of a trunk that the caller has not
// proved to be.
var errNumberAuthRequired = fmt.Errorf("%w, whose number it is", errAuthRequired)

// Whose is the best claim to a call of the nodes of this process that can say now;
// all: each could. Whose source nobody here knows costs no read of the store. A
// node that drains has its claims, too: it says that it takes nothing.
func (s *Switchboard) Whose(ctx context.Context, q CallQuestion) (best domain.CallClaim, all bool) {
	all = true
	for _, n := range s.all() {
		c, err := n.whose(ctx, q)
		hasMatch := best.ByHeader || c.ByHeader
		if err != nil {
			all = false
		} else if c.Beats(best) {
			best = c
		}
		best.ByHeader = hasMatch
	}
	return best, all
}

func (n *Node) whose(ctx context.Context, q CallQuestion) (domain.CallClaim, error) {
	entries := n.book.Of(q.Source)
	switch {
	case len(entries) == 0:
		return domain.CallClaim{}, nil
	case q.To == "":
		return domain.CallClaim{Rank: domain.ClaimSource, Since: entries[0].Trunk.CreatedAt, TrunkID: entries[0].Trunk.ID}, nil
	}
	in := &sip.Incoming{To: q.To, Source: q.Source, MatchFields: q.MatchFields}
	for i := range entries {
		if auth := entries[i].Trunk.Inbound.Auth; q.User != "" && auth != nil && auth.Username == q.User {
			in.Proved, in.TrunkID = true, entries[i].Trunk.ID // whoever takes the call finds out
			break
		}
	}
	if n.taking.Add(1) > mostTaken { // as of those that come here
		n.taking.Add(-1)
		return domain.CallClaim{}, errors.New("too many calls wait for the store")
	}
	defer n.taking.Add(-1)
	return n.claimOf(ctx, in)
}

// claimOf is how good a claim the node has to a call.
func (n *Node) claimOf(ctx context.Context, in *sip.Incoming) (domain.CallClaim, error) {
	number, e, err := n.numberOf(ctx, in)
	c := domain.CallClaim{Since: e.Trunk.CreatedAt, TrunkID: e.Trunk.ID, Named: in.Proved, ByHeader: slices.ContainsFunc(n.book.Of(in.Source), hasMatch)}
	switch {
	case err == nil && number.Number == "*":
		c.Rank, c.Since = domain.ClaimRest, n.restSince(ctx, in, e)
	case err == nil:
		c.Rank = domain.ClaimNumber
	case errors.Is(err, errNumberAuthRequired):
		c.Rank = domain.ClaimUnprovedNumber
	case errors.Is(err, errAuthRequired):
		c.Rank = domain.ClaimUnproved
	case errors.Is(err, errNoNumber) && e.Trunk.ID != "":
		c.Rank = domain.ClaimSource
	case errors.Is(err, errNoNumber):
	default:
		return domain.CallClaim{}, err
	}
	return c, nil
}

// restSince is when the oldest trunk was made that takes the rest of the calls
// for the workspace of e. Between workspaces its age counts, whichever of them
// takes the call.
func (n *Node) restSince(ctx context.Context, in *sip.Incoming, e trunk.Entry) time.Time {
	for _, x := range n.book.Of(in.Source) {
		if x.WorkspaceID != e.WorkspaceID || !admits(x, in) {
			continue
		}
		if num, err := n.catchAllOf(ctx, x); err == nil && num != nil {
			return x.Trunk.CreatedAt
		}
	}
	return e.Trunk.CreatedAt
}

// elsewhere says whether a call that none of the node's trunks takes may be for a
// workspace that is in no node of this process.
func (n *Node) elsewhere(ctx context.Context, in *sip.Incoming, here func(workspace string) bool) bool {
	tried := make(map[string]bool)
	for _, e := range n.book.Of(in.Source) {
		w := n.Workspace(e.WorkspaceID)
		if w == nil {
			return true
		}
		for _, text := range spellings(in.To, countryOf(&e.Trunk, w)) {
			if tried[text] {
				continue
			}
			tried[text] = true
			claim := &domain.NumberClaim{Number: text}
			if _, err := n.cfg.Store.Get(ctx, claim); err == nil && !here(claim.WorkspaceID) || err != nil && !errors.Is(err, domain.ErrNotFound) {
				return true
			}
		}
	}
	return false
}
