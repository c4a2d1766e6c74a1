package media

import "time"

// mostStretches bounds the parts in which a session's quality is recorded.
const mostStretches = 40

// Stretch is the quality of a part of a session, with the measures of Stats. Jitter and round trip are the highest
// of the part.
type Stretch struct {
	At          time.Duration `json:"at"`  // start, since Begin or Early
	For         time.Duration `json:"for"` // duration
	MOS         float64       `json:"mos"` // 0: no audio was received
	JitterMs    float64       `json:"jitter_ms"`
	LossPercent float64       `json:"loss_percent"`
	RoundTripMs float64       `json:"round_trip_ms"`
}

// qualityMark is the end of a part: the session's counters so far, and the highest values since the previous mark.
type qualityMark struct {
	at                   int64 // position in samples
	received, lost, late uint64
	jitter, trip, delay  float64 // ms
}

// quality is a session's quality over time, with one mark per RTCP report. When there are too many marks, each two
// are merged, and later parts are twice as long.
type quality struct {
	final *Stats // set when the session is closed
	marks []qualityMark
	each  int // reports per part; 0 before the first
	have  int // reports in the last part
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

// worse merges two consecutive marks.
func worse(a, b qualityMark) qualityMark {
	b.jitter, b.trip, b.delay = max(a.jitter, b.jitter), max(a.trip, b.trip), max(a.delay, b.delay)
	return b
}

// stretches returns the parts between the marks. The time after the last mark is added to an unfinished last part;
// otherwise it is a part of its own after one second.
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

// less is the difference of two counters, 0 if negative: late packets can reduce the loss counter.
func less(a, b uint64) uint64 { return max(a, b) - b }

// measure returns the quality since the last mark.
func (s *Session) measure() qualityMark {
	t := s.in.count.Totals()
	wait := float64(s.in.buffer.Delay()) * 1000 / sampleRate
	return qualityMark{
		at: s.recording.position, received: t.Received, lost: t.Lost, late: s.in.late,
		jitter: s.in.count.Worst() * 1000 / sampleRate, trip: millis(s.report.trip), delay: millis(s.report.trip)/2 + wait + float64(s.out.ptime),
	}
}
