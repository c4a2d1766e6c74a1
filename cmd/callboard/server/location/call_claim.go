package location

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/cluster"
)

// Whose a call is that no number of the store names, because its trunk writes
// numbers without their country or gives the rest of them to somebody, only the
// node knows that has the trunk: it knows the source. So all nodes that have work
// are asked (docs/adr/0077-sip-relay-between-nodes.md).

// cancelLifetime is how long a CANCEL finds the node of a call that was found by whom
// its credentials named, or by a header: it has none.
const cancelLifetime = 3 * time.Minute

// sipOptions asks only whether the source is known.
const sipOptions = "OPTIONS"

// concernsOtherNodes says whether other nodes may be asked whose a request is.
func concernsOtherNodes(a cluster.OwnerQuery) bool {
	return !a.InDialog && slices.Contains([]string{"INVITE", "MESSAGE", "CANCEL", sipOptions}, a.Method)
}

func claimQuery(a cluster.OwnerQuery) actornode.ClaimQuery {
	q := actornode.ClaimQuery{To: a.To, User: a.User, Source: a.Source.Addr, MatchFields: a.MatchFields}
	if a.Method == sipOptions {
		q.To, q.User, q.MatchFields = "", "", nil
	}
	return q
}

// cachedDispute is what is known of a number's claim against the trunks here.
func (w *Finder) cachedDispute(a cluster.OwnerQuery, name string) (c location, known bool) {
	if c, known = w.cached(disputeKey(a, name, false)); known {
		return c, true
	}
	return w.cached(disputeKey(a, name, true))
}

// isDisputable says whether a number's claim has to be held against the trunks here.
// One that leads to another node goes unasked where no trunk here leads to the
// source.
func (w *Finder) isDisputable(a cluster.OwnerQuery, name, workspace string) bool {
	if name[0] != 'n' || !concernsOtherNodes(a) {
		return false
	}
	n, ok := w.cluster.OwnerOf(workspace)
	return ok && (n.ID == w.cluster.Self() || w.cluster.HasTrunkTo(a.Source.Addr))
}

// checkNumberClaim is the workspace again if its claim to the number counts, else "": all
// nodes are asked then. Anybody may claim a number that comes over the trunk of
// another one for its rest, so where that trunk is here it goes to the number only
// where its own node says that it has a trunk there, too.
func (w *Finder) checkNumberClaim(ctx context.Context, a cluster.OwnerQuery, name, workspace string) string {
	q := claimQuery(a)
	n, ok := w.cluster.OwnerOf(workspace)
	own, counts := w.cluster.LocalClaim(ctx, q), true
	byHeader := own.ByHeader
	switch {
	case !ok || own.Incomplete && own.Rank < domain.ClaimCatchAll:
		return workspace
	case n.ID == w.cluster.Self():
		counts = own.Rank >= domain.ClaimUnauthenticatedNumber
	case own.Rank < domain.ClaimCatchAll:
	case own.Rank == domain.ClaimNumber:
		counts = false
	case !mayQueryNodes(a):
		return workspace
	default:
		its, err := w.cluster.QueryNode(ctx, n.Addr, q)
		byHeader = byHeader || its.ByHeader
		if err == nil { // one that does not answer is found by the number alone
			counts = domain.BestClaim(own.CallClaim, []domain.NodeClaim{{CallClaim: its.CallClaim, Node: n.ID}}) >= 0
		}
	}
	if !counts {
		workspace = ""
	}
	w.cache(disputeKey(a, name, byHeader), location{workspace: workspace})
	return workspace
}

// cachedClaimant is the node that has the best claim, from memory; known is false
// where that does not say.
func (w *Finder) cachedClaimant(a cluster.OwnerQuery) (c location, known bool) {
	q := claimQuery(a)
	for _, byHeader := range []bool{false, true} {
		if c, known = w.cached(callKey(q, byHeader)); known {
			return c, true
		}
	}
	return w.cached(sourceKey(q.Source))
}

// findClaimant finds the node that has the best claim; "": this one has, or nobody.
// With an error it says whether the claim that is known is weak.
func (w *Finder) findClaimant(ctx context.Context, a cluster.OwnerQuery) (c location, err error) {
	c, known := w.cachedClaimant(a)
	if known {
		return c, nil
	}
	q := claimQuery(a)
	own := w.cluster.LocalClaim(ctx, q)
	best, byHeader := own.CallClaim, own.ByHeader
	last, enough := domain.ClaimNumber, domain.ClaimCatchAll
	if a.Method == sipOptions {
		last, enough = domain.ClaimSource, domain.ClaimSource
	}
	var unheard error
	if best.Rank < last {
		var all []domain.NodeClaim
		if unheard = errQueryLimit; mayQueryNodes(a) {
			all, unheard = w.cluster.QueryNodes(ctx, q)
		}
		if own.Incomplete {
			unheard = errors.Join(unheard, errIncomplete)
		}
		byHeader = byHeader || slices.ContainsFunc(all, func(o domain.NodeClaim) bool { return o.ByHeader })
		if i := domain.BestClaim(best, all); i >= 0 {
			c.node, best = all[i].Node, all[i].CallClaim
		}
	}
	c.isWeak = best.Rank < domain.ClaimUnauthenticated
	switch {
	case unheard != nil && best.Rank < enough:
		return c, unheard // who does not answer may have it
	case errors.Is(unheard, errQueryLimit): // the next one may ask
		return c, nil
	case best.Rank == domain.ClaimNone: // so that strangers fill nothing by what they call
		w.cache(sourceKey(q.Source), c)
		return c, nil
	}
	w.cache(callKey(q, byHeader), c)
	if (q.User != "" || byHeader) && c.node != "" && a.Method == "INVITE" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cancels.put(cancelKey(a), c, time.Now())
	}
	return c, nil
}

// errIncomplete: this node cannot speak for all of its shards now.
var errIncomplete = errors.New("this node cannot speak for all of its shards now")

// errAskLimit: nodes were asked for the source as often as they may.
var errQueryLimit = errors.New("no other node is asked for this source now")

// mayQueryNodes says whether other nodes may be asked whose a request is, once.
func mayQueryNodes(a cluster.OwnerQuery) bool { return a.AllowQuery == nil || a.AllowQuery() }

// addrOfNode is where a node takes SIP; "": here.
func (w *Finder) addrOfNode(id string) (netip.AddrPort, bool) {
	if id == "" {
		return netip.AddrPort{}, false
	}
	for _, n := range w.cluster.LiveNodes() {
		if n.ID == id {
			return w.addrOf(n)
		}
	}
	return netip.AddrPort{}, true
}
