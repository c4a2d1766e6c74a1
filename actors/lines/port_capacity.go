package lines

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// placeWait is when campaigns are looked at again for which the process has no
// place: by chance a half more or less, so that of many workspaces each comes
// first at times.
const placeWait = 50 * time.Millisecond

// PortCapacity are what a process has room for besides the lines of its workspaces: a
// call needs a pair of ports, which rests for seconds after it. They are shared
// by all lines of the process. Each permit is a place that is spoken for, also
// before its call has a pair, so that campaigns open no attempt that could only
// be given up.
type PortCapacity struct {
	use    func() PortUsage
	spoken *atomic.Int64 // permits of all who share them

	mu   sync.Mutex
	mine int64 // of these, by way of this share
	left bool
}

// PortUsage counts pairs of ports.
type PortUsage struct {
	Pairs       int // of this process
	InUse       int // by its own calls
	CoolingDown int // freed, and for nobody yet
}

// NewPortCapacity makes them of what counts the pairs; it must not block.
func NewPortCapacity(use func() PortUsage) *PortCapacity {
	return &PortCapacity{use: use, spoken: new(atomic.Int64)}
}

// Share are the same places for one of several who have them, until Leave.
func (p *PortCapacity) Share() *PortCapacity { return &PortCapacity{use: p.use, spoken: p.spoken} }

// Release gives up all that is spoken for by way of p, also by lines that never
// come to say so. nil: nothing is.
func (p *PortCapacity) Release() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spoken.Add(-p.mine)
	p.mine, p.left = 0, true
}

// room says whether a campaign may have one more. A tenth, at least one where
// there are several, is left to calls that come in and to single ones, which ask
// nobody. nil: always.
func (p *PortCapacity) room() bool {
	if p == nil {
		return true
	}
	u := p.use()
	return u.Pairs-u.CoolingDown-max(u.InUse, int(p.spoken.Load())) > kept(u.Pairs)
}

// kept is how many of all are for calls that ask nobody.
func kept(all int) int {
	if all < 2 {
		return 0
	}
	return max(1, all/10)
}

// speak notes that n more places are spoken for.
func (p *PortCapacity) speak(n int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.left {
		p.mine += int64(n)
		p.spoken.Add(int64(n))
	}
}

// soon is when to ask for room again.
func soon(now time.Time) time.Time {
	return now.Add(placeWait/2 + rand.N(placeWait)) //nolint:gosec // no secret
}
