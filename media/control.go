package media

import (
	"math/rand/v2"
	"net/netip"
	"strconv"
	"time"

	"github.com/pion/rtcp"
)

const (
	reportEvery  = 5 * sampleRate // samples between two reports, ± a half (RFC 3550 section 6.2)
	controlEvery = 4000           // samples between two looks into the RTCP socket; the kernel notes when packets came
	ntpEpoch     = 2208988800     // 1900 to 1970
)

// reporter speaks RTCP.
type reporter struct {
	look     int // samples until the next look
	due      int // samples until the next report
	to       target
	lastSR   uint32 // middle of the NTP time of their last sender report
	lastSRAt int64  // when it arrived
	trip     time.Duration
}

func newReporter() reporter {
	return reporter{due: reportEvery / 2, look: controlEvery}
}

// converse takes the far end's reports and sends ours when they are due.
func (s *Session) converse(c *clock, n int, now time.Duration) {
	r := &s.report
	if r.look -= n; r.look <= 0 {
		r.look = controlEvery
		got := s.control.receive(c.in, batchLen)
		for i := range got {
			data, from, arrived := c.in.packet(i)
			s.reported(data, from, arrived, now)
		}
	}
	s.mindKeys(now)
	if r.due -= n; r.due <= 0 {
		r.due = reportEvery/2 + rand.IntN(reportEvery) //nolint:gosec // no secret
		s.sendReport()
		if s.runs() {
			s.course.add(s.mark())
			s.in.count.Afresh()
		}
	}
}

// reported takes a compound packet of the far end. Nothing in it ends a call.
func (s *Session) reported(data []byte, from netip.AddrPort, arrived int64, now time.Duration) {
	known := from.Addr() == s.in.source.described.Addr() || from.Addr() == s.in.confirmed.Addr() || from.Addr() == s.report.to.addr.Addr()
	if !known {
		s.in.refused++
		return
	}
	if s.keys.out != nil {
		opened, errOpen := s.keys.in.OpenControl(data)
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
	s.idle.heard(now)
	for _, p := range packets {
		switch p := p.(type) {
		case *rtcp.SenderReport:
			s.report.lastSR, s.report.lastSRAt = uint32(p.NTPTime>>16), arrived //nolint:gosec // the middle 32 bits
			s.measure(p.Reports, arrived)
		case *rtcp.ReceiverReport:
			s.measure(p.Reports, arrived)
		}
	}
}

// measure takes the round trip from a report on our stream.
func (s *Session) measure(reports []rtcp.ReceptionReport, arrived int64) {
	for _, b := range reports {
		if b.SSRC != s.out.ssrc || b.LastSenderReport == 0 {
			continue
		}
		trip := int32(uint32(ntp(arrived)>>16) - b.LastSenderReport - b.Delay) //nolint:gosec // modular, 1/65536 s
		if trip >= 0 && trip < 30<<16 {
			s.report.trip = time.Duration(trip) * time.Second >> 16
		}
	}
}

func (s *Session) sendReport() {
	if s.report.to.addr.IsValid() {
		s.sendControl(s.summary())
	}
}

// goodbye ends the stream for the far end.
func (s *Session) goodbye() {
	if s.report.to.addr.IsValid() && s.out.packets > 0 {
		s.sendControl(append(s.summary(), &rtcp.Goodbye{Sources: []uint32{s.out.ssrc}}))
	}
}

func (s *Session) sendControl(packets []rtcp.Packet) {
	b, err := rtcp.Marshal(packets)
	if err != nil || len(b) == 0 {
		return
	}
	if s.keys.out != nil {
		if b, err = s.keys.out.ProtectControl(b); err != nil {
			return
		}
	}
	if s.desc.agreed.Mux {
		s.sound.send(b, &s.report.to)
	} else {
		s.control.send(b, &s.report.to)
	}
}

// summary is a report and who we are.
func (s *Session) summary() []rtcp.Packet {
	now := time.Now().UnixNano()
	var blocks []rtcp.ReceptionReport
	if b, ok := s.in.count.Report(); ok {
		block := rtcp.ReceptionReport{
			SSRC: b.SSRC, FractionLost: b.Fraction, TotalLost: b.Lost, LastSequenceNumber: b.Highest, Jitter: b.Jitter * s.out.scale,
		}
		if s.report.lastSRAt > 0 {
			block.LastSenderReport = s.report.lastSR
			block.Delay = uint32((now - s.report.lastSRAt) << 16 / int64(time.Second)) //nolint:gosec // 18 hours
		}
		blocks = []rtcp.ReceptionReport{block}
	}
	me := &rtcp.SourceDescription{Chunks: []rtcp.SourceDescriptionChunk{{
		Source: s.out.ssrc, Items: []rtcp.SourceDescriptionItem{{Type: rtcp.SDESCNAME, Text: s.cname()}},
	}}}
	if !s.out.running {
		return []rtcp.Packet{&rtcp.ReceiverReport{SSRC: s.out.ssrc, Reports: blocks}, me}
	}
	return []rtcp.Packet{&rtcp.SenderReport{
		SSRC: s.out.ssrc, NTPTime: ntp(now), RTPTime: s.out.stamp * s.out.scale, Reports: blocks,
		PacketCount: uint32(s.out.packets), OctetCount: uint32(s.out.octets), //nolint:gosec // they wrap by design
	}, me}
}

// cname tells the far end that its streams of one session are ours, and nothing else.
func (s *Session) cname() string { return strconv.FormatUint(uint64(s.out.ssrc), 36) + "@callboard" }

// ntp is a wall-clock time in the format of RTCP.
func ntp(nanos int64) uint64 {
	seconds, rest := uint64(nanos/int64(time.Second))+ntpEpoch, uint64(nanos%int64(time.Second)) //nolint:gosec // after 1970
	return seconds<<32 | rest<<32/uint64(time.Second)
}
