package node

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/testcarrier"
	"github.com/callboard/callboard/sip/transport"
)

// Router routes the inbound SIP requests of a process to the node that owns the called workspace. A process has one
// user agent and a node for each of its shards. Nodes may be added and removed at any time. With one node the router
// does not read the store.
type Router struct {
	mu      sync.Mutex
	nodes   atomic.Pointer[[]*Node]
	ua      *sip.UserAgent
	holding map[*Node]bool                // nodes that currently allow no new calls
	drained atomic.Pointer[load.DrainNow] // drain that an operator has set for this process; nil: calls may begin
}

// IsDrained reports whether an operator has drained this process, so that it accepts no new calls.
func (s *Router) IsDrained() bool { return s.drained.Load() != nil }

// holdCalls sets whether node n allows no new calls. While at least one node allows none, the user agent sends no
// INVITEs that begin a call. Removed nodes do not count.
func (s *Router) holdCalls(n *Node, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on && slices.Contains(s.all(), n) {
		if s.holding == nil {
			s.holding = make(map[*Node]bool)
		}
		s.holding[n] = true
	} else {
		delete(s.holding, n)
	}
	if s.ua != nil {
		s.ua.SuspendCalls(len(s.holding) > 0)
	}
}

// wakeCampaigns makes the campaigns of all nodes check again whether they may dial.
func (s *Router) wakeCampaigns() {
	for _, n := range s.all() {
		n.WakeCampaigns()
	}
}

// Add adds a node, which then receives the inbound requests for its workspaces.
func (s *Router) Add(n *Node) { s.changeNodes(func(all []*Node) []*Node { return append(all, n) }) }

// Remove removes a node, which then receives no more inbound requests.
func (s *Router) Remove(n *Node) {
	s.changeNodes(func(all []*Node) []*Node { return slices.DeleteFunc(all, func(x *Node) bool { return x == n }) })
	s.holdCalls(n, false)
}

// changeNodes replaces the list of nodes by the result of f.
func (s *Router) changeNodes(f func([]*Node) []*Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := f(slices.Clone(s.all()))
	s.nodes.Store(&all)
}

// all returns the nodes of the process.
func (s *Router) all() []*Node {
	if all := s.nodes.Load(); all != nil {
		return *all
	}
	return nil
}

// Attach connects the router to a user agent. The caller calls it before the user agent serves requests.
func (s *Router) Attach(ua *sip.UserAgent) {
	s.mu.Lock()
	s.ua = ua
	s.mu.Unlock()
	ua.OnInvite(s.receiveInvite)
	ua.OnMessage(s.receiveMessage)
	ua.SetRegistrar(registrar.Config{HasPhones: s.hasPhones, Account: s.findAccount, Presence: s.presenceOf, Update: s.registerPhone})
	ua.SetAdmission(s.admitSource)
}

// admitSource returns whether a source address may send requests and must authenticate, combined from all nodes.
func (s *Router) admitSource(from transport.Source) (out sip.Admission) {
	for _, n := range s.all() {
		a := n.trunkSources.Admit(from)
		switch {
		case !a.Allow:
		case !out.Allow:
			out = a
		default:
			out.RequireAuthentication = out.RequireAuthentication && a.RequireAuthentication
			out.Account, out.Realm = firstAccount(out.Account, a.Account), cmp.Or(out.Realm, a.Realm)
		}
	}
	return out
}

// firstAccount returns a lookup of digest accounts that calls one, and then other if one does not know the user
// name. Either may be nil.
func firstAccount(one, other func(string) (auth.Account, bool)) func(string) (auth.Account, bool) {
	if one == nil || other == nil {
		if one == nil {
			return other
		}
		return one
	}
	return func(user string) (auth.Account, bool) {
		if a, known := one(user); known {
			return a, true
		}
		return other(user)
	}
}

// hasPhones reports whether at least one node has phones that may register.
func (s *Router) hasPhones() bool {
	return slices.ContainsFunc(s.all(), func(n *Node) bool { return n.phones.HasPhones() })
}

// findAccount returns the digest account of the phone with a user name.
func (s *Router) findAccount(user string) (auth.Account, bool) {
	for _, n := range s.all() {
		if a, known := n.phones.Account(user); known {
			return a, true
		}
	}
	return auth.Account{}, false
}

// presenceOf returns the strongest presence of a phone at a source address that any node reports.
func (s *Router) presenceOf(from transport.Source) (out registrar.Presence) {
	for _, n := range s.all() {
		out = max(out, n.phones.PresenceAt(from))
	}
	return out
}

// registerPhone passes a REGISTER to the node that owns the phone.
func (s *Router) registerPhone(u *registrar.Update) {
	for _, n := range s.all() {
		if _, known := n.phones.Phone(u.AccountID); known {
			n.registerPhone(u)
			return
		}
	}
	u.Refuse(sipUnavailable, overloadAfter)
}

