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

// qualityMark is where a stretch ends: the counters of the whole so far, and what was worst since the mark before.
type qualityMark struct {
	at                   int64 // samples
	received, lost, late uint64
	jitter, trip, delay  float64 // ms
}

// quality is how a session went over time: one mark at each report. Once there are too many each two become one, and from then on
// a stretch is as long as two were before.
type quality struct {
	final *Stats // once the session is closed
	marks []qualityMark
	each  int // reports in a stretch; 0 before the first
	have  int // of those in the last one
}

func (q *quality) add(m qualityMark) {
	if q.have > 0 {
		last := &q.marks[len(q.marks)-1]
		*last = worse(*last, m)
	} else {
		q.marks = append(q.marks, m)
	}
	q.each = max(1, q.each)
	if q.have++; q.have < q.each {
		return
	}
	q.have = 0
	if len(q.marks) < mostStretches {
		return
	}
	half := q.marks[:0]
	for i := 0; i+1 < len(q.marks); i += 2 {
		half = append(half, worse(q.marks[i], q.marks[i+1]))
	}
	q.marks, q.each = half, 2*q.each
}

// worse is one stretch of two that follow each other.
func worse(a, b qualityMark) qualityMark {
	b.jitter, b.trip, b.delay = max(a.jitter, b.jitter), max(a.trip, b.trip), max(a.delay, b.delay)
	return b
}

// stretches are those between the marks. The time after the last mark belongs to its stretch if that is under
// way; else it is one of its own if it has lasted a second.
func (q *quality) stretches(now qualityMark) []Stretch {
	all := make([]Stretch, 0, len(q.marks)+1)
	var from qualityMark
	add := func(to qualityMark) {
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
	for i, m := range q.marks {
		if q.have > 0 && i == len(q.marks)-1 {
			m = worse(m, now)
		}
		add(m)
	}
	if q.have == 0 && now.at-from.at >= sampleRate {
		add(now)
	}
	return all
}

// less is a difference of counters, of which late packets may have taken some back.
func less(a, b uint64) uint64 { return max(a, b) - b }

// measure is the quality since the last mark.
func (s *Session) measure() qualityMark {
	t := s.in.count.Totals()
	wait := float64(s.in.buffer.Delay()) * 1000 / sampleRate
	return qualityMark{
		at: s.recording.position, received: t.Received, lost: t.Lost, late: s.in.late,
		jitter: s.in.count.Worst() * 1000 / sampleRate, trip: millis(s.report.trip), delay: millis(s.report.trip)/2 + wait + float64(s.out.ptime),
	}
}
