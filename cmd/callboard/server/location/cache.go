package location

import "time"

// location is a cached result. For a number or phone it is the workspace; "" means none. For a call it is the node
// with the best claim; "" means this node or none.
type location struct {
	workspace, node string
	isWeak          bool      // no trunk claims the call; a phone may own it
	expiresAt       time.Time // time until the result may be used
}

// locationCache caches results for the duration lifetime in two generations, young and old. When young is full or
// old enough, it replaces old. No entry is ever searched for expiry, and at most half of the results are dropped
// early. It is not safe for concurrent use.
type locationCache struct {
	lifetime   time.Duration // how long a result may be used
	young, old map[string]location
	rotatedAt  time.Time // time at which young was created
}

// get returns a result that has not expired.
func (l *locationCache) get(name string, now time.Time) (c location, ok bool) {
	if c, ok = l.young[name]; !ok {
		c, ok = l.old[name]
	}
	return c, ok && now.Before(c.expiresAt)
}

// put stores a result. A key longer than maxKey is not stored.
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
