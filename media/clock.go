package media

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	turn    = 5 * time.Millisecond
	slots   = 24 // 120 ms: a whole number of frames of 10, 20, 30 and 40 ms
	lateCap = time.Second
	// sessionsPerRound is the number of sessions in a round: all are read, then all process a frame, then all send. The
	// code of each step then stays in the processor's caches, which saves an eighth of the CPU time.
	sessionsPerRound = 32
)

// clock is a media clock: one goroutine that serves many sessions. Each turn of 5 ms has a slot with the sessions whose
// next frame is due in that turn. The clock makes up for missed turns, so that no RTP stream runs slow.
type clock struct {
	engine *Engine
	load   atomic.Int32
	wake   chan struct{}

	mu       sync.Mutex
	incoming []*Session

	// Only the clock's goroutine uses the following fields.
	start    time.Duration // time of turn 0 on the engine's clock
	turn     int64
	leapt    int64 // samples skipped because the machine was suspended
	slot     [slots][]*Session
	in       *batch // for the packets that are read after the first read of a session
	first    [sessionsPerRound]*batch
	got      [sessionsPerRound]int // number of packets of the first read; notRead: not read yet
	outgoing [sessionsPerRound]outgoingPacket
	next     [sessionsPerRound]int // turns until the session's next frame; 0: the session has ended
	at       int                   // index of the session being served
	now      time.Duration         // engine time at the start of the round
	left     []byte
	right    []byte
	events   []Event
}

// outgoingPacket holds the packet that a session sends at the end of a round. packet is nil if there is none.
type outgoingPacket struct {
	packet []byte // a part of data; nil: nothing is sent
	data   [packetMost]byte
}

const notRead = -1

func newClock(e *Engine) *clock {
	c := &clock{
		engine: e, wake: make(chan struct{}, 1), in: newBatch(batchLen), left: make([]byte, frameMost), right: make([]byte, frameMost),
	}
	for i := range c.first {
		c.first[i] = newBatch(fewPackets)
	}
	return c
}

// add hands a session to the clock, which serves it from the next turn on. Safe for concurrent use.
func (c *clock) add(s *Session) {
	c.mu.Lock()
	c.incoming = append(c.incoming, s)
	c.mu.Unlock()
	c.load.Add(1)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run serves turns until the engine stops.
func (c *clock) run(stop <-chan struct{}) {
	for {
		if c.load.Load() == 0 {
			select {
			case <-c.wake:
				c.start, c.turn = c.engine.now(), 0
			case <-stop:
				return
			}
		}
		select {
		case <-stop:
			return
		default:
		}
		wait := c.wait()
		if -wait > lateCap {
			leap := int64(-wait/turn) / slots * slots // whole rounds, so every session stays in its slot
			c.turn += leap
			c.leapt += leap * int64(turn/time.Millisecond) * sampleRate / 1000
		}
		if wait > 0 {
			time.Sleep(wait) //nolint:forbidigo // the clock has a goroutine of its own, no mailbox
		}
		c.runTurnGuarded()
	}
}

// wait returns the time until the next turn. The result is negative if the clock is late.
func (c *clock) wait() time.Duration { return c.start + time.Duration(c.turn)*turn - c.engine.now() }

// runTurnGuarded runs a turn and logs a panic, so that the clock continues. Panics in a session's frame do not get
// here, because serve recovers from them.
func (c *clock) runTurnGuarded() {
	defer func() {
		if cause := recover(); cause != nil {
			c.turn++
			c.engine.cfg.Log.Error("media clock panicked", slog.String("cause", fmt.Sprint(cause)), slog.String("stack", string(debug.Stack())))
		}
	}()
	c.runTurn()
}

// runTurn serves the sessions whose frame is due in this turn and advances to the next turn.
func (c *clock) runTurn() {
	c.placeNewSessions()
	due := c.slot[c.turn%slots]
	for left := due; len(left) > 0; {
		some := left[:min(len(left), sessionsPerRound)]
		left = left[len(some):]
		c.serveGroup(some)
		for i, s := range some {
			if n := c.next[i]; n > 0 {
				at := (c.turn + int64(n)) % slots
				c.slot[at] = append(c.slot[at], s)
			} else {
				c.load.Add(-1)
			}
		}
	}
	clear(due)
	c.slot[c.turn%slots] = due[:0]
	c.turn++
}

// placeNewSessions puts each new session into the least filled of the next four slots, which spreads the load evenly.
func (c *clock) placeNewSessions() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.incoming {
		best := c.turn % slots
		for k := range int64(4) {
			if at := (c.turn + k) % slots; len(c.slot[at]) < len(c.slot[best]) {
				best = at
			}
		}
		c.slot[best] = append(c.slot[best], s)
	}
	clear(c.incoming)
	c.incoming = c.incoming[:0]
}

// serveGroup runs one round for at most sessionsPerRound sessions: it reads, processes and sends a frame of each.
func (c *clock) serveGroup(some []*Session) {
	for i, s := range some {
		c.got[i] = s.readFirst(c.first[i])
	}
	c.now = c.engine.now()
	for i, s := range some {
		c.at, c.outgoing[i].packet = i, nil
		c.next[i] = c.serve(s)
	}
	now := c.engine.now()
	for i, s := range some {
		if packet := c.outgoing[i].packet; packet != nil {
			s.sendPacket(packet, now)
		}
	}
}

// serve processes a session's frame and passes its events to the owner. It returns the number of turns until the
// session's next frame, or 0 if the session has ended.
func (c *clock) serve(s *Session) (turns int) {
	defer func() {
		if cause := recover(); cause != nil {
			turns = 0
			s.closeBroken(cause, debug.Stack())
		}
	}()
	turns = s.frame(c)
	for i, e := range c.events {
		c.events[i] = nil
		if s.o.Notify != nil {
			s.o.Notify(e)
		}
	}
	c.events = c.events[:0]
	return turns
}
