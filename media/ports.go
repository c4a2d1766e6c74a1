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

// ports allocates RTP port pairs. A freed pair is quarantined with its sockets open; the next session gets the same sockets,
// emptied. Opening and closing sockets costs more than the audio of a short call. Under load all quarantined pairs stay bound,
// up to a share of the process's file limit. After a quiet time only idleFew of them stay bound.
//
// A pair that receives packets during its quarantine is quarantined again, so that a late stream reaches no other call.
// restlessMost bounds this, because a stranger could otherwise use up all ports by sending.
//
// Without a reusable pair, new pairs are bound in turn from a random start. A late stream to an earlier process therefore
// seldom meets a port in use.
type ports struct {
	mu       sync.Mutex
	ip       netip.Addr
	first    int
	next     int
	rest     time.Duration
	pair     []pair
	idle     []int           // bound pairs in quarantine, in the order in which it ends
	out      int             // pairs taken by sessions
	rests    []time.Duration // ends of quarantines, in order; expired entries are dropped when one is added
	most     int             // maximum of idle pairs
	few      int             // idle pairs that stay bound in quiet times
	calm     time.Duration
	watching bool // a timer for closeIdlePairs is running
	ended    bool
}

type pair struct {
	taken          bool
	bound          bool          // in quarantine with open sockets
	restless       uint8         // how often packets arrived during the quarantine
	until          time.Duration // end of the quarantine
	sound, control socket
}

const (
	triesMost    = 256  // ports tried before giving up: other programs may hold some
	looksAt      = 16   // quarantined pairs examined to find one without late packets
	idleMost     = 4096 // pairs: as many as 800 calls a second free in five seconds
	idleFew      = 512
	idleShare    = 8 // fraction of the process's file limit used for idle pairs, of two files each
	idleCalm     = 30 * time.Second
	residualMost = 25 // packets during a quarantine that still count as the tail of the former stream: half a second
	restlessMost = 3
)

func newPorts(ip netip.Addr, low, high int, rest time.Duration) (*ports, error) {
	low += low % 2
	n := (high - low + 1) / 2
	if low < 1024 || high > 65535 || n < 1 {
		return nil, fmt.Errorf("media: the RTP ports %d-%d contain no port pair within 1024-65535", low, high)
	}
	return &ports{
		ip: ip, first: low, next: rand.IntN(n), rest: rest, pair: make([]pair, n), //nolint:gosec // no secret
		most: max(min(filesMost()/idleShare, idleMost), idleFew), few: idleFew, calm: idleCalm,
	}, nil
}

// takePair returns a free pair with emptied sockets.
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

// rested returns the index of a bound pair whose quarantine is over and that received no late stream.
func (p *ports) rested(now time.Duration) (int, bool) {
	for range min(len(p.idle), looksAt) {
		i := p.idle[0]
		pr := &p.pair[i]
		if pr.until > now {
			return 0, false
		}
		p.idle = append(p.idle[:0], p.idle[1:]...)
		latePackets := pr.sound.drain() + pr.control.drain()
		if latePackets < residualMost || pr.restless == restlessMost {
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

// free puts a pair into quarantine.
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
	// Packets that arrived until now belong to the former call; only later ones show that a peer is still sending.
	sound.drain()
	control.drain()
	p.pair[i].bound, p.pair[i].sound, p.pair[i].control = true, sound, control
	p.idle = append(p.idle, i)
	p.mind(now)
}

// mind schedules closeIdlePairs if more pairs are idle than may stay bound in quiet times.
func (p *ports) mind(now time.Duration) {
	if !p.watching && len(p.idle) > p.few {
		p.watching = true
		time.AfterFunc(p.calm, func() { p.closeIdlePairs(now + p.calm) })
	}
}

// closeIdlePairs closes pairs that stayed unused after their quarantine, except for p.few of them.
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

// close closes the sockets of the idle pairs.
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

// Serves says whether an open session uses this local port for RTP or RTCP.
func (e *Engine) Serves(port uint16) bool {
	p := e.ports
	if !p.has(port) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pair[(int(port)-p.first)/2].taken
}

// lay returns when a quarantine that starts now ends.
func (p *ports) lay(now time.Duration) (until time.Duration) {
	p.dropRested(now)
	until = now + p.rest
	p.rests = append(p.rests, until)
	return until
}

// dropRested drops the quarantines that are over.
func (p *ports) dropRested(now time.Duration) {
	for len(p.rests) > 0 && p.rests[0] <= now {
		p.rests = p.rests[1:]
	}
}

// use counts the port pairs: of the range, of open sessions, in quarantine, and idle with bound sockets.
func (p *ports) use(now time.Duration) PortUse {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropRested(now)
	return PortUse{Pairs: len(p.pair), Taken: p.out, Resting: len(p.rests), Bound: len(p.idle)}
}
