package media

import (
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/dtmf"
	"github.com/callboard/callboard/media/tone"
)

// way is how a key press came. Some send a press in two ways at once; it is told once.
type way uint8

const (
	byEvent way = 1 << iota
	byInfo
	byBand
)

// pairWithin is how far apart two ways may bring the same press: an INFO can be repeated over a lossy way.
const pairWithin = 2 * time.Second

// presses remembers what was told of late.
type presses struct {
	khz  uint8 // of the telephone event that is under way
	next uint8
	told [8]struct {
		key byte
		by  way
		at  time.Duration
	}
	band *dtmf.Detector // nil: nobody listens for tones
}

// again says whether a press was told before, by another way; each way brings a press once.
func (p *presses) again(key byte, by way, now time.Duration) bool {
	for i := range p.told {
		t := &p.told[(int(p.next)+i)%len(p.told)] // the oldest first
		if t.key == key && t.by&by == 0 && t.by != 0 && now-t.at < pairWithin {
			t.by |= by
			return true
		}
	}
	t := &p.told[p.next]
	t.key, t.by, t.at = key, by, now
	p.next = (p.next + 1) % uint8(len(p.told))
	return false
}

// Pressed takes a key that the far end told by INFO. It is told as a Digit, unless the same key press came by the sound
// or by a telephone event already.
func (s *Session) Pressed(key byte, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.tell(key, d, byInfo)
	}
}

// tell tells a digit, and passes it on over a bridge, where a tone goes by itself.
func (s *Session) tell(key byte, d time.Duration, by way) {
	if s.keypad.again(key, by, s.engine.now()) {
		return
	}
	s.events = append(s.events, Digit{Key: key, Duration: d})
	if s.link != nil && !s.link.preview && !s.hold.on && by != byBand {
		s.link.out.press(key)
	}
}

// press takes a telephone event.
func (s *Session) press(p *rtp.Packet) {
	s.keypad.khz = s.in.khz[p.PayloadType&127]
	if press, ended := s.heard.Got(dtmf.Received{SSRC: p.SSRC, Timestamp: p.Timestamp, Seq: p.SequenceNumber, Payload: p.Payload}); ended {
		s.pressed(press)
	}
}

// pressed tells a telephone event that has ended.
func (s *Session) pressed(press dtmf.Press) {
	s.tell(press.Key, time.Duration(press.Samples)*time.Millisecond/time.Duration(max(s.keypad.khz, 1)), byEvent)
}

// detect listens for tones where no better way was agreed on.
func (s *Session) detect() {
	switch {
	case s.o.DTMF != DTMFInband && (s.o.DTMF != DTMFAuto || s.desc.agreed.Event.Name != ""):
		s.keypad.band = nil
	case s.keypad.band == nil:
		s.keypad.band = new(dtmf.Detector)
	}
}

// overhear looks for tones in a frame received.
func (s *Session) overhear(left []byte) {
	if s.keypad.band == nil {
		return
	}
	if press, ended := s.keypad.band.Frame(left); ended {
		s.tell(press.Key, samples(uint64(press.Samples)), byBand)
	}
}

// tones says whether digits go out in the sound.
func (s *Session) tones() bool {
	switch s.o.DTMF {
	case DTMFInband:
		return true
	case DTMFInfo:
		return false
	case DTMFAuto, DTMFRFC4733:
	}
	return s.desc.settled && s.desc.agreed.Event.Name == ""
}

// SendDigits sends digits in place of those being sent, in the way of Options.DTMF. What plays waits meanwhile. 'w' and ','
// wait for half a second.
func (s *Session) SendDigits(id uint64, digits string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.play.keys, s.sending, s.passing = nil, false, false
	s.digitsID = id
	switch {
	case !s.digits.Start(digits):
		s.events = append(s.events, DigitsSent{ID: id})
	case s.tones():
		s.play.keys, s.digits = tone.Keys(digits), dtmf.Sender{}
	default:
		s.sending = true
	}
}

// passKeys sends digits of the other side of a bridge after those being sent; nobody is told of their end.
func (s *Session) passKeys(keys string) {
	if !s.sending && len(s.play.keys) == 0 {
		s.passing = true
	}
	if s.tones() {
		s.play.keys = append(s.play.keys, tone.Keys(keys)...)
		return
	}
	s.digits.Add(keys)
	s.sending = true
}

// digitsSent tells the end of SendDigits.
func (s *Session) digitsSent() {
	if !s.passing {
		s.events = append(s.events, DigitsSent{ID: s.digitsID})
	}
}

// nextEvent is the telephone event of this frame, if any. Where INFO is the way, the owner is asked for it, at the same pace.
func (s *Session) nextEvent(stamp uint32, n int) (dtmf.Packet, bool) {
	if !s.sending {
		return dtmf.Packet{}, false
	}
	if s.tones() { // the far end's description came after the digits and takes no events
		s.sending, s.play.keys, s.digits = false, tone.Keys(s.digits.Left()), dtmf.Sender{}
		return dtmf.Packet{}, false
	}
	p, ok := s.digits.Next(stamp, n)
	if !s.digits.Busy() {
		s.sending = false
		s.digitsSent()
	}
	if s.o.DTMF == DTMFInfo {
		if ok && p.Marker {
			s.events = append(s.events, SendInfo{ContentType: dtmf.InfoType, Body: dtmf.Info(p.Event.Code)})
		}
		return dtmf.Packet{}, false
	}
	return p, ok
}
