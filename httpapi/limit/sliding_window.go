// Package limit limits the rate of requests. A rule allows at most N requests in any window, plus a small burst
// above N that is delayed. Requests are counted by name, for example by workspace.
package limit

import (
	"container/list"
	"slices"
	"sync"
	"time"
)

// Delays of requests above N: at most Waiting requests wait at a time. Each waits waitStep longer than the previous one.
const (
	MaxWaiting = 5
	waitStep   = 200 * time.Millisecond
)

// Rule is a rate limit.
type Rule struct {
	N      int           // requests per window
	Window time.Duration // length of the window
	Burst  bool          // allows ⌈0.15 N⌉ more requests, again after a whole window with fewer than N
}

func (r Rule) burst() int {
	if !r.Burst {
		return 0
	}
	return (r.N*15 + 99) / 100
}

// Decision says whether a request is allowed, and describes the state of the rate limit.
type Decision struct {
	OK        bool
	Wait      time.Duration // the caller must delay the request by Wait and then call Limiter.EndWait
	Limit     int
	Remaining int
	Reset     time.Time // when the oldest counted request leaves the window
	Window    time.Duration
	Unstored  int   // requests counted since the last Snapshot
	at        int64 // tick of the request in the log
}

// NeedsStore reports whether so many requests are unstored that their loss would allow at least half a burst more.
func (a Decision) NeedsStore() bool { return 2*a.Unstored >= Rule{N: a.Limit, Burst: true}.burst() }

// RetryAfter returns the number of seconds until the next request is allowed, at least 1.
func (a Decision) RetryAfter(now time.Time) int {
	return max(1, int((a.Reset.Sub(now)+time.Second-1)/time.Second))
}

// Limiter counts requests under at most Names names. The zero value is ready to use. If all names are in use, a new
// name evicts the least recently used one, so that a client with many names does not block others.
type Limiter struct {
	Names int // Default: 65,536.

	mu     sync.Mutex
	counts map[string]*nameCount
	recent list.List // of *nameCount, most recently used first
}

const defaultNames = 1 << 16

// tick is the time resolution of the request log. Requests within one tick share a log entry.
const tick = time.Millisecond

type logEntry struct {
	at int64 // time in ticks
	n  int
}

type nameCount struct {
	name       string
	element    *list.Element // element of Limiter.recent
	log        []logEntry    // requests in the window, oldest first
	used       int           // sum of the counts in log
	burstUsed  int           // number of requests above N that the burst has allowed
	waiting    int
	unstored   int       // requests counted since the last Snapshot
	belowSince time.Time // since when fewer than N requests are in the window; zero: N or more are
	window     time.Duration
}

// Allow counts a request under a name if the rule allows it.
func (l *Limiter) Allow(name string, r Rule, now time.Time) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.countOf(name, r, now)
	c.window = r.Window
	c.expire(r, now)
	a := Decision{Limit: r.N, Window: r.Window}
	switch {
	case c.used < r.N:
		a.OK = true
	case c.burstUsed < r.burst() && c.waiting < MaxWaiting:
		c.burstUsed++
		c.waiting++
		a.OK, a.Wait = true, time.Duration(c.waiting)*waitStep
	}
	if a.OK {
		a.at = c.addRequest(now)
		if c.used >= r.N {
			c.belowSince = time.Time{}
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

// Refund removes an allowed request from the count, because the request was refused for another reason.
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
		if c.log[i].at < a.at { // the request has left the window
			return
		}
		c.used--
		if c.log[i].n--; c.log[i].n == 0 {
			c.log = slices.Delete(c.log, i, i+1)
		}
		break
	}
	if a.Wait > 0 && c.burstUsed > 0 {
		c.burstUsed--
	}
}

// Used returns the number of requests in the window that ends now, and the time when the oldest of them leaves the
// window.
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

// EndWait records that a request under a name has finished its delay.
func (l *Limiter) EndWait(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.counts[name]; c != nil && c.waiting > 0 {
		c.waiting--
	}
}

// countOf returns the count of a name and moves it to the front of the recently used names.
func (l *Limiter) countOf(name string, r Rule, now time.Time) *nameCount {
	if c, ok := l.counts[name]; ok {
		l.recent.MoveToFront(c.element)
		return c
	}
	if l.counts == nil {
		l.counts = make(map[string]*nameCount)
	}
	names := l.Names
	if names == 0 {
		names = defaultNames
	}
	if len(l.counts) >= names {
		l.evictOldest()
	}
	c := &nameCount{name: name, belowSince: now.Add(-r.Window)}
	c.element = l.recent.PushFront(c)
	l.counts[name] = c
	return c
}

// evictOldest removes the least recently used count. It skips counts with delayed requests. Their number per count is
// at most MaxWaiting.
func (l *Limiter) evictOldest() {
	for e := l.recent.Back(); e != nil; e = e.Prev() {
		if c, _ := e.Value.(*nameCount); c.waiting == 0 {
			l.recent.Remove(e)
			delete(l.counts, c.name)
			return
		}
	}
}

func (c *nameCount) endOfWindow(e logEntry, window time.Duration) time.Time {
	return time.Unix(0, (e.at+1)*int64(tick)).Add(window)
}

// expire removes the requests that have left the window. It records since when the count is below N.
func (c *nameCount) expire(r Rule, now time.Time) {
	expired := 0
	for expired < len(c.log) {
		e := c.log[expired]
		leaves := c.endOfWindow(e, r.Window)
		if leaves.After(now) {
			break
		}
		if c.used >= r.N && c.used-e.n < r.N {
			c.belowSince = leaves
		}
		c.used -= e.n
		expired++
	}
	c.log = c.log[expired:]
	if expired > 0 && cap(c.log) > 4*len(c.log)+64 {
		c.log = append([]logEntry(nil), c.log...)
	}
	if c.used < r.N && c.belowSince.IsZero() { // N was raised meanwhile
		c.belowSince = now
	}
	if c.used < r.N && now.Sub(c.belowSince) >= r.Window {
		c.burstUsed = 0
	}
}

// addRequest adds a request at the time now to the count and returns its tick.
func (c *nameCount) addRequest(now time.Time) int64 {
	at := now.UnixNano() / int64(tick)
	c.used++
	if n := len(c.log); n > 0 && c.log[n-1].at >= at {
		c.log[n-1].n++
		return c.log[n-1].at
	}
	c.log = append(c.log, logEntry{at: at, n: 1})
	return at
}
