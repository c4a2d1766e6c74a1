package media

import "github.com/callboard/callboard/media/mix"

// mixer mixes the audio of other parties into a session: the bridged peer and the listeners.
type mixer struct {
	link *link // nil: not bridged
	taps *taps // nil: there are no listeners
}

// isSpeaking says whether the session has a listener that may speak.
func (m *mixer) isSpeaking() bool { return m.taps != nil && m.taps.active > 0 }

// gather fetches the audio of the bridged peer and the listeners for this frame of n samples. digits are the digits
// that the bridged peer pressed. over: the bridge has ended.
func (m *mixer) gather(n int) (digits string, over bool) {
	if m.taps != nil {
		m.taps.gather(n)
	}
	if m.link == nil {
		return "", false
	}
	return m.link.gather(n)
}

// blend mixes the bridged peer and listeners that speak to both parties into right. something says whether right
// already holds audio.
func (m *mixer) blend(right []byte, something bool) {
	n := len(right)
	barging := m.isSpeaking()
	bridged := m.link != nil && m.link.speaks
	var bus *mix.Bus
	switch {
	case barging:
		bus, m.taps.blended = &m.taps.bus, true
	case !bridged:
		return
	case !something:
		copy(right, m.link.voice[:n])
		return
	default:
		bus = &m.link.bus
	}
	bus.Begin(n)
	bus.Add(right)
	if bridged {
		bus.Add(m.link.voice[:n])
	}
	if barging {
		m.taps.add(bus, n, Barge)
	}
	bus.Sum(right)
}

// share passes the frame to the bridged session and to the listeners. heard says that audio of the peer has arrived,
// held that the peer is on hold, secret that listeners must get silence.
func (m *mixer) share(left, right []byte, heard, held, secret bool) {
	if m.link != nil {
		m.passLeft(left, heard, held)
	}
	if m.taps != nil {
		m.taps.report(left, right, secret)
	}
}

// passLeft passes the peer's audio, mixed with speaking listeners, to the bridged session.
func (m *mixer) passLeft(left []byte, heard, held bool) {
	l := m.link
	if l.preview {
		if !held && heard {
			l.out.put(left)
		}
		return
	}
	n := len(left)
	whispered := m.isSpeaking()
	l.out.setMixed(whispered || held)
	if !whispered {
		if !held {
			l.out.put(left)
		}
		return
	}
	l.bus.Begin(n)
	if !held {
		l.bus.Add(left)
	}
	m.taps.add(&l.bus, n, Whisper, Barge)
	l.bus.Sum(m.taps.heard[:n])
	l.out.put(m.taps.heard[:n])
}

// fillEarly fills a frame with the early media of the bridged session. It returns false if none has arrived.
func (m *mixer) fillEarly(right []byte) bool {
	l := m.link
	if l == nil || !l.preview || !l.heard {
		return false
	}
	if l.speaks {
		copy(right, l.voice[:len(right)])
	} else {
		quiet(right)
	}
	return true
}

// closeTaps disconnects all listeners.
func (m *mixer) closeTaps() {
	if m.taps != nil {
		m.taps.end()
		m.taps = nil
	}
}

// gatherOthers fetches the audio of other parties for this frame of n samples, and sends the digits that the bridged
// peer pressed.
func (s *Session) gatherOthers(n int) {
	digits, over := s.mixer.gather(n)
	switch {
	case over:
		s.unlink()
	case digits != "":
		s.digits.relay(digits, s.desc.sendsTones(s.o.DTMF))
	}
}
