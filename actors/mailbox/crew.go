package mailbox

import (
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/extensions"
)

// restFor is how long a hand rests at least before it goes, and half of how
// long at most.
const restFor = time.Second

// throughput is how many messages of one mailbox are taken in a row.
const throughput = 300

var crewID = extensions.NextExtensionID() //nolint:gochecknoglobals // the library's way to name one

// crew are the goroutines on which the actors of a system run, and what works
// beside them. They stay for a while, because the stack of a new one grows, by
// copies, each time.
type crew struct {
	mu    sync.Mutex
	idle  []*hand // the last one to rest is the first to work
	turn  int     // of the watch
	watch bool
}

type hand struct {
	work  chan task // room for one; empty: go
	since int       // the turn in which it began to rest
}

// task is what a hand does: it runs a mailbox, or works beside an actor, which
// it tells afterwards what came of it.
type task struct {
	run  func()
	work func() (message any) // nil: there is nothing to tell
	by   *actor.RootContext
	to   *actor.PID
}

func (t *task) empty() bool { return t.run == nil && t.work == nil }

// ExtensionID is the library's.
func (c *crew) ExtensionID() extensions.ExtensionID { return crewID }

// crewOf is the crew of a system.
func crewOf(sys *actor.ActorSystem) *crew {
	if c, ok := sys.Extensions.Get(crewID).(*crew); ok {
		return c
	}
	return &crew{} // not made by System: nobody is kept
}

// Schedule is the library's: it runs a mailbox.
func (c *crew) Schedule(f func()) { c.do(task{run: f}) }

// Throughput is the library's.
func (c *crew) Throughput() int { return throughput }

// do does a task on a goroutine of its own.
func (c *crew) do(t task) {
	c.mu.Lock()
	n := len(c.idle)
	if n == 0 {
		c.mu.Unlock()
		go c.serve(t)
		return
	}
	h := c.idle[n-1]
	c.idle[n-1] = nil
	c.idle = c.idle[:n-1]
	c.mu.Unlock()
	h.work <- t
}

// serve does one task after the other. A hand is free before it tells what came
// of its work: so it is the one that runs the actor which hears of it, and nobody
// has to be woken.
func (c *crew) serve(t task) {
	h := &hand{work: make(chan task, 1)}
	for !t.empty() {
		var message any
		if t.work != nil {
			message = t.work()
		} else {
			t.run()
		}
		c.rest(h)
		if message != nil {
			t.by.Send(t.to, message)
		}
		t = <-h.work
	}
}

func (c *crew) rest(h *hand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.since = c.turn
	c.idle = append(c.idle, h)
	if !c.watch {
		c.watch = true
		time.AfterFunc(restFor, c.look)
	}
}

// look sends away whoever has rested since the look before the last.
func (c *crew) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	gone := 0
	for gone < len(c.idle) && c.idle[gone].since < c.turn {
		c.idle[gone].work <- task{}
		gone++
	}
	c.idle = append(c.idle[:0], c.idle[gone:]...)
	clear(c.idle[len(c.idle):cap(c.idle)])
	c.turn++
	if c.watch = len(c.idle) > 0; c.watch {
		time.AfterFunc(restFor, c.look)
	}
}
