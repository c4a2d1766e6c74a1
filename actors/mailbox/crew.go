package mailbox

import (
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/extensions"
)

// restFor is how long a hand waits for its next work before it goes.
const restFor = time.Second

var crewID = extensions.NextExtensionID() //nolint:gochecknoglobals // the library's way to name one

// crew are the goroutines that work beside the actors of a system. They stay
// for a while, because the stack of a new one grows, by copies, each time.
type crew struct {
	mu   sync.Mutex
	idle []*hand // the last one to rest is the first to work
}

type hand struct{ work chan func() } // room for one

// ExtensionID is the library's.
func (c *crew) ExtensionID() extensions.ExtensionID { return crewID }

// crewOf is the crew of a system.
func crewOf(sys *actor.ActorSystem) *crew {
	if c, ok := sys.Extensions.Get(crewID).(*crew); ok {
		return c
	}
	return &crew{} // not made by System: nobody is kept
}

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
	rest := time.NewTimer(restFor)
	defer rest.Stop()
	for {
		f()
		c.mu.Lock()
		c.idle = append(c.idle, h)
		c.mu.Unlock()
		rest.Reset(restFor)
		select {
		case f = <-h.work:
		case <-rest.C:
			if c.leave(h) {
				return
			}
			f = <-h.work // it was called in that very moment
		}
	}
}

// leave takes a hand off the list; false: it was called.
func (c *crew) leave(h *hand) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.idle, h)
	if i < 0 {
		return false
	}
	c.idle = slices.Delete(c.idle, i, i+1)
	return true
}
