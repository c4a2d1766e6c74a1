package media

import "time"

// mostStretches is the maximum number of periods for which a session records its audio quality.
const mostStretches = 40

// QualityInterval is the audio quality in a period of a session, with the measures of Stats. Jitter and round trip are the
// highest values of the period.
type QualityInterval struct {
	At          time.Duration `json:"at"`  // start, since Begin or Early
	For         time.Duration `json:"for"` // duration
	MOS         float64       `json:"mos"` // 0: no audio was received
	JitterMs    float64       `json:"jitter_ms"`
	LossPercent float64       `json:"loss_percent"`
	RoundTripMs float64       `json:"round_trip_ms"`
}

// qualityMark holds the counters at the end of a period, and the highest values since the previous mark.
type qualityMark struct {
	at                   int64 // position in samples
	received, lost, late uint64
	jitter, trip, delay  float64 // ms
}

// quality is a session's audio quality over time, with a mark per RTCP report. When there are mostStretches marks, pairs
// of marks are merged, and later periods are twice as long.
type quality struct {
	final *Stats // set when the session is closed
	marks []qualityMark
	each  int // RTCP reports per period; 0 before the first report
	have  int // RTCP reports in the last period if it is incomplete, else 0
}

func (q *quality) add(m qualityMark) {
	if q.have > 0 {
		last := &q.marks[len(q.marks)-1]
		*last = mergeMarks(*last, m)
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
		half = append(half, mergeMarks(q.marks[i], q.marks[i+1]))
	}
	q.marks, q.each = half, 2*q.each
}

// mergeMarks merges two consecutive marks and keeps the higher jitter, round trip and delay.
func mergeMarks(a, b qualityMark) qualityMark {
	b.jitter, b.trip, b.delay = max(a.jitter, b.jitter), max(a.trip, b.trip), max(a.delay, b.delay)
	return b
}

// stretches returns the periods between the marks. now is added to the last period if that period is incomplete.
// Otherwise the time after the last mark is a period of its own if it lasts at least a second.
func (q *quality) stretches(now qualityMark) []QualityInterval {
	all := make([]QualityInterval, 0, len(q.marks)+1)
	var from qualityMark
	add := func(to qualityMark) {
		part := QualityInterval{At: samples(uint64(from.at)), For: samples(uint64(to.at - from.at)), JitterMs: to.jitter, RoundTripMs: to.trip} //nolint:gosec // never negative
		received, lost, late := to.received-from.received, difference(to.lost, from.lost), difference(to.late, from.late)
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
			m = mergeMarks(m, now)
		}
		add(m)
	}
	if q.have == 0 && now.at-from.at >= sampleRate {
		add(now)
	}
	return all
}

// difference returns a minus b, or 0 if b is greater. The loss counter can decrease, because late packets are subtracted.
func difference(a, b uint64) uint64 { return max(a, b) - b }

// measure returns a mark with the session's counters and the highest jitter since the last mark.
func (s *Session) measure() qualityMark {
	t := s.in.count.Totals()
	wait := float64(s.in.buffer.Delay()) * 1000 / sampleRate
	return qualityMark{
		at: s.recording.position, received: t.Received, lost: t.Lost, late: s.in.late,
		jitter: s.in.count.WorstJitter() * 1000 / sampleRate, trip: millis(s.report.trip), delay: millis(s.report.trip)/2 + wait + float64(s.out.ptime),
	}
}
