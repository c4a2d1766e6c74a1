package media

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/pion/rtp"
)

// NATMode says where a session sends audio and from which source address it accepts audio (symmetric RTP: RFC 4961,
// RFC 7362 §4).
type NATMode uint8

// The NAT modes. To learn a source means to accept its audio and to send our audio to it.
const (
	// NATAuto sends audio to the address in the peer's SDP and accepts audio from there at once. Another port of that
	// address, the source address of the signalling and Options.Networks can be learnt. If the SDP names a host
	// name or a disallowed address, no audio goes there, and any allowed source can be learnt.
	NATAuto NATMode = iota
	// NATOn sends no audio to the address in the SDP. Any allowed source can be learnt.
	NATOn
	// NATOff sends audio to the address in the SDP and accepts audio only from there. SDP with a disallowed address is
	// refused.
	NATOff
)

// A source other than the one in the SDP is learnt after learnPackets packets within learnWithin. They need negotiated
// payload types and rising sequence numbers. A single packet could be forged unnoticed, but a forged stream would be
// noticed.
const (
	learnPackets = 10
	learnWithin  = 400 * time.Millisecond
)

const (
	describedPackets = 3                      // consecutive packets that confirm the source in the SDP
	streamPackets    = 3                      // consecutive packets that start another stream of the confirmed source
	streamOver       = 100 * time.Millisecond // of silence, before another stream can replace the current one
	sourceSilent     = 3 * time.Second        // of silence of the confirmed source, before another source can be learnt
	learnMost        = 3                      // maximum of sources learnt within learnPeriod, after the first
	learnPeriod      = time.Minute
	previousWait     = time.Second // after new SDP, until the previous source can be learnt again
	candidatesMost   = 4           // maximum of candidates at a time
	audioExpected    = 3           // seconds after the answer without a packet that count as an audio issue
	sequenceLeap     = 100         // a greater step in the sequence numbers starts another stream
)

// refusalCause is the reason why an RTP packet was refused.
type refusalCause uint8

const (
	notRefused refusalCause = iota
	notRTP
	otherSource
	addressNotAllowed
	payloadNotAgreed
	notAuthentic
)

func (c refusalCause) String() string {
	return [...]string{
		notRTP:            "the packets are not RTP",
		otherSource:       "the SDP names another address; if the peer sends from others, set nat to on or add media_networks",
		addressNotAllowed: "no audio may go to that address; the operator's egress rules or media_networks can allow it",
		payloadNotAgreed:  "the payload type was not negotiated",
		notAuthentic:      "the SRTP authentication failed",
	}[c]
}

// sourceSearch determines the source address of the peer's audio.
//
// The session plays only a confirmed source. Another source can be learnt after sourceSilent without packets, or after
// SDP with another address. Without a confirmed source the search continues until the session ends.
type sourceSearch struct {
	described   netip.AddrPort // address in the peer's SDP
	host        string         // host name in the SDP instead of an address
	reachable   bool           // audio may be sent to described
	describedAt time.Duration  // when SDP last named another address
	spokeAt     time.Duration  // arrival of the last packet from described; zero: none
	previous    netip.AddrPort // source that was confirmed under the previous SDP
	candidates  []candidate
	learntAt    [learnMost]time.Duration // when further sources were learnt, the latest first
	cause       refusalCause             // why the last packet was refused
	from        netip.AddrPort           // source of that packet
}

// candidate is an RTP stream that is not confirmed yet, from a new source address or with a new SSRC.
type candidate struct {
	from    netip.AddrPort
	ssrc    uint32
	seq     uint16
	packets int
	arrived [learnPackets]int64 // arrival times of the last packets, by the wall clock; a ring
}

// countPacket counts a packet of the candidate. Copies and reordered packets do not count. A leap in the sequence
// numbers restarts the count.
func (c *candidate) countPacket(seq uint16, arrived int64) {
	switch rise := seq - c.seq; {
	case c.packets > 0 && rise == 0: // a copy
		return
	case c.packets > 0 && rise >= 1<<15: // arrived out of order
		return
	case c.packets > 0 && rise > sequenceLeap:
		c.packets = 0
	}
	c.seq = seq
	c.arrived[c.packets%learnPackets] = arrived
	c.packets++
}

