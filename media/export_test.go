package media

import (
	"net/netip"
	"time"
	"unsafe"
)

// Turn serves a session as its clock would, in the caller's goroutine. The session must not have begun nor been described
// by any other means: its clock is not started.
type Turn struct {
	c *clock
	s *Session
}

// NewTurn takes a session off its clock before it is on it.
func NewTurn(s *Session) *Turn {
	c := newClock(s.engine)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock != nil {
		panic("the session has a clock")
	}
	s.clock = c
	return &Turn{c, s}
}

// Frame is one frame; the next is due after so many turns of the clock, 5 ms each.
func (t *Turn) Frame() (turns int) {
	t.c.round([]*Session{t.s})
	return t.c.next[0]
}

// Lapse is a machine that stood still.
func (t *Turn) Lapse(d time.Duration) { t.c.leapt += int64(d * sampleRate / time.Second) }

// Keep sets how many pairs at rest stay bound, and in calm.
func (e *Engine) Keep(most, few int, calm time.Duration) {
	e.ports.mu.Lock()
	defer e.ports.mu.Unlock()
	e.ports.most, e.ports.few, e.ports.calm = most, few, calm
}

// Turns serves many sessions as their clock would, in the caller's goroutine and at its pace.
type Turns struct{ c *clock }

// NewTurns takes sessions off their clock before they are on it, and spreads them over a frame of 20 ms.
func NewTurns(sessions []*Session) *Turns {
	t := &Turns{newClock(sessions[0].engine)}
	t.c.load.Add(int32(len(sessions)))
	for i, s := range sessions {
		s.mu.Lock()
		s.clock = t.c
		s.mu.Unlock()
		t.c.slot[i%4] = append(t.c.slot[i%4], s)
	}
	return t
}

// Once is a turn: every fourth session has its frame.
func (t *Turns) Once() { t.c.once() }

// Take hands a packet to a session as if it had come at a time, from Now on.
func (s *Session) Take(data []byte, from netip.AddrPort, at time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receivePacket(data, from, int64(at), at)
}

// Now is the session's time.
func (s *Session) Now() time.Duration { return s.engine.now() }

// SendsTo is where audio and reports go; invalid: nowhere.
func (s *Session) SendsTo() (audio, reports netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.to.addr, s.report.to.addr
}

// SessionBytes is what a session takes without what hangs on it.
const SessionBytes = int(unsafe.Sizeof(Session{}))

// ApproachedBytes is what of a session is brought near for each frame.
const ApproachedBytes = int(unsafe.Offsetof(Session{}.in) + unsafe.Offsetof(receiver{}.kinds))

// Looked counts the port pairs by looking at each.
func (e *Engine) Looked() (u PortUse) {
	p, now := e.ports, e.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	u.Pairs = len(p.pair)
	for i := range p.pair {
		pr := &p.pair[i]
		switch {
		case pr.taken:
			u.Taken++
			continue
		case pr.bound:
			u.Bound++
		}
		if pr.until > now {
			u.Resting++
		}
	}
	return u
}
