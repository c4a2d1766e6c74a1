// Package reception counts the packets of one RTP source: loss, copies and jitter, as receiver reports tell them.
package reception

import "github.com/pion/rtp"

// Receiver counts one source: loss as in RFC 3550 appendix A.3, jitter as in A.8. It outlives a change of the source.
type Receiver struct {
	started   bool
	ssrc      uint32
	base      uint32 // extended sequence number of the first packet
	highest   uint32 // extended sequence number of the highest packet
	received  uint64 // from this source, without copies
	repeated  uint64 // copies
	seen      uint64 // bit n: highest-n was there
	transit   int64
	jitter    float64 // in timestamp units
	worst     float64 // jitter since Afresh
	past      Totals  // of earlier sources
	expectedR uint64  // at the last report
	receivedR uint64
}

// Totals is what was received, what was lost, and how many copies came of what was received. A copy is neither.
type Totals struct{ Received, Lost, Repeated uint64 }

// Report is what a receiver report block says.
type Report struct {
	SSRC     uint32
	Fraction uint8 // of 256, since the last report
	Lost     uint32
	Highest  uint32
	Jitter   uint32
}

const (
	maxForward  = 3000 // a greater leap of the sequence is a new start
	maxBackward = 200
	leap        = 8000 // a transit that changes by a second is a new clock, not jitter
)

// Verdict is what a packet is to its source.
type Verdict uint8

// The verdicts.
const (
	Next     Verdict = iota // the source goes on
	Anew                    // another source, or the same began anew
	Repeated                // a packet that was there before, or so long after its time that nobody can tell
)

// Got counts a packet; arrived is the receiver's clock in timestamp units, of any origin. A packet that is not timed
// (a telephone event keeps the timestamp of its beginning) says nothing about jitter.
func (r *Receiver) Got(p *rtp.Header, arrived int64, timed bool) Verdict {
	if !r.started || p.SSRC != r.ssrc {
		r.restart(p, arrived)
		return Anew
	}
	delta := int(int16(p.SequenceNumber - uint16(r.highest))) //nolint:gosec // modular
	switch {
	case delta > maxForward || delta < -maxBackward:
		r.restart(p, arrived)
		return Anew
	case delta > 0:
		r.highest += uint32(delta)
		r.seen = r.seen<<delta | 1
	case delta <= -64 || r.seen&(1<<-delta) != 0:
		r.repeated++
		return Repeated
	default:
		r.seen |= 1 << -delta
	}
	r.received++
	if !timed {
		return Next
	}
	transit := arrived - int64(p.Timestamp)
	d := int64(int32(transit - r.transit)) //nolint:gosec // modular: the timestamp wraps at 32 bits
	r.transit = transit
	if d = max(d, -d); d < leap {
		r.jitter += (float64(d) - r.jitter) / 16
		r.worst = max(r.worst, r.jitter)
	}
	return Next
}

func (r *Receiver) restart(p *rtp.Header, arrived int64) {
	r.past = r.Totals()
	r.started, r.ssrc = true, p.SSRC
	r.base = 1<<16 | uint32(p.SequenceNumber) // one turn up, so that an early predecessor cannot pass below zero
	r.highest, r.seen = r.base, 1
	r.received, r.repeated, r.expectedR, r.receivedR = 1, 0, 0, 0
	r.transit = arrived - int64(p.Timestamp)
}

func (r *Receiver) expected() uint64 {
	if !r.started {
		return 0
	}
	return uint64(r.highest-r.base) + 1
}

// Totals counts over all sources.
func (r *Receiver) Totals() Totals {
	t := r.past
	t.Received += r.received
	t.Repeated += r.repeated
	if e := r.expected(); e > r.received {
		t.Lost += e - r.received
	}
	return t
}

// Jitter is the interarrival jitter in timestamp units.
func (r *Receiver) Jitter() float64 { return r.jitter }

// Worst is the greatest jitter since Afresh, in timestamp units.
func (r *Receiver) Worst() float64 { return r.worst }

// Afresh begins to look for the worst jitter anew.
func (r *Receiver) Afresh() { r.worst = r.jitter }

// Report makes the block of the next receiver report, false: there is no source yet.
func (r *Receiver) Report() (Report, bool) {
	if !r.started {
		return Report{}, false
	}
	expected := r.expected()
	out := Report{SSRC: r.ssrc, Highest: r.highest, Jitter: uint32(r.jitter)}
	if expected > r.received {
		out.Lost = uint32(min(expected-r.received, 1<<23-1))
	}
	due, got := expected-r.expectedR, r.received-r.receivedR
	r.expectedR, r.receivedR = expected, r.received
	if due > got {
		out.Fraction = uint8(min((due-got)*256/due, 255))
	}
	return out, true
}
