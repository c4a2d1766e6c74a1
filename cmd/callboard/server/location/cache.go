package location

import "time"

// location is whose a number or a phone is; workspace "": nobody's. Or it is which
// node has a claim to a call; node "": this one, or nobody.
type location struct {
	workspace, node string
	isWeak          bool      // no trunk takes the call, were the caller its own
	expiresAt       time.Time // it counts
}

// locationCache keeps answers for a time, in two maps: once the first has been filled
// for as long, or is full, it is the second, whose answers are over by then. So
// nothing has to be looked through, and at worst half is forgotten at once. It is
// for one goroutine at a time.
type locationCache struct {
	lifetime   time.Duration // that an answer counts
	young, old map[string]location
	rotatedAt  time.Time // young is filled since
}

func (l *locationCache) get(name string, now time.Time) (c location, ok bool) {
	if c, ok = l.young[name]; !ok {
		c, ok = l.old[name]
	}
	return c, ok && now.Before(c.expiresAt)
}

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
