package media

import (
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/dtmf"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/srtp"
)

// frame processes one frame of a session: it receives, plays, sends and records audio, and reports events. It returns
// the number of clock turns until the next frame.
func (s *Session) frame(c *clock) (turns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0
	}
	s.catchUp(c)
	now := c.now
	n := s.out.frameLen()
	s.receive(c)
	left, right := c.left[:n], c.right[:n]
	s.in.buffer.Get(left)
	s.detectKeys(left)
	if s.begun {
		s.analysis.analyze(left, s.playback.isAudible(), &s.events)
	}
	s.gatherOthers(n)
	s.preparePacket(&c.outgoing[c.at], right, now)
	s.mixer.share(left, right, s.in.samples > 0, s.playback.hold.on, s.recording.privacy.unheard > 0)
	if s.isRunning() {
		s.record(left, right)
	}
	s.recording.privacy.pass(n)
	s.exchangeReports(c, n, now)
	if a := &s.desc.agreed; s.begun && !a.Held && !a.Silent && s.idle.isOver(now, s.o.IdleAfter) { // on hold, silence is expected
		s.events.add(IdleTimeout{})
	}
	c.events = append(c.events, s.events...)
	s.events = s.events[:0]
	return s.out.frameTurns()
}

// catchUp handles a time in which the whole machine was suspended. The recording gets silence, and the timestamps of
// the sent RTP stream skip that time.
func (s *Session) catchUp(c *clock) {
	gap := c.leapt - s.leapt
	s.leapt = c.leapt
	if gap <= 0 {
		return
	}
	s.out.stamp += uint32(gap) //nolint:gosec // modular
	if s.isRunning() {
		s.recording.skip(gap)
	}
}

// preparePacket prepares the packet to send in this frame and writes its audio to right, as µ-law.
func (s *Session) preparePacket(out *outgoingPacket, right []byte, now time.Duration) {
	o, buf := &s.out, out.data[:]
	stamp := o.nextStamp(len(right))
	if !o.to.addr.IsValid() || o.held {
		if s.o.DTMF == DTMFInfo { // needs no RTP
			s.nextEvent(stamp, len(right))
		}
		quiet(right)
		o.pause()
		return
	}
	if s.relay(buf, right, stamp, now) {
		return
	}
	packet := rtp.Header{Version: rtpVersion, Marker: !o.running, PayloadType: o.kind, SequenceNumber: o.seq, Timestamp: stamp, SSRC: o.ssrc}
	octets := dtmf.PayloadLen
	if event, ok := s.nextEvent(stamp, len(right)); ok {
		quiet(right)
		packet.Marker, packet.PayloadType, packet.Timestamp = event.Marker, o.event, event.Timestamp
		event.Event.Duration = uint16(int(event.Event.Duration) * o.eventClock / sampleRate) //nolint:gosec // 150 ms
		event.Event.Encode(buf[rtpHeaderLen:])
	} else {
		s.fillFrame(right)
		if packet.PayloadType, octets = s.code.encode(buf[rtpHeaderLen:packetMost-srtp.Overhead], right, o, &s.desc.agreed.Noise); octets == 0 {
			o.pause()
			return
		}
		packet.Marker = packet.Marker || s.code.resumed
	}
	o.seq++
	out.packet = o.seal(buf, packet, octets, len(right), &s.srtp)
}

// sendPacket sends a packet unless the session has been closed in the meantime. Another session may then use the socket.
func (s *Session) sendPacket(packet []byte, now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.sound.send(packet, &s.out.to)
	s.out.interval.tick(now)
}

// fillFrame fills a frame with the audio to send: DTMF tones, hold music, or playback mixed with the bridged peer and
// listeners.
func (s *Session) fillFrame(right []byte) {
	n := 0
	switch {
	case s.digits.active: // a gap between digits
	case len(s.digits.tones) > 0:
		n = s.digits.fillTones(right, &s.events)
	case s.playback.hold.on:
		if !s.mixer.fillEarly(right) {
			s.playback.hold.fill(right)
		}
		return
	case s.playback.isAudible():
		n = s.playback.fill(right, &s.events)
	}
	quiet(right[n:])
	s.mixer.blend(right, n > 0)
}

// quiet fills a frame with silence.
func quiet(b []byte) {
	for i := range b {
		b[i] = g711.MuSilence
	}
}

// isSilence says whether a frame is completely silent.
func isSilence(b []byte) bool {
	for _, v := range b {
		if v != g711.MuSilence {
			return false
		}
	}
	return true
}
