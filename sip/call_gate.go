package sip

import (
	"sync/atomic"
	"time"
)

// Drain makes the user agent refuse new calls and answer OPTIONS with 503, so that a dispatcher sends them to another node;
// live dialogs go on. false ends it.
func (u *UserAgent) Drain(on bool) { u.calls.draining.Store(on) }

// SuspendCalls holds back all initial INVITEs from its return on: Invite returns transport.ErrHeld, and a leg whose next INVITE
// would be due ends as Held. Live dialogs go on, and INVITEs that were sent before are retransmitted. false ends it.
func (u *UserAgent) SuspendCalls(on bool) { u.calls.suspend(on) }

// callGate decides whether calls may begin: inbound by Drain, outbound by HoldCalls, both by
// Config.MayCall.
type callGate struct {
	silent           bool        // Config.Silent: no call begins
	mayCall          func() bool // Config.MayCall; may be nil
	draining         atomic.Bool
	suspended        atomic.Bool
	invitesBeingSent atomic.Int64 // INVITEs that are being sent
}

// EnterCall is called before an INVITE that begins a call is sent, Leave after it. may is
// Invite.May; nil: always.
func (g *callGate) EnterCall(may func() bool) bool {
	g.invitesBeingSent.Add(1)
	return !g.isSuspended(may)
}

// LeaveCall follows every Enter.
func (g *callGate) LeaveCall() { g.invitesBeingSent.Add(-1) }

// isSuspended tells whether an outbound call may not begin now.
func (g *callGate) isSuspended(may func() bool) bool {
	return g.suspended.Load() || g.mayCall != nil && !g.mayCall() || may != nil && !may()
}

// isDraining tells whether inbound calls are refused.
func (g *callGate) isDraining() bool {
	return g.draining.Load() || g.silent || g.mayCall != nil && !g.mayCall()
}

// suspend closes the gate, and returns once no INVITE is being sent.
func (g *callGate) suspend(on bool) {
	g.suspended.Store(on)
	for on && g.invitesBeingSent.Load() > 0 {
		<-time.After(time.Millisecond) // a write to a socket is bounded by the write timeout of the transport
	}
}
