package location

import "time"

// location is a cached result of an owner lookup. For a number or phone it is the workspace, or "" if none owns it. For
// a call it is the node with the best claim, or "" for this node or none.
type location struct {
	workspace, node string
	isWeak          bool      // no trunk claims the call; a phone may own it
	expiresAt       time.Time // time until the result may be used
}

// locationCache caches results of owner lookups for the duration lifetime in two maps, young and old. When young is
// full or old enough, it replaces old. The cache therefore never searches for expired entries, and a full cache
// drops at most half of its entries. It is not safe for concurrent use.
type locationCache struct {
	lifetime   time.Duration // how long a result may be used
	young, old map[string]location
	rotatedAt  time.Time // time at which young was created
}

// get returns the cached result for a key, unless it has expired.
func (l *locationCache) get(name string, now time.Time) (c location, ok bool) {
	if c, ok = l.young[name]; !ok {
		c, ok = l.old[name]
	}
	return c, ok && now.Before(c.expiresAt)
}

// put stores a result under a key. It ignores keys longer than maxKey.
func (l *locationCache) put(name string, c location, now time.Time) {
	if len(name) > maxKey {
		return
	}
	if l.young == nil || len(l.young) >= maxCachedAnswers || now.Sub(l.rotatedAt) >= l.lifetime {
		l.young, l.old, l.rotatedAt = make(map[string]location), l.young, now
	}
	c.expiresAt = now.Add(l.lifetime)
	l.young[name] = c
}
