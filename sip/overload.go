package sip

import (
	"errors"
	"net/netip"
	"time"
)

// Drain makes the user agent refuse new calls and answer OPTIONS with 503, so
// that whoever spreads calls sends them elsewhere; live dialogs go on. false
// takes it back.
func (u *UserAgent) Drain(on bool) { u.draining.Store(on) }

// drains says whether no call is taken: by Drain, or because none may be begun
// by Config.MayCall.
func (u *UserAgent) drains() bool {
	return u.draining.Load() || u.cfg.Silent || u.cfg.MayCall != nil && !u.cfg.MayCall()
}

// ErrHeld says that no call may be begun now: see HoldCalls.
var ErrHeld = errors.New("sip: calls are held back")

// ErrSilent says that no request leaves: see Config.Silent.
var ErrSilent = errors.New("sip: no request leaves this user agent")

// HoldCalls lets no INVITE leave that begins a call, from its return on: Invite
// answers ErrHeld, and a leg whose next INVITE would be due ends as Held. Live
// dialogs go on, what was sent before is sent again where nobody answers it.
// false takes it back.
func (u *UserAgent) HoldCalls(on bool) {
	u.held.Store(on)
	for on && u.leaving.Load() > 0 {
		<-time.After(time.Millisecond) // a write to a socket, which has tcpWrite at most
	}
}

// leaves is asked before an INVITE is sent; sent is called after it, whatever
// the answer was.
func (u *UserAgent) leaves(may func() bool) bool {
	u.leaving.Add(1)
	return !u.holds(may)
}

// holds says whether a call may not be begun now, by HoldCalls, Config.MayCall
// or its own Invite.May.
func (u *UserAgent) holds(may func() bool) bool {
	return u.held.Load() || u.cfg.MayCall != nil && !u.cfg.MayCall() || may != nil && !may()
}

// barred says whether nobody may be called by way of a dialog now.
func (d *Dialog) barred() bool {
	if d.out == nil {
		return d.ua.holds(nil)
	}
	return d.ua.holds(d.out.inv.May)
}

func (u *UserAgent) sent() { u.leaving.Add(-1) }

// overloaded tells whether a new call has to be refused before it costs
// anything: we are draining, fall behind with reading, or hold too many calls
// that nobody has answered yet, from everywhere or from this host.
func (u *UserAgent) overloaded(m *received) bool {
	switch {
	case u.drains():
		return true
	case m.waited > u.cfg.OverloadAfter:
		u.stats.late.Add(1)
		return true
	case u.stats.halfOpen.Load() >= int64(u.cfg.MaxHalfOpen) || u.halfOpenOf(m.source().Addr.Addr()) >= u.cfg.MaxHalfOpen-u.cfg.MaxHalfOpen/4:
		u.stats.full.Add(1)
		return true
	}
	return false
}

func (u *UserAgent) halfOpenOf(host netip.Addr) int {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.halfBy[host]
}

// halfOpened counts the unanswered calls of a host.
func (u *UserAgent) halfOpened(host netip.Addr, n int) {
	u.stats.halfOpen.Add(int64(n))
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.halfBy[host] += n; u.halfBy[host] <= 0 {
		delete(u.halfBy, host)
	}
}

// behindFor is how long one message that waited counts.
const behindFor = time.Second

// fellBehind notes that a message had to wait until we read it.
func (u *UserAgent) fellBehind(waited time.Duration) {
	if waited > u.cfg.OverloadAfter/4 {
		u.behind.Store(time.Now().Add(behindFor).UnixNano())
	}
}

// Behind says whether messages wait too long to be read: a quarter of what
// makes us refuse calls. Whoever can put off new calls should, so that those
// that come in are taken.
func (u *UserAgent) Behind() bool { return time.Now().UnixNano() < u.behind.Load() }
