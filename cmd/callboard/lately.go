package main

import "time"

// claimed is whose a number or a phone is; workspace "": nobody's. Or it is which
// node has a claim to a call; node "": this one, or nobody.
type claimed struct {
	workspace, node string
	weak            bool      // no trunk takes the call, were the caller its own
	until           time.Time // it counts
}

// lately keeps answers for a time, in two maps: once the first has been filled
// for as long, or is full, it is the second, whose answers are over by then. So
// nothing has to be looked through, and at worst half is forgotten at once. It is
// for one goroutine at a time.
type lately struct {
	life       time.Duration // that an answer counts
	young, old map[string]claimed
	turned     time.Time // young is filled since
}

func (l *lately) get(name string, now time.Time) (c claimed, ok bool) {
	if c, ok = l.young[name]; !ok {
		c, ok = l.old[name]
	}
	return c, ok && now.Before(c.until)
}

func (l *lately) put(name string, c claimed, now time.Time) {
	if len(name) > whitherLong {
		return
	}
	if l.young == nil || len(l.young) >= whitherMost || now.Sub(l.turned) >= l.life {
		l.young, l.old, l.turned = make(map[string]claimed), l.young, now
	}
	c.until = now.Add(l.life)
	l.young[name] = c
}