// isFast says whether the last learnPackets arrived within learnWithin.
func (c *candidate) isFast() bool {
	if c.packets < learnPackets {
		return false
	}
	took := time.Duration(c.arrived[(c.packets-1)%learnPackets] - c.arrived[c.packets%learnPackets])
	return took >= 0 && took <= learnWithin
}

// clearCandidates ends the search for a source and removes its candidates.
func (r *receiver) clearCandidates() {
	if r.proving {
		r.proving, r.source.candidates = false, nil
	}
}

// candidate returns the candidate for a stream and creates it if necessary. If there are too many candidates, the new
// one replaces the oldest.
func (r *receiver) candidate(from netip.AddrPort, ssrc uint32) *candidate {
	f := r.source
	r.proving = true
	for i := range f.candidates {
		if c := &f.candidates[i]; c.from == from && c.ssrc == ssrc {
			return c
		}
	}
	if len(f.candidates) == candidatesMost {
		f.candidates = append(f.candidates[:0], f.candidates[1:]...)
	}
	f.candidates = append(f.candidates, candidate{from: from, ssrc: ssrc})
	return &f.candidates[len(f.candidates)-1]
}

// setDescribedSource sets the peer's address from newly agreed SDP. Packets that arrived before the first SDP are
// discarded, because they do not belong to this session.
func (s *Session) setDescribedSource(described netip.AddrPort, host string, reachable bool, now time.Duration) {
	f := s.in.source
	if !s.in.open {
		s.sound.drain()
		s.report.socket.drain()
	}
	if f.previous = s.in.confirmed; !f.previous.IsValid() && f.reachable {
		f.previous = f.described
	}
	s.in.open, f.described, f.host, f.reachable, f.describedAt = true, described, host, reachable, now
	f.spokeAt = 0
	s.in.clearCandidates()
	s.in.confirmed = netip.AddrPort{}
	s.out.to, s.report.to = target{}, target{}
	if reachable {
		s.sendTo(described)
	}
}

// sendTo sets the address to which audio is sent, and the address for RTCP that belongs to it.
func (s *Session) sendTo(to netip.AddrPort) {
	s.out.to, s.report.to = s.sound.target(to), target{}
	control := netip.AddrPortFrom(to.Addr(), to.Port()+1)
	if to == s.in.source.described {
		control = s.desc.agreed.RTCP
	}
	switch {
	case s.desc.agreed.Mux:
		s.report.to = s.report.socket.target(to)
	case s.engine.mayReach(control, s.o.Networks):
		s.report.to = s.report.socket.target(control)
	}
}

// refuse counts a packet that is not accepted and records its source and the reason.
func (r *receiver) refuse(from netip.AddrPort, why refusalCause) {
	r.refused++
	r.source.cause, r.source.from = why, from
}

// acceptPacket says whether a packet is accepted. It confirms the packet's source once enough packets have arrived.
func (s *Session) acceptPacket(from netip.AddrPort, p *rtp.Packet, k kind, arrived int64, now time.Duration) bool {
	r, f := &s.in, s.in.source
	switch {
	case r.confirmed.IsValid() && from == r.confirmed:
		return r.admitConfirmed(p, arrived, now)
	case r.confirmed.IsValid() && !r.mayLearnAnother(now, s.desc.agreed.Silent):
		r.refuse(from, otherSource)
		return false
	case k == unknownKind || k == noiseKind:
		r.refuse(from, payloadNotAgreed)
		return false
	}
	described := f.reachable && from == f.described
	if described {
		f.spokeAt = now
	} else if why := s.unlearnable(from, now); why != notRefused {
		r.refuse(from, why)
		return false
	}
	c := r.candidate(from, p.SSRC)
	c.countPacket(p.SequenceNumber, arrived)
	if proved := s.srtp.out != nil || c.isFast() || described && c.packets >= describedPackets; !proved {
		return described && !r.confirmed.IsValid()
	}
	if r.confirm(from, p.SSRC, arrived, now); s.out.to.addr != from {
		s.sendTo(from)
	}
	return true
}

