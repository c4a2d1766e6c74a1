package media

import (
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/pion/rtcp"
)

const (
	reportEvery  = 5 * sampleRate // samples between two reports, randomly varied by half (RFC 3550 §6.2)
	controlEvery = 4000           // samples between two reads of the RTCP socket; the kernel records the arrival times
	ntpEpoch     = 2208988800     // seconds from 1900 to 1970
)

// reporter is the RTCP state of a session.
type reporter struct {
	socket   socket
	readIn   int // samples until the socket is read
	sendIn   int // samples until the next report
	to       target
	lastSR   uint32 // middle 32 bits of the NTP time in the peer's last sender report
	lastSRAt int64  // arrival of that report
	trip     time.Duration
}

func newReporter(control socket) reporter {
	return reporter{socket: control, sendIn: reportEvery / 2, readIn: controlEvery}
}

// isReadDue advances the time by n samples and says whether the RTCP socket is to be read now.
func (r *reporter) isReadDue(n int) bool {
	if r.readIn -= n; r.readIn > 0 {
		return false
	}
	r.readIn = controlEvery
	return true
}

// isSendDue advances the time by n samples and says whether an RTCP report is to be sent now.
func (r *reporter) isSendDue(n int) bool {
	if r.sendIn -= n; r.sendIn > 0 {
		return false
	}
	r.sendIn = reportEvery/2 + rand.IntN(reportEvery) //nolint:gosec // no secret
	return true
}

// takePackets processes RTCP packets of the peer. ssrc identifies the stream that we send.
func (r *reporter) takePackets(packets []rtcp.Packet, ssrc uint32, arrived int64) {
	for _, p := range packets {
		switch p := p.(type) {
		case *rtcp.SenderReport:
			r.lastSR, r.lastSRAt = uint32(p.NTPTime>>16), arrived //nolint:gosec // the middle 32 bits
			r.measureTrip(p.Reports, ssrc, arrived)
		case *rtcp.ReceiverReport:
			r.measureTrip(p.Reports, ssrc, arrived)
		}
	}
}

// measureTrip computes the round-trip time from the peer's report block on the stream that we send (RFC 3550 §6.4.1).
func (r *reporter) measureTrip(reports []rtcp.ReceptionReport, ssrc uint32, arrived int64) {
	for _, b := range reports {
		if b.SSRC != ssrc || b.LastSenderReport == 0 {
			continue
		}
		trip := int32(uint32(ntp(arrived)>>16) - b.LastSenderReport - b.Delay) //nolint:gosec // modular, 1/65536 s
		if trip >= 0 && trip < 30<<16 {
			r.trip = time.Duration(trip) * time.Second >> 16
		}
	}
}

// packets returns a sender or receiver report on both directions and a source description with our CNAME.
func (r *reporter) packets(out *sender, in *receiver) []rtcp.Packet {
	now := time.Now().UnixNano()
	var blocks []rtcp.ReceptionReport
	if b, ok := in.count.Report(); ok {
		block := rtcp.ReceptionReport{
			SSRC: b.SSRC, FractionLost: b.Fraction, TotalLost: b.Lost, LastSequenceNumber: b.Highest, Jitter: b.Jitter * out.scale,
		}
		if r.lastSRAt > 0 {
			block.LastSenderReport = r.lastSR
			block.Delay = uint32((now - r.lastSRAt) << 16 / int64(time.Second)) //nolint:gosec // 18 hours
		}
		blocks = []rtcp.ReceptionReport{block}
	}
	name := &rtcp.SourceDescription{Chunks: []rtcp.SourceDescriptionChunk{{
		Source: out.ssrc, Items: []rtcp.SourceDescriptionItem{{Type: rtcp.SDESCNAME, Text: out.cname()}},
	}}}
	if !out.running {
		return []rtcp.Packet{&rtcp.ReceiverReport{SSRC: out.ssrc, Reports: blocks}, name}
	}
	return []rtcp.Packet{&rtcp.SenderReport{
		SSRC: out.ssrc, NTPTime: ntp(now), RTPTime: out.stamp * out.scale, Reports: blocks,
		PacketCount: uint32(out.packets), OctetCount: uint32(out.octets), //nolint:gosec // they wrap by design
	}, name}
}

// ntp converts a wall-clock time to the NTP format of RTCP.
func ntp(nanos int64) uint64 {
	seconds, rest := uint64(nanos/int64(time.Second))+ntpEpoch, uint64(nanos%int64(time.Second)) //nolint:gosec // after 1970
	return seconds<<32 | rest<<32/uint64(time.Second)
}

// exchangeReports reads the peer's RTCP packets and sends our report when either is due.
func (s *Session) exchangeReports(c *clock, n int, now time.Duration) {
	if s.report.isReadDue(n) {
		got := s.report.socket.receive(c.in, batchLen)
		for i := range got {
			data, from, arrived := c.in.packet(i)
			s.receiveReport(data, from, arrived, now)
		}
	}
	s.srtp.maintain(now, s.begun, &s.out, &s.events)
	if s.report.isSendDue(n) {
		if s.report.to.addr.IsValid() {
			s.sendReport(s.report.packets(&s.out, &s.in))
		}
		if s.isRunning() {
			s.quality.add(s.measure())
			s.in.count.ResetWorstJitter()
		}
	}
}

// receiveReport processes a compound RTCP packet of the peer. An RTCP BYE is ignored, because only SIP ends a call.
func (s *Session) receiveReport(data []byte, from netip.AddrPort, arrived int64, now time.Duration) {
	known := from.Addr() == s.in.source.described.Addr() || from.Addr() == s.in.confirmed.Addr() || from.Addr() == s.report.to.addr.Addr()
	if !known {
		s.in.refused++
		return
	}
	if s.srtp.out != nil {
		opened, errOpen := s.srtp.in.OpenControl(data)
		if errOpen != nil {
			s.in.refused++
			return
		}
		data = opened
	}
	packets, err := rtcp.Unmarshal(data)
	if err != nil {
		return
	}
	s.idle.setAlive(now)
	s.report.takePackets(packets, s.out.ssrc, arrived)
}

// sendGoodbye sends an RTCP BYE for the stream that we send.
func (s *Session) sendGoodbye() {
	if s.report.to.addr.IsValid() && s.out.packets > 0 {
		s.sendReport(append(s.report.packets(&s.out, &s.in), &rtcp.Goodbye{Sources: []uint32{s.out.ssrc}}))
	}
}

func (s *Session) sendReport(packets []rtcp.Packet) {
	b, err := rtcp.Marshal(packets)
	if err != nil || len(b) == 0 {
		return
	}
	if s.srtp.out != nil {
		if b, err = s.srtp.out.ProtectControl(b); err != nil {
			return
		}
	}
	if s.desc.agreed.Mux {
		s.sound.send(b, &s.report.to)
	} else {
		s.report.socket.send(b, &s.report.to)
	}
}
