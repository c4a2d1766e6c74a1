package media

import (
	"net/netip"
	"time"
	"unsafe"
)

// Turn drives a session like its media clock, in the caller's goroutine. The session must be new, because NewTurn
// keeps it from starting on its own clock.
type Turn struct {
	c *clock
	s *Session
}

// NewTurn takes control of a new session's clock.
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

// Frame processes one frame and returns the number of clock turns, of 5 ms each, until the next.
func (t *Turn) Frame() (turns int) {
	t.c.serveGroup([]*Session{t.s})
	return t.c.next[0]
}

// Lapse simulates a machine that stands still for d.
func (t *Turn) Lapse(d time.Duration) { t.c.leapt += int64(d * sampleRate / time.Second) }

// Keep sets how many idle port pairs stay bound under load and in quiet times, and the length of a quiet time.
func (e *Engine) Keep(most, few int, calm time.Duration) {
	e.ports.mu.Lock()
	defer e.ports.mu.Unlock()
	e.ports.idleLimit, e.ports.quietIdleLimit, e.ports.quietTime = most, few, calm
}

// Turns drives many sessions like their media clock, in the caller's goroutine.
type Turns struct{ c *clock }

// NewTurns takes control of new sessions' clocks and spreads their frames over 20 ms.
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

// Once serves one turn: a quarter of the sessions process a frame.
func (t *Turns) Once() { t.c.runTurn() }

// Take passes a packet to a session as if it arrived at a time on the clock of Now.
func (s *Session) Take(data []byte, from netip.AddrPort, at time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receivePacket(data, from, int64(at), at)
}

// Now returns the time on the session's clock.
func (s *Session) Now() time.Duration { return s.engine.now() }

// SendsTo returns the destinations of audio and RTCP reports; invalid: none.
func (s *Session) SendsTo() (audio, reports netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.to.addr, s.report.to.addr
}

// SessionBytes is the size of a Session without the memory that it points to.
const SessionBytes = int(unsafe.Sizeof(Session{}))

// ApproachedBytes is the size of the Session fields used in each frame.
const ApproachedBytes = int(unsafe.Offsetof(Session{}.in) + unsafe.Offsetof(receiver{}.kinds))

// Looked counts the port pairs by examining each one.
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
		if pr.quarantinedUntil > now {
			u.Resting++
		}
	}
	return u
}
