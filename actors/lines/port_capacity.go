package lines

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// portRetry is the mean delay before campaigns try again to get permits when no RTP ports are free. The delay is random, so
// that each of many workspaces sometimes gets the ports first.
const portRetry = 50 * time.Millisecond

// PortCapacity counts the calls for which the process has RTP port pairs. All Lines actors of the process share it. Each
// permit counts as a port pair in use, even before its call opens the pair. Thus campaigns open no attempt that would find
// no ports. Its methods are safe for concurrent use.
type PortCapacity struct {
	countPorts func() PortUsage
	permits    *atomic.Int64 // permits of all shares

	mu         sync.Mutex
	ownPermits int64 // permits of this share
	released   bool
}

// PortUsage counts RTP port pairs.
type PortUsage struct {
	Pairs       int // configured for the process
	InUse       int // used by live calls
	CoolingDown int // released a moment ago and not usable yet
}

// NewPortCapacity returns the capacity of the port pairs that use counts. The function use must not block.
func NewPortCapacity(use func() PortUsage) *PortCapacity {
	return &PortCapacity{countPorts: use, permits: new(atomic.Int64)}
}

// Share returns a PortCapacity that counts the permits of one workspace within the same total. Release ends the share.
func (p *PortCapacity) Share() *PortCapacity {
	return &PortCapacity{countPorts: p.countPorts, permits: p.permits}
}

// Release removes all permits of the share from the total, including those of actors that never release them. Later
// changes of the share have no effect. A nil p is allowed.
func (p *PortCapacity) Release() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.permits.Add(-p.ownPermits)
	p.ownPermits, p.released = 0, true
}

// hasRoom reports whether a campaign may start another call. A tenth of the port pairs, at least one, is reserved for
// inbound calls and single outbound calls. For a nil p it always returns true.
func (p *PortCapacity) hasRoom() bool {
	if p == nil {
		return true
	}
	u := p.countPorts()
	return u.Pairs-u.CoolingDown-max(u.InUse, int(p.permits.Load())) > reservedPorts(u.Pairs)
}

// reservedPorts returns how many of all port pairs campaigns must leave for other calls.
func reservedPorts(all int) int {
	if all < 2 {
		return 0
	}
	return max(1, all/10)
}

// addPermits adds n permits to the share. A negative n removes permits.
func (p *PortCapacity) addPermits(n int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.released {
		p.ownPermits += int64(n)
		p.permits.Add(int64(n))
	}
}

// portRetryTime returns the random time at which campaigns try again to get permits.
func portRetryTime(now time.Time) time.Time {
	return now.Add(portRetry/2 + rand.N(portRetry)) //nolint:gosec // no secret
}
