package sip

import (
	"sync/atomic"
	"time"
)

// Drain makes the user agent refuse new calls and answer OPTIONS with 503, so that a dispatcher sends calls to another
// node. Live dialogs go on. Drain(false) ends the draining.
func (u *UserAgent) Drain(on bool) { u.calls.draining.Store(on) }

// SuspendCalls stops the user agent from sending initial INVITEs. None is sent after it has returned. Invite then
// returns transport.ErrCallsSuspended, and a leg whose next INVITE is due ends with Final.CallsSuspended. Live dialogs
// go on, and INVITEs that were already sent are retransmitted. SuspendCalls(false) ends the suspension.
func (u *UserAgent) SuspendCalls(on bool) { u.calls.suspend(on) }

// callGate decides whether calls may begin. Drain stops inbound calls, SuspendCalls stops outbound calls, and
// Config.MayCall may stop both.
type callGate struct {
	silent           bool        // Config.Silent: no call begins
	mayCall          func() bool // Config.MayCall; may be nil
	draining         atomic.Bool
	suspended        atomic.Bool
	invitesBeingSent atomic.Int64 // INVITEs that are being sent
}

// EnterCall is called before an INVITE that begins a call is sent, and LeaveCall after it. may is Invite.MayBegin and
// may be nil. EnterCall returns whether the INVITE may be sent.
func (g *callGate) EnterCall(may func() bool) bool {
	g.invitesBeingSent.Add(1)
	return !g.isSuspended(may)
}

// LeaveCall must be called after each EnterCall, even if EnterCall returned false.
func (g *callGate) LeaveCall() { g.invitesBeingSent.Add(-1) }

// isSuspended reports whether no outbound call may begin now.
func (g *callGate) isSuspended(may func() bool) bool {
	return g.suspended.Load() || g.mayCall != nil && !g.mayCall() || may != nil && !may()
}

// isDraining reports whether inbound calls are refused.
func (g *callGate) isDraining() bool {
	return g.draining.Load() || g.silent || g.mayCall != nil && !g.mayCall()
}

// suspend starts or ends the suspension of outbound calls. When it starts, suspend returns once no INVITE is being sent.
func (g *callGate) suspend(on bool) {
	g.suspended.Store(on)
	for on && g.invitesBeingSent.Load() > 0 {
		<-time.After(time.Millisecond) // a write to a socket is bounded by the write timeout of the transport
	}
}
