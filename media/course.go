package media

import "time"

// mostStretches bounds what is kept of how a session went.
const mostStretches = 40

// Stretch is how a part of a session went, by the measures of Stats. Jitter and round trip are the worst of it.
type Stretch struct {
	At          time.Duration `json:"at"`  // since the session was begun, or heard before
	For         time.Duration `json:"for"` // until the next one
	MOS         float64       `json:"mos"` // 0: nothing was received
	JitterMs    float64       `json:"jitter_ms"`
	LossPercent float64       `json:"loss_percent"`
	RoundTripMs float64       `json:"round_trip_ms"`
}

// mark is where a stretch ends: the counters of the whole so far, and what was worst since the mark before.
type mark struct {
	at                   int64 // samples
	received, lost, late uint64
	jitter, trip, delay  float64 // ms
}

// course are the marks of a session, one at each report. Once there are too many each two become one, and from then on
// a stretch is as long as two were before.
type course struct {
	marks []mark
	each  int // reports in a stretch; 0 before the first
	have  int // of those in the last one
}

func (c *course) add(m mark) {
	if c.have > 0 {
		last := &c.marks[len(c.marks)-1]
		*last = worse(*last, m)
	} else {
		c.marks = append(c.marks, m)
	}
	c.each = max(1, c.each)
	if c.have++; c.have < c.each {
		return
	}
	c.have = 0
	if len(c.marks) < mostStretches {
		return
	}
	half := c.marks[:0]
	for i := 0; i+1 < len(c.marks); i += 2 {
		half = append(half, worse(c.marks[i], c.marks[i+1]))
	}
	c.marks, c.each = half, 2*c.each
}

// worse is one stretch of two that follow each other.
func worse(a, b mark) mark {
	b.jitter, b.trip, b.delay = max(a.jitter, b.jitter), max(a.trip, b.trip), max(a.delay, b.delay)
	return b
}

// stretches are those between the marks. What came after the last of them belongs to it where it is under way; else it
// is one of its own if it has lasted a second.
func (c *course) stretches(now mark) []Stretch {
	all := make([]Stretch, 0, len(c.marks)+1)
	var from mark
	add := func(to mark) {
		part := Stretch{At: samples(uint64(from.at)), For: samples(uint64(to.at - from.at)), JitterMs: to.jitter, RoundTripMs: to.trip} //nolint:gosec // never negative
		received, lost, late := to.received-from.received, less(to.lost, from.lost), less(to.late, from.late)
		if received > 0 {
			due := float64(received + lost)
			part.LossPercent = 100 * float64(lost) / due
			part.MOS = mos(min(100*float64(lost+late)/due, 100), to.delay)
		}
		all = append(all, part)
		from = to
	}
	for i, m := range c.marks {
		if c.have > 0 && i == len(c.marks)-1 {
			m = worse(m, now)
		}
		add(m)
	}
	if c.have == 0 && now.at-from.at >= sampleRate {
		add(now)
	}
	return all
}

// less is a difference of counters, of which late packets may have taken some back.
func less(a, b uint64) uint64 { return max(a, b) - b }

// mark is where the session is now.
func (s *Session) mark() mark {
	t := s.in.count.Totals()
	wait := float64(s.buffer.Delay()) * 1000 / sampleRate
	return mark{
		at: s.media, received: t.Received, lost: t.Lost, late: s.in.late,
		jitter: s.in.count.Worst() * 1000 / sampleRate, trip: millis(s.report.trip), delay: millis(s.report.trip)/2 + wait + float64(s.out.ptime),
	}
}
