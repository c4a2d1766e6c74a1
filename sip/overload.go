package sip

import "net/netip"

// Drain makes the user agent refuse new calls and answer OPTIONS with 503, so
// that whoever spreads calls sends them elsewhere; live dialogs go on.
func (u *UserAgent) Drain() { u.draining.Store(true) }

// overloaded tells whether a new call has to be refused before it costs
// anything: we are draining, fall behind with reading, or hold too many calls
// that nobody has answered yet, from everywhere or from this host.
func (u *UserAgent) overloaded(m *message) bool {
	switch {
	case u.draining.Load():
		return true
	case m.waited > u.cfg.OverloadAfter:
		u.stats.late.Add(1)
		return true
	case u.stats.halfOpen.Load() >= int64(u.cfg.MaxHalfOpen) || u.halfOpenOf(m.flow.addr.Addr()) >= u.cfg.MaxHalfOpen-u.cfg.MaxHalfOpen/4:
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
