package limit

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// snapshotParts is the number of intervals into which a snapshot divides a window.
const snapshotParts = 60

// Snapshot returns the count of a name for storage, false if the name has none. All requests of one interval get the
// time of its end, so a restored count never allows more requests than the original.
func (l *Limiter) Snapshot(name string) (domain.RateCount, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.counts[name]
	if c == nil {
		return domain.RateCount{}, false
	}
	c.unstored = 0
	count := domain.RateCount{Burst: c.burstUsed, Below: c.belowSince}
	grain := max(1, int64(c.window/tick)/snapshotParts)
	for _, e := range c.log {
		at := (e.at/grain + 1) * grain
		if n := len(count.Log); n > 0 && count.Log[n-1].At == at {
			count.Log[n-1].N += e.n
			continue
		}
		count.Log = append(count.Log, domain.RateEntry{At: at, N: e.n})
	}
	return count, true
}

// Restore sets the count of a name from a snapshot, unless the name already has a count. A request whose time is in the
// future, because the clock was set back, counts as made now.
func (l *Limiter) Restore(name string, count domain.RateCount, r Rule, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts[name] != nil {
		return
	}
	c := l.countOf(name, r, now)
	c.window, c.burstUsed, c.belowSince = r.Window, max(0, count.Burst), count.Below
	latest := now.UnixMilli()
	for _, e := range count.Log {
		if e.N <= 0 {
			continue
		}
		at := min(e.At, latest)
		c.used += e.N
		if n := len(c.log); n > 0 && c.log[n-1].at >= at {
			c.log[n-1].n += e.N
			continue
		}
		c.log = append(c.log, logEntry{at: at, n: e.N})
	}
	if c.belowSince.After(now) {
		c.belowSince = now
	}
}
