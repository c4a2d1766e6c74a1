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

// Router gives what comes in by the one user agent of a process to the
// node whose workspace it is for. With one node it costs nothing. Nodes come
// and go while it works.
type Router struct {
	mu      sync.Mutex
	nodes   atomic.Pointer[[]*Node]
	ua      *sip.UserAgent
	holding map[*Node]bool                // which of them let no call begin
	drained atomic.Pointer[load.DrainNow] // no call begins in this process; nil: calls may
}

// IsDrained says whether an operator lets no call begin in this process.
func (s *Router) IsDrained() bool { return s.drained.Load() != nil }

// holdCalls lets no INVITE leave that begins a call as long as any node wants that.
// What a node that is gone has wanted does not count.
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

// wakeCampaigns has the campaigns of all nodes look again whether they may ring.
func (s *Router) wakeCampaigns() {
	for _, n := range s.all() {
		n.WakeCampaigns()
	}
}

// Add lets a node be found.
func (s *Router) Add(n *Node) { s.changeNodes(func(all []*Node) []*Node { return append(all, n) }) }

// Remove lets a node not be found any more.
func (s *Router) Remove(n *Node) {
	s.changeNodes(func(all []*Node) []*Node { return slices.DeleteFunc(all, func(x *Node) bool { return x == n }) })
	s.holdCalls(n, false)
}

func (s *Router) changeNodes(f func([]*Node) []*Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := f(slices.Clone(s.all()))
	s.nodes.Store(&all)
}

func (s *Router) all() []*Node {
	if all := s.nodes.Load(); all != nil {
		return *all
	}
	return nil
}

// Attach lets a user agent ask here, before it serves.
func (s *Router) Attach(ua *sip.UserAgent) {
	s.mu.Lock()
	s.ua = ua
	s.mu.Unlock()
	ua.OnInvite(s.receiveInvite)
	ua.OnMessage(s.receiveMessage)
	ua.SetRegistrar(registrar.Config{HasPhones: s.hasPhones, Account: s.findAccount, Presence: s.presenceOf, Update: s.registerPhone})
	ua.SetAdmission(s.admitSource)
}

// admitSource adds up what the nodes say of a source.
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

func (s *Router) hasPhones() bool {
	return slices.ContainsFunc(s.all(), func(n *Node) bool { return n.phones.HasPhones() })
}

func (s *Router) findAccount(user string) (auth.Account, bool) {
	for _, n := range s.all() {
		if a, known := n.phones.Account(user); known {
			return a, true
		}
	}
	return auth.Account{}, false
}

func (s *Router) presenceOf(from transport.Source) (out registrar.Presence) {
	for _, n := range s.all() {
		out = max(out, n.phones.PresenceAt(from))
	}
	return out
}

func (s *Router) registerPhone(u *registrar.Update) {
	for _, n := range s.all() {
		if _, known := n.phones.Phone(u.AccountID); known {
			n.registerPhone(u)
			return
		}
	}
	u.Refuse(sipUnavailable, overloadAfter)
}

// receiveInvite finds the node of a call: of the phone that calls, of whoever has
// ordered it, or else of the number, where several nodes have a trunk at its
// source.
func (s *Router) receiveInvite(in *sip.Incoming) {
	all := s.all()
	var at []*Node
	for _, n := range all {
		if n.isOwnInvite(in) {
			n.ReceiveInvite(in)
			return
		}
		if !n.IsStopping() && len(n.trunkSources.TrunksAt(in.Source)) > 0 {
			at = append(at, n)
		}
	}
	s.route(inboundRequest{
		candidates: at, forwarded: in.Through.IsValid(), deliver: func(n *Node) { n.ReceiveInvite(in) }, refuse: func(code int, after time.Duration) { in.Reject(code, after) },
		claim: func(ctx context.Context, n *Node) (domain.CallClaim, error) { return n.lookup.RankClaim(ctx, in) },
		mayMove: func(ctx context.Context, n *Node) bool {
			return n.lookup.MayBeElsewhere(ctx, in, func(workspace string) bool {
				return slices.ContainsFunc(all, func(n *Node) bool { return n.Workspace(workspace) != nil })
			})
		},
	}, all)
}

// isOwnInvite says whether a call is surely the node's.
func (n *Node) isOwnInvite(in *sip.Incoming) bool {
	if in.PhoneID != "" {
		_, known := n.phones.Phone(in.PhoneID)
		return known
	}
	_, ordered := n.testCalls.Order(in.Header[testcarrier.TestHeader])
	return ordered
}

// receiveMessage finds the node of a text message or of a report of one.
func (s *Router) receiveMessage(in *sip.IncomingMessage) {
	all := s.all()
	var at []*Node
	for _, n := range all {
		if !n.IsStopping() && len(n.trunkSources.TrunksAt(in.Source)) > 0 {
			at = append(at, n)
		}
	}
	s.route(inboundRequest{
		candidates: at, deliver: func(n *Node) { n.ReceiveMessage(in) }, refuse: in.Reply,
		claim: func(ctx context.Context, n *Node) (domain.CallClaim, error) { return n.claimMessage(ctx, in) },
	}, all)
}

// inboundRequest is what came in: who may know it, and what is to be done with it.
type inboundRequest struct {
	candidates []*Node // those that have a trunk at its source
	forwarded  bool    // another node of the install says that it belongs here
	claim      func(context.Context, *Node) (domain.CallClaim, error)
	mayMove    func(context.Context, *Node) bool // what was sent here belongs to a workspace that is not here; nil: nobody knows
	deliver    func(*Node)
	refuse     func(code int, after time.Duration)
}

// route gives what came in to the node with the best claim to it. Where none has
// any, the first
// that has a trunk at its source refuses it; but what another node of the
// install has sent here may be on the move with its workspace, and come again.
func (s *Router) route(a inboundRequest, all []*Node) {
	switch {
	case len(all) == 0 || len(a.candidates) == 0 && a.forwarded:
		a.refuse(sipUnavailable, overloadAfter)
		return
	case len(a.candidates) == 0:
		a.deliver(all[0])
		return
	case len(a.candidates) == 1 && !a.forwarded:
		a.deliver(a.candidates[0])
		return
	}
	first := a.candidates[0]
	if !first.routing.acquire() {
		a.refuse(sipUnavailable, overloadAfter)
		return
	}
	first.RunInBackground(func() {
		defer first.routing.release()
		ctx, cancel := context.WithTimeout(context.Background(), inboundLimit)
		defer cancel()
		i := a.bestClaim(ctx)
		if i < 0 && a.forwarded && (a.mayMove == nil || slices.ContainsFunc(a.candidates, func(n *Node) bool { return a.mayMove(ctx, n) })) {
			a.refuse(sipUnavailable, overloadAfter)
			return
		}
		a.deliver(a.candidates[max(i, 0)])
	})
}

// bestClaim is the place of the node with the best claim to it; -1: for none it is
// more than a source that is known.
func (a *inboundRequest) bestClaim(ctx context.Context) int {
	at, best := -1, domain.CallClaim{}
	for i, n := range a.candidates {
		if c, err := a.claim(ctx, n); err == nil && c.Rank > domain.ClaimSource && c.Precedes(best) {
			at, best = i, c
		}
	}
	return at
}
