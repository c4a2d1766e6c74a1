package sip

import (
	"sync/atomic"
	"time"
)

// Drain makes the user agent refuse new calls and answer OPTIONS with 503, so that a dispatcher sends them to another node;
// live dialogs go on. false ends it.
func (u *UserAgent) Drain(on bool) { u.calls.draining.Store(on) }

// HoldCalls holds back all initial INVITEs from its return on: Invite returns transport.ErrHeld, and a leg whose next INVITE
// would be due ends as Held. Live dialogs go on, and INVITEs that were sent before are retransmitted. false ends it.
func (u *UserAgent) HoldCalls(on bool) { u.calls.hold(on) }

// callGate decides whether calls may begin: inbound by Drain, outbound by HoldCalls, both by
// Config.MayCall.
type callGate struct {
	silent   bool        // Config.Silent: no call begins
	mayCall  func() bool // Config.MayCall; may be nil
	draining atomic.Bool
	held     atomic.Bool
	leaving  atomic.Int64 // INVITEs that are being sent
}

// Enter is called before an INVITE that begins a call is sent, Leave after it. may is
// Invite.May; nil: always.
func (g *callGate) Enter(may func() bool) bool {
	g.leaving.Add(1)
	return !g.isHeld(may)
}

// Leave follows every Enter.
func (g *callGate) Leave() { g.leaving.Add(-1) }

// isHeld tells whether an outbound call may not begin now.
func (g *callGate) isHeld(may func() bool) bool {
	return g.held.Load() || g.mayCall != nil && !g.mayCall() || may != nil && !may()
}

// isDraining tells whether inbound calls are refused.
func (g *callGate) isDraining() bool {
	return g.draining.Load() || g.silent || g.mayCall != nil && !g.mayCall()
}

// hold closes the gate, and returns once no INVITE is being sent.
func (g *callGate) hold(on bool) {
	g.held.Store(on)
	for on && g.leaving.Load() > 0 {
		<-time.After(time.Millisecond) // a write to a socket is bounded by the write timeout of the transport
	}
}
