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
	said    *audioQueue // nil where the mode is silent
	voice   [frameMost]byte
	speaks  bool // voice holds sound in this frame
	frame   [TapFrame]byte
	n       int
}

// Tap lets somebody listen to what both sides of the session say, mixed. out is handed frames of TapFrame bytes which are
// overwritten afterwards, and nil once, at the session's end; it is called from the media clock and must neither block nor
// call the session. The listener does not hear itself. While the session is Sensitive, all is silence.
// Errors: ErrClosed, ErrTaps.
func (s *Session) Tap(mode TapMode, out func(frame []byte)) (*Tap, error) {
	t := &Tap{session: s, mode: mode, out: out}
	if mode != Listen {
		t.said = &audioQueue{slack: tapSlack, most: tapMost}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.mixer.taps == nil:
		s.mixer.taps = new(taps)
	case len(s.mixer.taps.all) >= tapsMost:
		return nil, ErrTaps
	}
	s.mixer.taps.insert(t)
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
	if all := s.mixer.taps; all != nil {
		if all.remove(t); len(all.all) == 0 {
			s.mixer.taps = nil
		}
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

// insert adds a listener. The list is copied: it may be walked at this moment.
func (t *taps) insert(tap *Tap) {
	t.all = append(slices.Clip(t.all), tap)
	t.count()
}

// remove takes a listener off a copy of the list.
func (t *taps) remove(tap *Tap) {
	t.all = slices.DeleteFunc(slices.Clone(t.all), func(other *Tap) bool { return other == tap })
	t.count()
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

// report hands each what the others say. left is the peer's audio, right is ours.
func (t *taps) report(left, right []byte, secret bool) {
	n := len(left)
	t.bus.Begin(n)
	if !secret {
		t.bus.Add(left)
		t.bus.Add(right)
	}
	t.add(&t.bus, n, Whisper)
	if !t.blended || secret { // barging is part of right, unless that was not sent
		t.add(&t.bus, n, Barge)
	}
	for _, one := range t.all {
		if one.speaks {
			t.bus.Without(t.heard[:n], one.voice[:n])
		} else {
			t.bus.Sum(t.heard[:n])
		}
		one.write(t.heard[:n])
	}
}

// write hands the listener whole frames.
func (t *Tap) write(mu []byte) {
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

// end ends the listening of all.
func (t *taps) end() {
	for _, one := range t.all {
		one.out(nil)
	}
}
