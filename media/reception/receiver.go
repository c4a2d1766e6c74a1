// Package reception measures the reception of an RTP stream: lost and duplicate packets and jitter, for RTCP receiver
// reports.
package reception

import "github.com/pion/rtp"

// Receiver counts the packets of one stream. Loss follows RFC 3550 §A.3, and jitter follows §A.8. The totals continue
// when the stream's SSRC changes. Not safe for concurrent use.
type Receiver struct {
	started   bool
	ssrc      uint32
	base      uint32 // extended sequence number of the first packet
	highest   uint32 // extended sequence number of the highest packet
	received  uint64 // from the current source, without copies
	repeated  uint64 // copies
	seen      uint64 // bit n: the packet highest-n was received
	transit   int64
	jitter    float64 // in timestamp units
	worst     float64 // highest jitter since ResetWorstJitter
	past      Totals  // totals of earlier sources
	expectedR uint64  // expected packets at the last report
	receivedR uint64
}

// Totals are the numbers of packets received, lost and duplicated. Received and Lost do not count duplicates.
type Totals struct{ Received, Lost, Repeated uint64 }

// Report is the content of a report block in an RTCP receiver report.
type Report struct {
	SSRC     uint32
	Fraction uint8 // lost share since the last report, of 256
	Lost     uint32
	Highest  uint32
	Jitter   uint32
}

const (
	maxForward  = 3000 // a greater step in the sequence numbers starts a new source
	maxBackward = 200
	leap        = 8000 // a change of the transit time by a second shows a new clock instead of jitter
)

// Verdict says how a packet continues the stream.
type Verdict uint8

// The results of AddPacket for a packet.
const (
	Continues Verdict = iota // the next packets of the source
	NewSource                // the first packet of a source, or after a restart of the source
	Repeated                 // a copy, or a packet too old to be checked for copies
)

// AddPacket counts a packet. arrived is the arrival time in timestamp units, from any origin. timed is false for a telephone
// event: its timestamp is that of the start of the event, so it must not count for jitter.
func (r *Receiver) AddPacket(p *rtp.Header, arrived int64, timed bool) Verdict {
	if !r.started || p.SSRC != r.ssrc {
		r.restart(p, arrived)
		return NewSource
	}
	delta := int(int16(p.SequenceNumber - uint16(r.highest))) //nolint:gosec // modular
	switch {
	case delta > maxForward || delta < -maxBackward:
		r.restart(p, arrived)
		return NewSource
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
		return Continues
	}
	transit := arrived - int64(p.Timestamp)
	d := int64(int32(transit - r.transit)) //nolint:gosec // modular: the timestamp wraps at 32 bits
	r.transit = transit
	if d = max(d, -d); d < leap {
		r.jitter += (float64(d) - r.jitter) / 16
		r.worst = max(r.worst, r.jitter)
	}
	return Continues
}

func (r *Receiver) restart(p *rtp.Header, arrived int64) {
	r.past = r.Totals()
	r.started, r.ssrc = true, p.SSRC
	r.base = 1<<16 | uint32(p.SequenceNumber) // 1<<16 avoids an underflow by an earlier packet that arrives late
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

// Totals returns the packet counts of the stream over all SSRCs.
func (r *Receiver) Totals() Totals {
	t := r.past
	t.Received += r.received
	t.Repeated += r.repeated
	if e := r.expected(); e > r.received {
		t.Lost += e - r.received
	}
	return t
}

// Jitter returns the interarrival jitter in timestamp units.
func (r *Receiver) Jitter() float64 { return r.jitter }

// WorstJitter returns the highest jitter since ResetWorstJitter, in timestamp units.
func (r *Receiver) WorstJitter() float64 { return r.worst }

// ResetWorstJitter restarts the measurement that WorstJitter returns.
func (r *Receiver) ResetWorstJitter() { r.worst = r.jitter }

// Report returns the report block for the next receiver report. It returns false if no packet has been received.
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
