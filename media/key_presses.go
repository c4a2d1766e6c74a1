package media

import (
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/dtmf"
)

// keySource is how a key press came. Some phones send a press in two ways at once; it is reported once.
type keySource uint8

const (
	byEvent keySource = 1 << iota
	byInfo
	byBand
)

// pairWithin is how far apart two sources may bring the same press: an INFO can be repeated on a lossy network.
const pairWithin = 2 * time.Second

// keyPresses are the presses that were reported of late.
type keyPresses struct {
	khz      uint8 // clock of the telephone event that is under way
	next     uint8
	reported [8]struct {
		key byte
		by  keySource
		at  time.Duration
	}
	tones *dtmf.Detector // nil: tones are not detected
}

// isReported says whether a press was reported before, from another source; each source brings a press once. A press that was
// not counts as reported from now on.
func (p *keyPresses) isReported(key byte, by keySource, now time.Duration) bool {
	for i := range p.reported {
		r := &p.reported[(int(p.next)+i)%len(p.reported)] // the oldest first
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

// setDetection begins or ends the detection of tones.
func (p *keyPresses) setDetection(on bool) {
	switch {
	case !on:
		p.tones = nil
	case p.tones == nil:
		p.tones = new(dtmf.Detector)
	}
}

// eventDuration is how long the key of a telephone event was pressed.
func (p *keyPresses) eventDuration(press dtmf.Press) time.Duration {
	return time.Duration(press.Samples) * time.Millisecond / time.Duration(max(p.khz, 1))
}

// Pressed takes a key that the peer sent by INFO. It is reported as a Digit, unless the same press came in the audio or as a
// telephone event already.
func (s *Session) Pressed(key byte, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.reportKey(key, d, byInfo)
	}
}

// reportKey reports a key press, and relays it over a bridge, where a tone goes by itself.
func (s *Session) reportKey(key byte, d time.Duration, by keySource) {
	if s.keys.isReported(key, by, s.engine.now()) {
		return
	}
	s.events.add(Digit{Key: key, Duration: d})
	if l := s.mixer.link; l != nil && !l.preview && !s.playback.hold.on && by != byBand {
		l.out.press(key)
	}
}

// receiveEvent takes a packet of a telephone event.
func (s *Session) receiveEvent(p *rtp.Packet) {
	s.keys.khz = s.in.khz[p.PayloadType&127]
	if press, ended := s.in.events.Got(dtmf.Received{SSRC: p.SSRC, Timestamp: p.Timestamp, Seq: p.SequenceNumber, Payload: p.Payload}); ended {
		s.reportKey(press.Key, s.keys.eventDuration(press), byEvent)
	}
}

// detectKeys takes the keys that end in this frame: events whose last packet was lost, and tones.
func (s *Session) detectKeys(left []byte) {
	if s.keys.tones != nil {
		if press, ended := s.keys.tones.Frame(left); ended {
			s.reportKey(press.Key, samples(uint64(press.Samples)), byBand)
		}
	}
	if press, ended := s.in.events.Pass(len(left)); ended {
		s.reportKey(press.Key, s.keys.eventDuration(press), byEvent)
	}
}
