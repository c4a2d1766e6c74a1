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

// The store may not contain the called number of a call, because a trunk writes numbers without their country code or
// has a catch-all number. Only the node with this trunk then knows the workspace. This node therefore queries all
// nodes that own shards (docs/adr/0087-nodes-ask-each-other-whose-a-call-is.md).

// cancelLifetime is how long a CANCEL finds the node of its call. A CANCEL lacks the credentials and header fields
// by which the INVITE was routed.
const cancelLifetime = 3 * time.Minute

// sipOptions is the SIP method OPTIONS. The source address alone decides which node answers such a request.
const sipOptions = "OPTIONS"

// concernsOtherNodes reports whether a workspace on another node may claim a request. It may claim requests outside of
// dialogs with certain methods.
func concernsOtherNodes(a cluster.OwnerQuery) bool {
	return !a.InDialog && slices.Contains([]string{"INVITE", "MESSAGE", "CANCEL", sipOptions}, a.Method)
}

// claimQuery returns the query by which nodes ask each other for claims to a SIP request. For OPTIONS it contains only
// the source address.
func claimQuery(a cluster.OwnerQuery) actornode.MatchQuery {
	q := actornode.MatchQuery{To: a.To, User: a.User, Source: a.Source.Addr, MatchFields: a.MatchFields}
	if a.Method == sipOptions {
		q.To, q.User, q.MatchFields = "", "", nil
	}
	return q
}

// cachedDispute returns the cached result of checkNumberClaim for a request and a stored number.
func (w *Finder) cachedDispute(a cluster.OwnerQuery, name string) (c location, known bool) {
	if c, known = w.lookUp(numberClaimKey(a, name, false)); known {
		return c, true
	}
	return w.lookUp(numberClaimKey(a, name, true))
}

// isDisputable reports whether the workspace that owns the called number must be compared with the workspaces that
// have a trunk to the source address. If another node owns the number, only a trunk on this node requires this.
func (w *Finder) isDisputable(a cluster.OwnerQuery, name, workspace string) bool {
	if name[0] != 'n' || !concernsOtherNodes(a) {
		return false
	}
	n, ok := w.cluster.OwnerOf(workspace)
	return ok && (n.ID == w.cluster.Self() || w.cluster.HasTrunkTo(a.Source.Addr))
}

// checkNumberClaim returns workspace if this owner of the called number may have the call, and "" otherwise. Any
// workspace may register a number that a carrier delivers to the catch-all number of another workspace's trunk. If
// that trunk is on this node, the owner of the number must have a trunk to the source address too.
func (w *Finder) checkNumberClaim(ctx context.Context, a cluster.OwnerQuery, name, workspace string) string {
	q := claimQuery(a)
	n, ok := w.cluster.OwnerOf(workspace)
	own, isValid := w.cluster.LocalClaim(ctx, q), true
	byHeader := own.ByHeader
	switch {
	case !ok || own.Incomplete && own.Rank < domain.ClaimCatchAll:
		return workspace
	case n.ID == w.cluster.Self():
		isValid = own.Rank >= domain.ClaimUnauthenticatedNumber
	case own.Rank < domain.ClaimCatchAll:
	case own.Rank == domain.ClaimNumber:
		isValid = false
	case !mayQueryNodes(a):
		return workspace
	default:
		other, err := w.cluster.QueryNode(ctx, n.Addr, q)
		byHeader = byHeader || other.ByHeader
		if err == nil { // if that node does not answer, the stored claim decides
			isValid = domain.BestClaim(own.CallClaim, []domain.NodeClaim{{CallClaim: other.CallClaim, Node: n.ID}}) >= 0
		}
	}
	if !isValid {
		workspace = ""
	}
	w.store(numberClaimKey(a, name, byHeader), location{workspace: workspace})
	return workspace
}

// cachedClaimant returns the cached node with the best claim to a call. known is false if the cache has no result.
func (w *Finder) cachedClaimant(a cluster.OwnerQuery) (c location, known bool) {
	q := claimQuery(a)
	for _, byHeader := range []bool{false, true} {
		if c, known = w.lookUp(callKey(q, byHeader)); known {
			return c, true
		}
	}
	return w.lookUp(sourceKey(q.Source))
}

// findClaimant returns the node with the best claim to a call, or "" for this node or none. After an error, isWeak of
// the result still tells whether the best known claim is weak.
func (w *Finder) findClaimant(ctx context.Context, a cluster.OwnerQuery) (c location, err error) {
	c, known := w.cachedClaimant(a)
	if known {
		return c, nil
	}
	q := claimQuery(a)
	own := w.cluster.LocalClaim(ctx, q)
	best, byHeader := own.CallClaim, own.ByHeader
	needed, sufficient := domain.ClaimNumber, domain.ClaimCatchAll
	if a.Method == sipOptions {
		needed, sufficient = domain.ClaimSource, domain.ClaimSource
	}
	var queryErr error
	if best.Rank < needed {
		var all []domain.NodeClaim
		if queryErr = errQueryLimit; mayQueryNodes(a) {
			all, queryErr = w.cluster.QueryNodes(ctx, q)
		}
		if own.Incomplete {
			queryErr = errors.Join(queryErr, errIncomplete)
		}
		byHeader = byHeader || slices.ContainsFunc(all, func(o domain.NodeClaim) bool { return o.ByHeader })
		if i := domain.BestClaim(best, all); i >= 0 {
			c.node, best = all[i].Node, all[i].CallClaim
		}
	}
	c.isWeak = best.Rank < domain.ClaimUnauthenticated
	switch {
	case queryErr != nil && best.Rank < sufficient:
		return c, queryErr // a node that did not answer may have a better claim
	case errors.Is(queryErr, errQueryLimit): // a later request may query the nodes
		return c, nil
	case best.Rank == domain.ClaimNone: // cached by source only, so that unknown callers cannot fill the cache
		w.store(sourceKey(q.Source), c)
		return c, nil
	}
	w.store(callKey(q, byHeader), c)
	if (q.User != "" || byHeader) && c.node != "" && a.Method == "INVITE" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cancels.put(cancelKey(a), c, time.Now())
	}
	return c, nil
}

// errIncomplete is the error of a claim lookup if a shard of this node cannot answer now.
var errIncomplete = errors.New("a shard of this node cannot answer claim queries now")

// errQueryLimit is the error of a claim lookup if the source address may cause no more queries to nodes now.
var errQueryLimit = errors.New("the claim query limit of this source is reached")

// mayQueryNodes reports whether the source address may cause a query to other nodes, and counts this query.
func mayQueryNodes(a cluster.OwnerQuery) bool { return a.AllowQuery == nil || a.AllowQuery() }

// addrOfNode returns the SIP address of the node with an ID. The second result is false if the node is this one.
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
