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
	work  chan func() // room for one; nil: go
	since int         // the turn in which it began to rest
}

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
func (c *crew) Schedule(f func()) { c.do(f) }

// Throughput is the library's.
func (c *crew) Throughput() int { return throughput }

// do runs f on a goroutine of its own.
func (c *crew) do(f func()) {
	c.mu.Lock()
	n := len(c.idle)
	if n == 0 {
		c.mu.Unlock()
		go c.serve(f)
		return
	}
	h := c.idle[n-1]
	c.idle[n-1] = nil
	c.idle = c.idle[:n-1]
	c.mu.Unlock()
	h.work <- f
}

func (c *crew) serve(f func()) {
	h := &hand{work: make(chan func(), 1)}
	for f != nil {
		f()
		c.rest(h)
		f = <-h.work
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
		c.idle[gone].work <- nil
		gone++
	}
	c.idle = append(c.idle[:0], c.idle[gone:]...)
	clear(c.idle[len(c.idle):cap(c.idle)])
	c.turn++
	if c.watch = len(c.idle) > 0; c.watch {
		time.AfterFunc(restFor, c.look)
	}
}
