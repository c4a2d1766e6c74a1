package media

import (
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/dtmf"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/sdp"
	"github.com/callboard/callboard/media/srtp"
	"github.com/callboard/callboard/media/vad"
)

// sender is our stream.
type sender struct {
	to      target
	ssrc    uint32
	stamp   uint32
	seq     uint16
	held    bool
	running bool // the last frame was sent
	codec   Codec
	kind    uint8 // payload type of sound
	event   uint8 // payload type of telephone events
	ptime   int   // ms
	// scale is how many units of the stream's clock a sample is; eventClock, in Hz, is what durations of events count in.
	scale      uint32
	eventClock int
	packets    uint64
	octets     uint64
	samples    uint64
	interval   intervals
}

// settle takes what was agreed.
func (o *sender) settle(a *sdp.Agreed) {
	o.held, o.ptime = a.Held, a.PTime
	o.kind, o.event = a.Codec.Type, a.Event.Type
	o.codec = codecNamed(a.Codec.Name)
	o.scale, o.eventClock = uint32(a.Codec.Clock/sampleRate), a.Event.Clock //nolint:gosec // 8 or 48 kHz
}

// frame is one turn of a session: receive, play out, send, record, report. It says in how many turns the next is due.
func (s *Session) frame(c *clock) (turns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0
	}
	s.catchUp(c)
	now := c.now
	n := s.out.ptime * sampleRate / 1000
	s.receive(c)
	left, right := c.left[:n], c.right[:n]
	s.hear(left)
	s.gather(n)
	s.speak(&c.mail[c.at], right, now)
	s.share(left, right)
	if s.runs() {
		s.media += int64(n)
		s.keepFrame(left, right)
	}
	s.hush.pass(n)
	s.converse(c, n, now)
	s.watch(now)
	c.events = append(c.events, s.events...)
	s.events = s.events[:0]
	return s.out.ptime / int(turn/time.Millisecond)
}

// catchUp lets pass the time that the machine stood still: silence in the recording, a leap in the stream's timestamps.
func (s *Session) catchUp(c *clock) {
	gap := c.leapt - s.leapt
	s.leapt = c.leapt
	if gap <= 0 {
		return
	}
	s.out.stamp += uint32(gap) //nolint:gosec // modular
	if s.runs() {
		s.media += gap
		if s.recorder != nil {
			s.recorder.Silence(int(gap))
		}
	}
}

// hear plays out one frame of the far end's sound.
func (s *Session) hear(left []byte) {
	s.buffer.Get(left)
	s.overhear(left)
	if press, ended := s.heard.Pass(len(left)); ended {
		s.pressed(press)
	}
	if !s.begun {
		return
	}
	if s.ear != nil {
		s.ear(left)
	}
	switch s.voice.Frame(left) {
	case vad.Began:
		s.events = append(s.events, SpeechBegan{})
	case vad.Ended:
		s.events = append(s.events, SpeechEnded{})
	case vad.None:
	}
	if s.answerer != nil {
		s.whoIs(left)
	}
}

// whoIs tells what a frame says of who has answered.
func (s *Session) whoIs(left []byte) {
	e := s.answerer.Frame(left)
	if e.Verdict {
		s.events = append(s.events, Answerer{By: e.Class})
	}
	if e.Beep {
		s.events = append(s.events, Beep{})
	}
	if e.Over {
		s.events = append(s.events, GreetingOver{})
	}
	if s.answerer.Done() {
		s.answerer = nil
	}
}

// speak sends one frame and leaves in right what was sent, as µ-law.
func (s *Session) speak(out *letter, right []byte, now time.Duration) {
	o, buf := &s.out, out.data[:]
	stamp := o.stamp
	o.stamp += uint32(len(right)) //nolint:gosec // a frame
	if !o.to.addr.IsValid() || o.held {
		if s.o.DTMF == DTMFInfo { // which needs no way for audio
			s.nextEvent(stamp, len(right))
		}
		quiet(right)
		o.running = false
		o.interval.pause()
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
		event.Event.Put(buf[rtpHeaderLen:])
	} else {
		s.next(right)
		if packet.PayloadType, octets = s.encode(buf[rtpHeaderLen:packetMost-srtp.Overhead], right); octets == 0 {
			o.running = false
			o.interval.pause()
			return
		}
		packet.Marker = packet.Marker || s.code.resumed
	}
	o.seq++
	out.packet = s.wrap(buf, packet, octets, len(right))
}

// wrap makes a packet of the payload that stands in buf, behind the place of its header, and counts it; nil: it must not be
// sent.
func (s *Session) wrap(buf []byte, packet rtp.Header, octets, length int) []byte {
	o := &s.out
	packet.Timestamp *= o.scale
	if _, err := packet.MarshalTo(buf); err != nil {
		return nil
	}
	o.running = true
	o.packets++
	o.octets += uint64(octets)  //nolint:gosec // a packet
	o.samples += uint64(length) //nolint:gosec // a frame
	sealed, ok := s.seal(buf[:rtpHeaderLen+octets])
	if !ok {
		return nil
	}
	return sealed
}

// post sends a packet, unless the session has been closed since: its socket may be another's by now.
func (s *Session) post(packet []byte, now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.sound.send(packet, &s.out.to)
	s.out.interval.tick(now)
}

// next fills a frame with what plays.
func (s *Session) next(right []byte) {
	n := 0
	switch {
	case s.sending: // a gap between digits
	case len(s.play.keys) > 0:
		n = copy(right, s.play.keys)
		if s.play.keys = s.play.keys[n:]; len(s.play.keys) == 0 {
			s.digitsSent()
		}
	case s.hold.on:
		if !s.foretold(right) {
			s.hold.fill(right)
		}
		return
	case s.play.active && !s.play.still:
		n = s.played(right)
	}
	quiet(right[n:])
	s.blend(right, n > 0)
}

// played fills a frame with the clip or the feed that plays, as far as there is any.
func (s *Session) played(right []byte) (n int) {
	var over bool
	if f := s.play.feed; f != nil {
		n, over = f.fill(right, s.play.at, s.play.dry)
		s.play.dry = n < len(right)
		s.play.at += n
	} else {
		n = copy(right, s.play.clip[s.play.at:])
		s.play.at += n
		over = s.play.at == len(s.play.clip)
	}
	if over {
		s.events = append(s.events, Played{ID: s.play.id, Heard: samples(s.play.at)})
		s.play.active, s.play.clip, s.play.feed = false, nil, nil
	}
	return n
}

// watch tells once when the far end is gone. Silence on hold is no death.
func (s *Session) watch(now time.Duration) {
	a := &s.desc.agreed
	if !s.begun || a.Held || a.Silent || s.idle.told || now-s.idle.last < s.o.IdleAfter {
		return
	}
	s.idle.told = true
	s.events = append(s.events, Vanished{})
}

func quiet(b []byte) {
	for i := range b {
		b[i] = g711.MuSilence
	}
}

// mute says whether a frame is silence throughout.
func mute(b []byte) bool {
	for _, v := range b {
		if v != g711.MuSilence {
			return false
		}
	}
	return true
}
