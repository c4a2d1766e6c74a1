package limit

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// snapshotParts is into how many pieces the window of a count is cut that is kept.
const snapshotParts = 60

// Snapshot is what is counted under a name, to be kept beyond the end of the
// process; false where nothing is. What is made from now on is not in it.
// Requests of a sixtieth of the window are one, as late as the last of them
// may have been: what is kept lets nobody do more.
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

// Restore goes on from what was kept, unless something is counted under the
// name already. What lies in the future, by a clock that was set back since,
// counts as made now.
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
