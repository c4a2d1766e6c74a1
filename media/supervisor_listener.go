package media

import (
	"errors"
	"slices"

	"github.com/callboard/callboard/media/mix"
)

// TapMode says which of the two parties of a session hears a listener.
type TapMode uint8

// The modes of a listener.
const (
	// Listen means that the listener hears both parties, and neither party hears the listener.
	Listen TapMode = iota
	// Whisper means that only the bridged human or agent hears the listener. The session's peer does not.
	Whisper
	// Barge means that both parties hear the listener.
	Barge
)

// TapFrame is the length of a listener's frame in bytes: 20 ms of 8 kHz mono µ-law.
const TapFrame = 160

const (
	tapsMost = 8
	tapSlack = 320  // 40 ms: tolerated network delay
	tapMost  = 3200 // 400 ms: maximum of buffered audio of a listener
)

// ErrTaps is returned if the session has the maximum number of listeners.
var ErrTaps = errors.New("media: too many listeners")

// Tap is a listener of a session, for example a supervisor who monitors a call.
type Tap struct {
	session *Session
	mode    TapMode
	out     func(frame []byte)
	queue   *audioQueue // nil for Listen
	voice   [frameMost]byte
	speaks  bool // voice holds audio for this frame
	frame   [TapFrame]byte
	n       int
}

// Tap adds a listener who hears the mixed audio of both parties without the listener's own audio. out receives
// frames of TapFrame bytes, valid only during the call of out, and finally nil when the session ends. out runs on the
// media clock and must neither block nor call the session. While the audio is private (SetSensitive), the frames are silent.
// Errors: ErrClosed, ErrTaps.
func (s *Session) Tap(mode TapMode, out func(frame []byte)) (*Tap, error) {
	t := &Tap{session: s, mode: mode, out: out}
	if mode != Listen {
		t.queue = &audioQueue{slack: tapSlack, most: tapMost}
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

// Speak adds audio that the listener speaks, µ-law of any length. It plays at normal speed. If more than 400 ms wait, the
// oldest audio is dropped. Speak does nothing in the mode Listen.
func (t *Tap) Speak(mu []byte) {
	if t.queue != nil {
		t.queue.put(mu)
	}
}

// Close removes the listener and may be called repeatedly. out may run once more during Close, but not afterwards.
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

// taps are the listeners of one session.
type taps struct {
	all     []*Tap
	active  int // number of listeners who may speak
	blended bool
	bus     mix.Bus
	heard   [frameMost]byte
}

// insert adds a listener to a copy of the list, because another goroutine may be iterating over the list.
func (t *taps) insert(tap *Tap) {
	t.all = append(slices.Clip(t.all), tap)
	t.count()
}

// remove removes a listener from a copy of the list.
func (t *taps) remove(tap *Tap) {
	t.all = slices.DeleteFunc(slices.Clone(t.all), func(other *Tap) bool { return other == tap })
	t.count()
}

func (t *taps) count() {
	t.active = 0
	for _, one := range t.all {
		if one.queue != nil {
			t.active++
		}
	}
}

// gather fetches the audio that the listeners speak, for this frame of n samples.
func (t *taps) gather(n int) {
	t.blended = false
	for _, one := range t.all {
		one.speaks = one.queue != nil && one.queue.get(one.voice[:n])
	}
}

// add mixes the audio of the listeners that have one of the modes into the bus.
func (t *taps) add(bus *mix.Bus, n int, modes ...TapMode) {
	for _, one := range t.all {
		if one.speaks && slices.Contains(modes, one.mode) {
			bus.Add(one.voice[:n])
		}
	}
}

// report passes each listener the audio of both parties and of the other listeners. left is the peer's audio, right is
// the audio that the session sends. If secret is set, the listeners get silence.
func (t *taps) report(left, right []byte, secret bool) {
	n := len(left)
	t.bus.Begin(n)
	if !secret {
		t.bus.Add(left)
		t.bus.Add(right)
	}
	t.add(&t.bus, n, Whisper)
	if !t.blended || secret { // right contains barging audio, unless right was not sent
		t.add(&t.bus, n, Barge)
	}
	for _, one := range t.all {
		if one.speaks {
			t.bus.SumWithout(t.heard[:n], one.voice[:n])
		} else {
			t.bus.Sum(t.heard[:n])
		}
		one.write(t.heard[:n])
	}
}

// write passes audio to the listener in frames of TapFrame bytes.
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

// end disconnects all listeners.
func (t *taps) end() {
	for _, one := range t.all {
		one.out(nil)
	}
}
