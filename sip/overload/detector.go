// Package overload decides when new inbound calls are refused: messages wait too long before they are read, or too
// many calls are unanswered.
package overload

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// behindFor is how long a message that waited too long makes IsBehind return true.
const behindFor = time.Second

// Detector measures the inbound load of one user agent. Its methods may be called concurrently.
type Detector struct {
	maxDelay      time.Duration
	maxUnanswered int
	behindUntil   atomic.Int64 // Unix nanoseconds
	unanswered    atomic.Int64

	mu     sync.Mutex
	byHost map[netip.Addr]int // unanswered calls by host
}

// New returns a detector. It refuses calls whose INVITE waited longer than maxDelay, and calls while maxUnanswered calls
// are unanswered. One host may have three quarters of maxUnanswered.
func New(maxDelay time.Duration, maxUnanswered int) *Detector {
	return &Detector{maxDelay: maxDelay, maxUnanswered: maxUnanswered, byHost: make(map[netip.Addr]int)}
}

// NoteDelay records how long a message waited before it was read.
func (d *Detector) NoteDelay(waited time.Duration) {
	if waited > d.maxDelay/4 {
		d.behindUntil.Store(time.Now().Add(behindFor).UnixNano())
	}
}

// IsBehind reports whether a message of the last second waited longer than a quarter of the maximum delay.
func (d *Detector) IsBehind() bool { return time.Now().UnixNano() < d.behindUntil.Load() }

// IsLate reports whether a call is refused because its INVITE waited for this time.
func (d *Detector) IsLate(waited time.Duration) bool { return waited > d.maxDelay }

// IsFull reports whether a new call from a host is refused, because too many calls are unanswered in total or from it.
func (d *Detector) IsFull(host netip.Addr) bool {
	if d.unanswered.Load() >= int64(d.maxUnanswered) {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.byHost[host] >= d.maxUnanswered-d.maxUnanswered/4
}

// AddUnanswered adds n to the number of unanswered calls of a host. n is negative when a call is answered or over.
func (d *Detector) AddUnanswered(host netip.Addr, n int) {
	d.unanswered.Add(int64(n))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byHost[host] += n; d.byHost[host] <= 0 {
		delete(d.byHost, host)
	}
}

// Unanswered returns the number of unanswered calls, and of the hosts that they come from.
func (d *Detector) Unanswered() (calls, hosts int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int(d.unanswered.Load()), len(d.byHost)
}
