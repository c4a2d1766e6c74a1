package media

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/pion/rtp"
)

// NATMode says where audio is sent to and whose is heard (symmetric RTP: RFC 4961, RFC 7362 section 4).
type NATMode uint8

// The modes.
const (
	// NATAuto: audio goes to the address that the peer's description names, where that may be reached, and is heard from it
	// at once. Another port of that address, the address that signalling comes from and Options.Networks can be learnt. Where
	// the description names an address that may not be reached, or a host name, nothing goes there, and any source that may
	// be reached can be learnt.
	NATAuto NATMode = iota
	// NATOn: nothing goes to the address that the description names; any source that may be reached can be learnt.
	NATOn
	// NATOff: audio goes to the described address and is heard from it only; one that may not be reached is refused.
	NATOff
)

// A source that the description does not name is learnt by so many packets of negotiated payload types with rising sequence
// numbers within this time. Only then does audio go to it: one packet may be forged, and a stream is noticed.
const (
	learnPackets = 10
	learnWithin  = 400 * time.Millisecond
)

const (
	describedPackets = 3                      // in a row confirm the source that the description names
	streamPackets    = 3                      // in a row begin another stream of the confirmed source
	streamOver       = 100 * time.Millisecond // of silence; until then no other stream takes its place
	sourceSilent     = 3 * time.Second        // of the confirmed source; from then on another one can be learnt
	learnMost        = 3                      // sources after the first are learnt within learnPeriod
	learnPeriod      = time.Minute
	previousWait     = time.Second // after a new description, until the source of before can be learnt again
	candidatesMost   = 4           // sources prove themselves at a time
	audioExpected    = 3           // seconds after the answer without any packet are an issue
	sequenceLeap     = 100         // a sequence number that rises by more does not continue a stream
)

// refusalCause is why a packet was refused.
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

// sourceSearch is how a session finds the source of the peer's audio.
//
// A confirmed source is heard alone. Another one can be learnt only once it has been silent for sourceSilent, or once a new
// description names another address. Without a confirmed source the search goes on for as long as the session does.
type sourceSearch struct {
	described   netip.AddrPort // by the peer's description
	host        string         // in place of the address
	reachable   bool           // audio may go to described
	describedAt time.Duration  // when the description last named another address
	spokeAt     time.Duration  // when a packet of described last came; zero: none has
	previous    netip.AddrPort // was confirmed under the description of before
	candidates  []candidate
	learntAt    [learnMost]time.Duration // the last times that another source than the first was learnt
	cause       refusalCause             // of the last packet refused
	from        netip.AddrPort           // where it came from
}

// candidate is a source, or a new stream of the confirmed one, that is proving itself.
type candidate struct {
	from    netip.AddrPort
	ssrc    uint32
	seq     uint16
	packets int
	arrived [learnPackets]int64 // of the last packets, by the wall clock; a ring
}

// countPacket counts a packet that continues the stream.
func (c *candidate) countPacket(seq uint16, arrived int64) {
	switch rise := seq - c.seq; {
	case c.packets > 0 && rise == 0: // a copy
		return
	case c.packets > 0 && rise >= 1<<15: // overtaken by one that has been counted
		return
	case c.packets > 0 && rise > sequenceLeap:
		c.packets = 0
	}
	c.seq = seq
	c.arrived[c.packets%learnPackets] = arrived
	c.packets++
}

// isFast says whether the last learnPackets have come within learnWithin.
func (c *candidate) isFast() bool {
	if c.packets < learnPackets {
		return false
	}
	took := time.Duration(c.arrived[(c.packets-1)%learnPackets] - c.arrived[c.packets%learnPackets])
	return took >= 0 && took <= learnWithin
}

// clearCandidates ends the search.
func (r *receiver) clearCandidates() {
	if r.proving {
		r.proving, r.source.candidates = false, nil
	}
}

// candidate is that of a stream; the one heard longest ago gives way to a new one.
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

// expect names the address of a new description. What came before the first one was not meant for this session.
func (s *Session) expect(described netip.AddrPort, host string, reachable bool, now time.Duration) {
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

// sendTo sends audio and reports to a source.
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

// refuse counts a packet that is not heard.
func (r *receiver) refuse(from netip.AddrPort, why refusalCause) {
	r.refused++
	r.source.cause, r.source.from = why, from
}

// admit says whether a packet is heard, and confirms its source once that has proved itself.
func (s *Session) admit(from netip.AddrPort, p *rtp.Packet, k kind, arrived int64, now time.Duration) bool {
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

// admitConfirmed takes a packet from the confirmed address. Its address is easily forged: another stream is heard only once
// the one of before is over.
func (r *receiver) admitConfirmed(p *rtp.Packet, arrived int64, now time.Duration) bool {
	if p.SSRC != r.ssrc {
		c := r.candidate(r.confirmed, p.SSRC)
		c.countPacket(p.SequenceNumber, arrived)
		silent := time.Duration(arrived - r.arrived)
		if c.packets < streamPackets || silent >= 0 && silent < streamOver { // the wall clock may be set back
			return false
		}
		r.ssrc = p.SSRC
	}
	r.clearCandidates()
	r.arrived, r.heardAt = arrived, now
	return true
}

// confirm accepts audio from this source alone.
func (r *receiver) confirm(from netip.AddrPort, ssrc uint32, arrived int64, now time.Duration) {
	f := r.source
	if r.confirmed.IsValid() {
		copy(f.learntAt[1:], f.learntAt[:])
		f.learntAt[0] = now
	}
	r.confirmed, r.ssrc, r.arrived, r.heardAt = from, ssrc, arrived, now
	r.clearCandidates()
}

// mayLearnAnother says whether the confirmed source has been silent for so long that another may take its place, as where a
// NAT has bound its stream anew. expected: the peer said that it would not send.
func (r *receiver) mayLearnAnother(now time.Duration, expected bool) bool {
	oldest := r.source.learntAt[learnMost-1]
	return now-r.heardAt >= sourceSilent && !expected && (oldest == 0 || now-oldest >= learnPeriod)
}

// unlearnable says why a source that the description does not name cannot be learnt.
func (s *Session) unlearnable(from netip.AddrPort, now time.Duration) refusalCause {
	f := s.in.source
	secure := s.srtp.out != nil // its packet was authenticated
	known := f.reachable && s.o.NAT != NATOn && !secure
	near := from.Addr() == f.described.Addr() || from.Addr() == s.o.Far || within(from.Addr(), s.o.Networks)
	switch {
	case s.o.NAT == NATOff, known && !near:
		return otherSource
	case f.spokeAt > 0 && now-f.spokeAt < sourceSilent && !s.in.confirmed.IsValid():
		return otherSource // the described source is proving itself
	case from == f.previous && now-f.describedAt < previousWait && !secure:
		return otherSource // its packets are meant for the description of before
	case !s.engine.mayReach(from, s.o.Networks):
		return addressNotAllowed
	}
	return notRefused
}

// audioIssue says why nothing was heard, or nothing was sent; "": both were, or were not to be.
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

// describedHost is the address or the host name in the SDP.
func (f *sourceSearch) describedHost() string {
	if f.host != "" {
		return f.host
	}
	return f.described.Addr().String()
}
