package media

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// ports hands out port pairs. A pair that was used rests; its sockets stay bound meanwhile, and whoever is next gets them as
// they are, emptied: opening and closing sockets costs more than a short call's sound. While many calls come, all pairs at rest
// stay bound, up to a share of the files that the process may open; in calm idleFew of them do.
//
// A pair into which somebody went on sending while it rested rests again: a stray stream shall find nobody. It does so a few
// times only, because whoever sends may be a stranger who wants to use up our ports.
//
// Where no rested pair waits, pairs are bound in turn from a random start, so that a stray stream of an earlier process
// seldom finds the same port in use.
type ports struct {
	mu       sync.Mutex
	ip       netip.Addr
	first    int
	next     int
	rest     time.Duration
	pair     []pair
	idle     []int           // bound pairs at rest, in the order of the end of their rest
	out      int             // pairs that are taken
	rests    []time.Duration // ends of rests, in order; those that are over are dropped with the next one
	most     int             // idle pairs
	few      int             // that stay in calm
	calm     time.Duration
	watching bool // somebody looks whether it is calm
	ended    bool
}

type pair struct {
	taken          bool
	bound          bool          // at rest with its sockets open
	restless       uint8         // how often it was found in use by a stray stream
	until          time.Duration // it rests until then
	sound, control socket
}

const (
	triesMost    = 256  // ports that other programs hold are passed over, within reason
	looksAt      = 16   // rested pairs that are looked at, at most, to find one that is quiet
	idleMost     = 4096 // pairs: as many as five seconds of 800 calls leave
	idleFew      = 512
	idleShare    = 8 // of the files that the process may open: pairs, of two files each
	idleCalm     = 30 * time.Second
	residualMost = 25 // packets that came in a pair's rest and are no mere end of a stream: half a second of them
	restlessMost = 3
)

func newPorts(ip netip.Addr, low, high int, rest time.Duration) (*ports, error) {
	low += low % 2
	n := (high - low + 1) / 2
	if low < 1024 || high > 65535 || n < 1 {
		return nil, fmt.Errorf("media: ports %d-%d: want a pair within 1024-65535", low, high)
	}
	return &ports{
		ip: ip, first: low, next: rand.IntN(n), rest: rest, pair: make([]pair, n), //nolint:gosec // no secret
		most: max(min(filesMost()/idleShare, idleMost), idleFew), few: idleFew, calm: idleCalm,
	}, nil
}

// takePair gives a free pair, with sockets that hold nothing.
func (p *ports) takePair(now time.Duration) (port int, sound, control socket, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, ok := p.rested(now); ok {
		pr := &p.pair[i]
		sound, control = pr.sound, pr.control
		*pr = pair{taken: true}
		p.out++
		return p.first + 2*i, sound, control, nil
	}
	tries := 0
	for range p.pair {
		i := p.next
		p.next = (p.next + 1) % len(p.pair)
		if pr := &p.pair[i]; pr.taken || pr.bound || pr.until > now {
			continue
		}
		sound, control, err = p.bind(p.first + 2*i)
		if err == nil {
			p.pair[i] = pair{taken: true}
			p.out++
			return p.first + 2*i, sound, control, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return 0, socket{}, socket{}, err
		}
		p.pair[i].until = p.lay(now)
		if tries++; tries == triesMost {
			break
		}
	}
	return 0, socket{}, socket{}, fmt.Errorf("%w of %d", ErrNoPorts, len(p.pair))
}

// rested finds a bound pair that has rested and been quiet.
func (p *ports) rested(now time.Duration) (int, bool) {
	for range min(len(p.idle), looksAt) {
		i := p.idle[0]
		pr := &p.pair[i]
		if pr.until > now {
			return 0, false
		}
		p.idle = append(p.idle[:0], p.idle[1:]...)
		stray := pr.sound.drain() + pr.control.drain()
		if stray < residualMost || pr.restless == restlessMost {
			pr.bound = false
			return i, true
		}
		pr.restless++
		pr.until = p.lay(now)
		p.idle = append(p.idle, i)
	}
	return 0, false
}

func (p *ports) bind(port int) (sound, control socket, err error) {
	if sound, err = listen(netip.AddrPortFrom(p.ip, uint16(port)), soundRoom); err != nil { //nolint:gosec // checked at the start
		return socket{}, socket{}, err
	}
	if control, err = listen(netip.AddrPortFrom(p.ip, uint16(port+1)), controlRoom); err != nil { //nolint:gosec // checked at the start
		sound.close()
		return socket{}, socket{}, err
	}
	return sound, control, nil
}

// free puts a pair to rest.
func (p *ports) free(port int, sound, control socket, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := (port - p.first) / 2
	p.pair[i] = pair{until: p.lay(now)}
	p.out--
	if p.ended || len(p.idle) >= p.most {
		sound.close()
		control.close()
		return
	}
	// What came until now was meant for the former call, and is no sign of a stray stream.
	sound.drain()
	control.drain()
	p.pair[i].bound, p.pair[i].sound, p.pair[i].control = true, sound, control
	p.idle = append(p.idle, i)
	p.mind(now)
}

// mind looks after a while whether it is calm, where that would matter.
func (p *ports) mind(now time.Duration) {
	if !p.watching && len(p.idle) > p.few {
		p.watching = true
		time.AfterFunc(p.calm, func() { p.closeIdlePairs(now + p.calm) })
	}
}

// closeIdlePairs closes pairs that nobody has wanted since their rest was over, but for a few.
func (p *ports) closeIdlePairs(now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watching = false
	gone := 0
	for ; gone < len(p.idle)-p.few && p.pair[p.idle[gone]].until+p.calm <= now; gone++ {
		pr := &p.pair[p.idle[gone]]
		pr.sound.close()
		pr.control.close()
		*pr = pair{until: pr.until, restless: pr.restless}
	}
	p.idle = append(p.idle[:0], p.idle[gone:]...)
	if !p.ended {
		p.mind(now)
	}
}

// close lets the sockets of the pairs at rest go.
func (p *ports) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for _, i := range p.idle {
		p.pair[i].sound.close()
		p.pair[i].control.close()
		p.pair[i] = pair{until: p.pair[i].until}
	}
	p.idle = nil
}

func (p *ports) has(port uint16) bool {
	return int(port) >= p.first && int(port) < p.first+2*len(p.pair)
}

// Serves says whether a session has a port of ours now, for RTP or RTCP.
func (e *Engine) Serves(port uint16) bool {
	p := e.ports
	if !p.has(port) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pair[(int(port)-p.first)/2].taken
}

// lay is when a rest that begins now ends.
func (p *ports) lay(now time.Duration) (until time.Duration) {
	p.dropRested(now)
	until = now + p.rest
	p.rests = append(p.rests, until)
	return until
}

// dropRested drops the rests that are over.
func (p *ports) dropRested(now time.Duration) {
	for len(p.rests) > 0 && p.rests[0] <= now {
		p.rests = p.rests[1:]
	}
}

// use counts pairs: all, those of open sessions, those at rest, and those of no session whose sockets are still bound.
func (p *ports) use(now time.Duration) PortUse {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropRested(now)
	return PortUse{Pairs: len(p.pair), Taken: p.out, Resting: len(p.rests), Bound: len(p.idle)}
}
