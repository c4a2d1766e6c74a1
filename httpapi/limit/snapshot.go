package limit

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// snapshotParts is the number of parts of a window in a snapshot.
const snapshotParts = 60

// Snapshot returns the count of a name, to be stored beyond the end of the process; false:
// the name has none. The requests of one part of the window have the latest time of that
// part: a restored count never allows more requests.
func (l *Limiter) Snapshot(name string) (domain.RateCount, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.counts[name]
	if c == nil {
		return domain.RateCount{}, false
	}
	c.unstored = 0
	kept := domain.RateCount{Burst: c.burst, Below: c.below}
	grain := max(1, int64(c.window/tick)/snapshotParts)
	for _, e := range c.log {
		at := (e.at/grain + 1) * grain
		if n := len(kept.Log); n > 0 && kept.Log[n-1].At == at {
			kept.Log[n-1].N += e.n
			continue
		}
		kept.Log = append(kept.Log, domain.RateEntry{At: at, N: e.n})
	}
	return kept, true
}

// Restore sets the count of a name to a snapshot, unless the name has a count. Requests in the
// future, after the clock was set back, count as made now.
func (l *Limiter) Restore(name string, kept domain.RateCount, r Rule, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts[name] != nil {
		return
	}
	c := l.count(name, r, now)
	c.window, c.burst, c.below = r.Window, max(0, kept.Burst), kept.Below
	latest := now.UnixMilli()
	for _, e := range kept.Log {
		if e.N <= 0 {
			continue
		}
		at := min(e.At, latest)
		c.used += e.N
		if n := len(c.log); n > 0 && c.log[n-1].at >= at {
			c.log[n-1].n += e.N
			continue
		}
		c.log = append(c.log, entry{at: at, n: e.N})
	}
	if c.below.After(now) {
		c.below = now
	}
}
