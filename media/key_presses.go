package media

import (
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/dtmf"
)

// keySource is the transport of a received DTMF digit: telephone event, SIP INFO or tone. Some phones send a digit by
// two transports, but the session reports it once.
type keySource uint8

const (
	byEvent keySource = 1 << iota
	byInfo
	byBand
)

// pairWithin is the maximum time between the arrivals of one digit by two transports. The time allows for SIP INFO
// requests that are retransmitted on a lossy network.
const pairWithin = 2 * time.Second

// keyPresses are the recently reported DTMF digits.
type keyPresses struct {
	khz      uint8 // clock rate of the current telephone event
	next     uint8
	reported [8]struct {
		key byte
		by  keySource
		at  time.Duration
	}
	tones *dtmf.Detector // nil: tones are not detected
}

// isReported says whether the same digit was already reported from another transport. Otherwise it records the digit as
// reported. The same digit from the same transport is another key press.
func (p *keyPresses) isReported(key byte, by keySource, now time.Duration) bool {
	for i := range p.reported {
		r := &p.reported[(int(p.next)+i)%len(p.reported)] // the oldest entry first
		if r.key == key && r.by&by == 0 && r.by != 0 && now-r.at < pairWithin {
			r.by |= by
			return true
		}
	}
	r := &p.reported[p.next]
	r.key, r.by, r.at = key, by, now
	p.next = (p.next + 1) % uint8(len(p.reported))
	return false
}

// setDetection turns the detection of tones on or off.
func (p *keyPresses) setDetection(on bool) {
	switch {
	case !on:
		p.tones = nil
	case p.tones == nil:
		p.tones = new(dtmf.Detector)
	}
}

// eventDuration returns how long the key of a telephone event was pressed.
func (p *keyPresses) eventDuration(press dtmf.Press) time.Duration {
	return time.Duration(press.Samples) * time.Millisecond / time.Duration(max(p.khz, 1))
}

// ReceiveInfoDigit accepts a digit that the peer sent by SIP INFO. The session reports a Digit, unless the same digit already
// arrived as a tone or telephone event.
func (s *Session) ReceiveInfoDigit(key byte, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.reportKey(key, d, byInfo)
	}
}

// reportKey reports a digit to the owner and relays it to the other peer of a bridge. A digit received as a tone is not
// relayed, because the bridged audio contains the tone.
func (s *Session) reportKey(key byte, d time.Duration, by keySource) {
	if s.keys.isReported(key, by, s.engine.now()) {
		return
	}
	s.events.add(Digit{Key: key, Duration: d})
	if l := s.mixer.link; l != nil && !l.preview && !s.playback.hold.on && by != byBand {
		l.out.addDigit(key)
	}
}

// receiveEvent processes a packet of a telephone event.
func (s *Session) receiveEvent(p *rtp.Packet) {
	s.keys.khz = s.in.khz[p.PayloadType&127]
	if press, ended := s.in.events.AddEventPacket(dtmf.EventPacket{SSRC: p.SSRC, Timestamp: p.Timestamp, Seq: p.SequenceNumber, Payload: p.Payload}); ended {
		s.reportKey(press.Key, s.keys.eventDuration(press), byEvent)
	}
}

// detectKeys reports digits whose end is detected in this frame: tones, and telephone events whose end packets were
// lost.
func (s *Session) detectKeys(left []byte) {
	if s.keys.tones != nil {
		if press, ended := s.keys.tones.Frame(left); ended {
			s.reportKey(press.Key, samples(uint64(press.Samples)), byBand)
		}
	}
	if press, ended := s.in.events.AdvanceTime(len(left)); ended {
		s.reportKey(press.Key, s.keys.eventDuration(press), byEvent)
	}
}