// receiveInvite passes an INVITE to the node that owns the call. That is the node of the calling phone, the node
// that requested the test call, or else the node of the called number.
func (s *Router) receiveInvite(in *sip.Incoming) {
	all := s.all()
	var candidates []*Node
	for _, n := range all {
		if n.isOwnInvite(in) {
			n.ReceiveInvite(in)
			return
		}
		if !n.IsStopping() && len(n.trunkSources.TrunksAt(in.Source)) > 0 {
			candidates = append(candidates, n)
		}
	}
	s.route(inboundRequest{
		candidates: candidates, forwarded: in.Through.IsValid(), deliver: func(n *Node) { n.ReceiveInvite(in) }, refuse: func(code int, after time.Duration) { in.Reject(code, after) },
		claim: func(ctx context.Context, n *Node) (domain.CallClaim, error) { return n.lookup.RankClaim(ctx, in) },
		mayMove: func(ctx context.Context, n *Node) bool {
			return n.lookup.MayBeElsewhere(ctx, in, func(workspace string) bool {
				return slices.ContainsFunc(all, func(n *Node) bool { return n.Workspace(workspace) != nil })
			})
		},
	}, all)
}

// isOwnInvite reports whether an INVITE comes from a phone of this node or belongs to a test call that this node
// requested. No other node can own such a call.
func (n *Node) isOwnInvite(in *sip.Incoming) bool {
	if in.PhoneID != "" {
		_, known := n.phones.Phone(in.PhoneID)
		return known
	}
	_, ordered := n.testCalls.Order(in.Header[testcarrier.TestHeader])
	return ordered
}

// receiveMessage passes a SIP MESSAGE, which contains a text or a delivery report, to the node that owns it.
func (s *Router) receiveMessage(in *sip.IncomingMessage) {
	all := s.all()
	var candidates []*Node
	for _, n := range all {
		if !n.IsStopping() && len(n.trunkSources.TrunksAt(in.Source)) > 0 {
			candidates = append(candidates, n)
		}
	}
	s.route(inboundRequest{
		candidates: candidates, deliver: func(n *Node) { n.ReceiveMessage(in) }, refuse: in.Reply,
		claim: func(ctx context.Context, n *Node) (domain.CallClaim, error) { return n.claimMessage(ctx, in) },
	}, all)
}

// inboundRequest is an INVITE or a MESSAGE together with the nodes that may own its workspace.
type inboundRequest struct {
	candidates []*Node // nodes with a trunk at the source address
	forwarded  bool    // another node of the cluster forwarded the request to this process
	claim      func(context.Context, *Node) (domain.CallClaim, error)
	mayMove    func(context.Context, *Node) bool // reports whether the workspace of a forwarded request may be moving between nodes; nil: unknown
	deliver    func(*Node)
	refuse     func(code int, after time.Duration)
}

// route passes a request to the node whose trunks and numbers match it best. If none matches, the first node with a
// trunk at the source address refuses it. The workspace of a request that another node forwarded may be moving
// between nodes: then the response is 503, so that the sender repeats the request.
func (s *Router) route(r inboundRequest, all []*Node) {
	switch {
	case len(all) == 0 || len(r.candidates) == 0 && r.forwarded:
		r.refuse(sipUnavailable, overloadAfter)
		return
	case len(r.candidates) == 0:
		r.deliver(all[0])
		return
	case len(r.candidates) == 1 && !r.forwarded:
		r.deliver(r.candidates[0])
		return
	}
	first := r.candidates[0]
	if !first.routing.acquire() {
		r.refuse(sipUnavailable, overloadAfter)
		return
	}
	first.RunInBackground(func() {
		defer first.routing.release()
		ctx, cancel := context.WithTimeout(context.Background(), inboundLimit)
		defer cancel()
		best := r.bestClaim(ctx)
		if best < 0 && r.forwarded && (r.mayMove == nil || slices.ContainsFunc(r.candidates, func(n *Node) bool { return r.mayMove(ctx, n) })) {
			r.refuse(sipUnavailable, overloadAfter)
			return
		}
		r.deliver(r.candidates[max(best, 0)])
	})
}

// bestClaim returns the index in candidates of the node that matches the request best. It returns -1 if no node
// matches more than the source address.
func (r *inboundRequest) bestClaim(ctx context.Context) int {
	index, best := -1, domain.CallClaim{}
	for i, n := range r.candidates {
		if c, err := r.claim(ctx, n); err == nil && c.Rank > domain.ClaimSource && c.Precedes(best) {
			index, best = i, c
		}
	}
	return index
}
