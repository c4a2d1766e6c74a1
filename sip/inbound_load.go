package sip

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Behind says whether messages wait too long to be read: a quarter of the time after
// which calls are refused. Owners should postpone outbound calls then, so that inbound
// calls are taken.
func (u *UserAgent) Behind() bool { return u.load.isBehind() }

// behindFor is how long one message that waited counts.
const behindFor = time.Second

// inboundLoad tells when inbound calls cost too much: messages wait too long to be read, or too
// many calls are unanswered, in all or from one host.
type inboundLoad struct {
	maxDelay    time.Duration // Config.OverloadAfter
	maxHalfOpen int           // from one host three quarters of it
	behindUntil atomic.Int64  // Unix nanoseconds
	halfOpen    atomic.Int64  // unanswered inbound calls

	mu     sync.Mutex
	byHost map[netip.Addr]int // of halfOpen
}

// noteDelay takes how long a message waited until it was read.
func (l *inboundLoad) noteDelay(waited time.Duration) {
	if waited > l.maxDelay/4 {
		l.behindUntil.Store(time.Now().Add(behindFor).UnixNano())
	}
}

func (l *inboundLoad) isBehind() bool { return time.Now().UnixNano() < l.behindUntil.Load() }

// isLate tells whether a call that waited so long is refused.
func (l *inboundLoad) isLate(waited time.Duration) bool { return waited > l.maxDelay }

// isFull tells whether one more call of a host is refused.
func (l *inboundLoad) isFull(host netip.Addr) bool {
	if l.halfOpen.Load() >= int64(l.maxHalfOpen) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byHost[host] >= l.maxHalfOpen-l.maxHalfOpen/4
}

// addHalfOpen counts n more unanswered calls of a host.
func (l *inboundLoad) addHalfOpen(host netip.Addr, n int) {
	l.halfOpen.Add(int64(n))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byHost[host] += n; l.byHost[host] <= 0 {
		delete(l.byHost, host)
	}
}

// hosts is the number of hosts with unanswered calls.
func (l *inboundLoad) hosts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byHost)
}

// overloaded tells whether a new call has to be refused before it costs
// anything: we are draining, fall behind with reading, or hold too many calls
// that nobody has answered yet, from everywhere or from this host.
func (u *UserAgent) overloaded(m *received) bool {
	switch {
	case u.calls.isDraining():
		return true
	case u.load.isLate(m.QueueDelay):
		u.stats.late.Add(1)
		return true
	case u.load.isFull(m.Source().Addr.Addr()):
		u.stats.full.Add(1)
		return true
	}
	return false
}