// admitConfirmed says whether a packet from the confirmed address is accepted. Because source addresses are easily
// forged, another SSRC is accepted only after the current stream has stopped.
func (r *receiver) admitConfirmed(p *rtp.Packet, arrived int64, now time.Duration) bool {
	if p.SSRC != r.ssrc {
		c := r.candidate(r.confirmed, p.SSRC)
		c.countPacket(p.SequenceNumber, arrived)
		silent := time.Duration(arrived - r.arrived)
		if c.packets < streamPackets || silent >= 0 && silent < streamOver { // negative if the wall clock was set back
			return false
		}
		r.ssrc = p.SSRC
	}
	r.clearCandidates()
	r.arrived, r.heardAt = arrived, now
	return true
}

// confirm makes a stream the only source whose audio is accepted.
func (r *receiver) confirm(from netip.AddrPort, ssrc uint32, arrived int64, now time.Duration) {
	f := r.source
	if r.confirmed.IsValid() {
		copy(f.learntAt[1:], f.learntAt[:])
		f.learntAt[0] = now
	}
	r.confirmed, r.ssrc, r.arrived, r.heardAt = from, ssrc, arrived, now
	r.clearCandidates()
}

// mayLearnAnother says whether the confirmed source has been silent so long that another source may replace it, for
// example after a new NAT binding. expected says that the peer's SDP announced that it sends no audio.
func (r *receiver) mayLearnAnother(now time.Duration, expected bool) bool {
	oldest := r.source.learntAt[learnMost-1]
	return now-r.heardAt >= sourceSilent && !expected && (oldest == 0 || now-oldest >= learnPeriod)
}

// unlearnable returns the reason why a source other than the one in the SDP cannot be learnt, or notRefused.
func (s *Session) unlearnable(from netip.AddrPort, now time.Duration) refusalCause {
	f := s.in.source
	secure := s.srtp.out != nil // its packet was authenticated
	known := f.reachable && s.o.NAT != NATOn && !secure
	near := from.Addr() == f.described.Addr() || from.Addr() == s.o.SignallingAddress || isWithin(from.Addr(), s.o.Networks)
	switch {
	case s.o.NAT == NATOff, known && !near:
		return otherSource
	case f.spokeAt > 0 && now-f.spokeAt < sourceSilent && !s.in.confirmed.IsValid():
		return otherSource // the source in the SDP is being confirmed
	case from == f.previous && now-f.describedAt < previousWait && !secure:
		return otherSource // its packets belong to the previous SDP
	case !s.engine.mayReach(from, s.o.Networks):
		return addressNotAllowed
	}
	return notRefused
}

// audioIssue returns a sentence that says why no audio was received or sent, or "" if there is no problem.
func (s *Session) audioIssue() string {
	f := s.in.source
	switch a := &s.desc.agreed; {
	case !s.desc.settled || a.Held || a.Silent:
		return ""
	case s.in.count.Totals().Received > 0:
		return ""
	case f.cause != notRefused:
		return fmt.Sprintf("No audio was heard: %d packets were refused, the last from %s: %s.", s.in.refused, f.from, f.cause)
	case s.out.packets == 0 && !f.reachable:
		return fmt.Sprintf("No audio was heard or sent: the SDP names %s, where no audio may go, and no RTP came from another address.", f.describedHost())
	}
	if s.recording.position < audioExpected*sampleRate {
		return ""
	}
	return "No audio was heard: no RTP packet came."
}

// describedHost returns the host name or address that the peer's SDP names.
func (f *sourceSearch) describedHost() string {
	if f.host != "" {
		return f.host
	}
	return f.described.Addr().String()
}
