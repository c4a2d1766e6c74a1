// Package limit limits the rate of requests: at most N in any window, and a small burst
// above it that is delayed. Requests are counted by name.
package limit

import (
	"container/list"
	"slices"
	"sync"
	"time"
)

// Delay of a burst: at most Waiting requests wait at a time, each one step longer than the
// one before.
const (
	Waiting  = 5
	waitStep = 200 * time.Millisecond
)

// Rule is the limit of a name.
type Rule struct {
	N      int           // requests in a window
	Window time.Duration // a minute or an hour
	Burst  bool          // with ⌈0.15 N⌉ above it, restored by a window below N
}

func (r Rule) burst() int {
	if !r.Burst {
		return 0
	}
	return (r.N*15 + 99) / 100
}

// Decision says whether a request is allowed, with the state of its limit.
type Decision struct {
	OK        bool
	Wait      time.Duration // delay the request; then call Limiter.EndWait
	Limit     int
	Remaining int
	Reset     time.Time // the end of the window in which the oldest counted request lies
	Window    time.Duration
	Unstored  int   // counted since the last Snapshot
	at        int64 // the tick of the request in the log
}

// NeedsStore says whether the loss of the unstored count would allow more than half a burst.
func (a Decision) NeedsStore() bool { return 2*a.Unstored >= Rule{N: a.Limit, Burst: true}.burst() }

// RetryAfter returns the seconds until a request is allowed again.
func (a Decision) RetryAfter(now time.Time) int {
	return max(1, int((a.Reset.Sub(now)+time.Second-1)/time.Second))
}

// Limiter counts requests under at most Names names. The zero value is ready. A
// new name evicts the name that was used least recently, so that many names from
// one client do not block other clients.
type Limiter struct {
	Names int // Default: 65,536.

	mu     sync.Mutex
	counts map[string]*count
	recent list.List // of *count, the one that was used last in front
}

const defaultNames = 1 << 16

// tick is the grain of the log: requests of one tick stand in one entry.
const tick = time.Millisecond

type entry struct {
	at int64 // ticks
	n  int
}

type count struct {
	name     string
	place    *list.Element // in recent
	log      []entry       // oldest first
	used     int           // the sum of log
	burst    int           // spent of the burst
	waiting  int
	unstored int       // counted since it was kept
	below    time.Time // since when fewer than N are in the window; zero: not so
	window   time.Duration
}

// Allow counts a request under a name, where the rule allows it.
func (l *Limiter) Allow(name string, r Rule, now time.Time) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.count(name, r, now)
	c.window = r.Window
	c.expire(r, now)
	a := Decision{Limit: r.N, Window: r.Window}
	switch {
	case c.used < r.N:
		a.OK = true
	case c.burst < r.burst() && c.waiting < Waiting:
		c.burst++
		c.waiting++
		a.OK, a.Wait = true, time.Duration(c.waiting)*waitStep
	}
	if a.OK {
		a.at = c.add(now)
		if c.used >= r.N {
			c.below = time.Time{}
		}
		c.unstored++
		a.Unstored = c.unstored
	}
	a.Remaining = max(0, r.N-c.used)
	a.Reset = now.Add(r.Window)
	if len(c.log) > 0 {
		a.Reset = c.endOfWindow(c.log[0], r.Window)
	}
	return a
}

// Refund removes a request that Take allowed from the count, because it was
// refused for another reason.
func (l *Limiter) Refund(name string, a Decision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.counts[name]
	if c == nil || !a.OK {
		return
	}
	for i := len(c.log) - 1; i >= 0; i-- {
		if c.log[i].at > a.at {
			continue
		}
		if c.log[i].at < a.at { // it has left the window
			return
		}
		c.used--
		if c.log[i].n--; c.log[i].n == 0 {
			c.log = slices.Delete(c.log, i, i+1)
		}
		break
	}
	if a.Wait > 0 && c.burst > 0 {
		c.burst--
	}
}

// Used returns the number of requests within the window that ends now, and when the oldest
// leaves the window.
func (l *Limiter) Used(name string, r Rule, now time.Time) (made int, reset time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, reset := l.counts[name], now.Add(r.Window)
	if c == nil {
		return 0, reset
	}
	c.expire(r, now)
	if len(c.log) > 0 {
		reset = c.endOfWindow(c.log[0], r.Window)
	}
	return c.used, reset
}

// EndWait ends the delay of a request.
func (l *Limiter) EndWait(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.counts[name]; c != nil && c.waiting > 0 {
		c.waiting--
	}
}

// count is that of a name, in front of all others.
func (l *Limiter) count(name string, r Rule, now time.Time) *count {
	if c, ok := l.counts[name]; ok {
		l.recent.MoveToFront(c.place)
		return c
	}
	if l.counts == nil {
		l.counts = make(map[string]*count)
	}
	names := l.Names
	if names == 0 {
		names = defaultNames
	}
	if len(l.counts) >= names {
		l.evictOldest()
	}
	c := &count{name: name, below: now.Add(-r.Window)}
	c.place = l.recent.PushFront(c)
	l.counts[name] = c
	return c
}

// evictOldest removes the count that was used least recently. It skips counts with
// waiting requests; their number is bounded, see Waiting.
func (l *Limiter) evictOldest() {
	for e := l.recent.Back(); e != nil; e = e.Prev() {
		if c, _ := e.Value.(*count); c.waiting == 0 {
			l.recent.Remove(e)
			delete(l.counts, c.name)
			return
		}
	}
}

func (c *count) endOfWindow(e entry, window time.Duration) time.Time {
	return time.Unix(0, (e.at+1)*int64(tick)).Add(window)
}

// expire lets go of what has left the window, and notes when that brought the
// count below N.
func (c *count) expire(r Rule, now time.Time) {
	gone := 0
	for gone < len(c.log) {
		e := c.log[gone]
		leaves := c.endOfWindow(e, r.Window)
		if leaves.After(now) {
			break
		}
		if c.used >= r.N && c.used-e.n < r.N {
			c.below = leaves
		}
		c.used -= e.n
		gone++
	}
	c.log = c.log[gone:]
	if gone > 0 && cap(c.log) > 4*len(c.log)+64 {
		c.log = append([]entry(nil), c.log...)
	}
	if c.used < r.N && c.below.IsZero() { // N was raised
		c.below = now
	}
	if c.used < r.N && now.Sub(c.below) >= r.Window {
		c.burst = 0
	}
}

// add counts a request, and tells under which tick.
func (c *count) add(now time.Time) int64 {
	at := now.UnixNano() / int64(tick)
	c.used++
	if n := len(c.log); n > 0 && c.log[n-1].at >= at {
		c.log[n-1].n++
		return c.log[n-1].at
	}
	c.log = append(c.log, entry{at: at, n: 1})
	return at
}
