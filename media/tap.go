package media

import (
	"errors"
	"slices"

	"github.com/callboard/callboard/media/mix"
)

// TapMode is what somebody who listens to a call may do besides.
type TapMode uint8

// The modes.
const (
	// Listen hears both sides and is heard by nobody.
	Listen TapMode = iota
	// Whisper is heard by the side that the session is bridged to, the agent or human, and never by the session's far end.
	Whisper
	// Barge is heard by both.
	Barge
)

// TapFrame is how many bytes a listener is handed at a time: 20 ms of 8 kHz mono µ-law.
const TapFrame = 160

const (
	tapsMost = 8
	tapSlack = 320  // 40 ms: what networks may be late
	tapMost  = 3200 // 400 ms: what a listener who speaks may be early
)

// ErrTaps tells that as many listen to the session as may.
var ErrTaps = errors.New("media: too many listeners")

// Tap is one who listens to a session.
type Tap struct {
	session *Session
	mode    TapMode
	out     func(frame []byte)
	said    *queue // nil where the mode is silent
	voice   [frameMost]byte
	speaks  bool // voice holds sound in this frame
	frame   [TapFrame]byte
	n       int
}

// Tap lets somebody listen to what both sides of the session say, mixed. out is handed frames of TapFrame bytes which are
// overwritten afterwards, and nil once, at the session's end; it is called from the media clock and must neither block nor
// call the session. What the listener says itself it does not hear. While the session is Sensitive, all is silence.
// Errors: ErrClosed, ErrTaps.
func (s *Session) Tap(mode TapMode, out func(frame []byte)) (*Tap, error) {
	t := &Tap{session: s, mode: mode, out: out}
	if mode != Listen {
		t.said = &queue{slack: tapSlack, most: tapMost}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.taps == nil:
		s.taps = new(taps)
	case len(s.taps.all) >= tapsMost:
		return nil, ErrTaps
	}
	s.taps.all = append(slices.Clip(s.taps.all), t)
	s.taps.count()
	return t, nil
}

// Say puts sound in, µ-law of any length, at the pace at which it shall be heard; what is more than 400 ms ahead pushes the
// oldest out. A tap that only listens ignores it.
func (t *Tap) Say(mu []byte) {
	if t.said != nil {
		t.said.put(mu)
	}
}

// Close ends the listening, as often as it is called. out may be called once more meanwhile, not afterwards.
func (t *Tap) Close() {
	s := t.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taps == nil {
		return
	}
	s.taps.all = slices.DeleteFunc(slices.Clone(s.taps.all), func(other *Tap) bool { return other == t })
	s.taps.count()
	if len(s.taps.all) == 0 {
		s.taps = nil
	}
}

// taps are those who listen to one session.
type taps struct {
	all     []*Tap
	active  int // of them may speak
	blended bool
	bus     mix.Bus
	heard   [frameMost]byte
}

func (t *taps) count() {
	t.active = 0
	for _, one := range t.all {
		if one.said != nil {
			t.active++
		}
	}
}

// gather takes what each says in this frame.
func (t *taps) gather(n int) {
	t.blended = false
	for _, one := range t.all {
		one.speaks = one.said != nil && one.said.get(one.voice[:n])
	}
}

// add puts into the bus what those of a mode say.
func (t *taps) add(bus *mix.Bus, n int, modes ...TapMode) {
	for _, one := range t.all {
		if one.speaks && slices.Contains(modes, one.mode) {
			bus.Add(one.voice[:n])
		}
	}
}

// tell hands each what the others say. What the far end says is left, what it hears is right.
func (t *taps) tell(left, right []byte, secret bool) {
	n := len(left)
	t.bus.Begin(n)
	if !secret {
		t.bus.Add(left)
		t.bus.Add(right)
	}
	t.add(&t.bus, n, Whisper)
	if !t.blended || secret { // what is barged in is part of right, unless that was not sent
		t.add(&t.bus, n, Barge)
	}
	for _, one := range t.all {
		if one.speaks {
			t.bus.Without(t.heard[:n], one.voice[:n])
		} else {
			t.bus.Sum(t.heard[:n])
		}
		one.hand(t.heard[:n])
	}
}

// hand cuts into frames.
func (t *Tap) hand(mu []byte) {
	for len(mu) > 0 {
		n := copy(t.frame[t.n:], mu)
		t.n += n
		mu = mu[n:]
		if t.n == TapFrame {
			t.n = 0
			t.out(t.frame[:])
		}
	}
}

// end tells everybody that it is over.
func (t *taps) end() {
	for _, one := range t.all {
		one.out(nil)
	}
}

// blend puts what the other side and those who barge in say to what is in right already, if there is anything.
func (s *Session) blend(right []byte, something bool) {
	n := len(right)
	barging := s.taps != nil && s.taps.active > 0
	bridged := s.link != nil && s.link.speaks
	var bus *mix.Bus
	switch {
	case barging:
		bus, s.taps.blended = &s.taps.bus, true
	case !bridged:
		return
	case !something:
		copy(right, s.link.voice[:n])
		return
	default:
		bus = &s.link.bus
	}
	bus.Begin(n)
	bus.Add(right)
	if bridged {
		bus.Add(s.link.voice[:n])
	}
	if barging {
		s.taps.add(bus, n, Barge)
	}
	bus.Sum(right)
}

// share hands the frame on: to the other side of a bridge and to those who listen.
func (s *Session) share(left, right []byte) {
	if s.link != nil {
		s.link.pass(s, left)
	}
	if s.taps != nil {
		s.taps.tell(left, right, s.hush.secret > 0)
	}
}

// gather takes what others say in this frame of n samples.
func (s *Session) gather(n int) {
	if s.taps != nil {
		s.taps.gather(n)
	}
	if s.link != nil && !s.link.gather(s, n) {
		s.unlink()
	}
}
