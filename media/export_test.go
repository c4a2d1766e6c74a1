package media

import (
	"net/netip"
	"time"
	"unsafe"
)

// Turn runs the frames of one session in the caller's goroutine, in place of the engine's media clock. The session must
// be new, because NewTurn keeps it from starting on a clock of the engine.
type Turn struct {
	c *clock
	s *Session
}

// NewTurn takes the session away from the engine's media clock, so that the test runs its frames.
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

// Lapse makes the media clock skip d, as after a pause in which the whole machine was suspended.
func (t *Turn) Lapse(d time.Duration) { t.c.leapt += int64(d * sampleRate / time.Second) }

// Keep sets how many idle port pairs stay bound under load (most) and in quiet times (few), and the length of a quiet
// time (calm).
func (e *Engine) Keep(most, few int, calm time.Duration) {
	e.ports.mu.Lock()
	defer e.ports.mu.Unlock()
	e.ports.idleLimit, e.ports.quietIdleLimit, e.ports.quietTime = most, few, calm
}

// Turns runs the frames of many sessions in the caller's goroutine, in place of the engine's media clock.
type Turns struct{ c *clock }

// NewTurns takes new sessions away from the engine's media clock and spreads their frames over 20 ms.
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

// Once runs one clock turn of 5 ms, in which a quarter of the sessions process a frame.
func (t *Turns) Once() { t.c.runTurn() }

// Take passes a packet to the session as if it had arrived from an address at a time of Now's clock.
func (s *Session) Take(data []byte, from netip.AddrPort, at time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receivePacket(data, from, int64(at), at)
}

// Now returns the time on the engine's monotonic clock.
func (s *Session) Now() time.Duration { return s.engine.now() }

// SendsTo returns the addresses to which the session sends audio and RTCP. An invalid address means that none is sent.
func (s *Session) SendsTo() (audio, reports netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.to.addr, s.report.to.addr
}

// SessionBytes is the size of a Session without the memory that it points to.
const SessionBytes = int(unsafe.Sizeof(Session{}))

// HotFieldBytes is the size of the leading Session fields, which the session uses in each frame.
const HotFieldBytes = int(unsafe.Offsetof(Session{}.in) + unsafe.Offsetof(receiver{}.kinds))

// Looked counts the port pairs by state by examining each pair. Tests compare the result with the running counters.
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
