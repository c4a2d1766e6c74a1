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

// ports allocates RTP port pairs. A freed pair is quarantined with its sockets open. A later session reuses these sockets
// after they are emptied, because opening and closing sockets costs more than the audio of a short call. Under load all
// quarantined pairs stay bound, up to a share of the process's file limit. After a quiet time only idleFew pairs stay bound.
//
// A pair that receives packets during its quarantine is quarantined again, so that the stream of an ended call reaches no
// other call. restlessMost limits the repetitions, because an attacker could otherwise block all ports by sending packets.
//
// If no bound pair can be reused, new pairs are bound in sequence from a random start. After a restart, streams of earlier
// calls therefore seldom reach a port in use.
type ports struct {
	mu             sync.Mutex
	ip             netip.Addr
	first          int
	next           int
	quarantine     time.Duration
	pair           []pair
	idle           []int           // bound pairs in quarantine, in the order in which it ends
	takenCount     int             // pairs taken by sessions
	quarantineEnds []time.Duration // ends of quarantines, in order; expired entries are dropped when one is added
	idleLimit      int             // maximum of idle pairs
	quietIdleLimit int             // idle pairs that stay bound in quiet times
	quietTime      time.Duration
	closeScheduled bool // a timer for closeIdlePairs is running
	ended          bool
}

type pair struct {
	taken            bool
	bound            bool          // in quarantine with open sockets
	disturbedCount   uint8         // how often packets arrived during the quarantine
	quarantinedUntil time.Duration // end of the quarantine
	sound, control   socket
}

const (
	triesMost     = 256  // ports tried before giving up: other programs may hold some
	examinedMost  = 16   // quarantined pairs examined to find one without late packets
	idleMost      = 4096 // pairs: as many as 800 calls a second free in five seconds
	idleFew       = 512
	idleFileShare = 8 // one eighth of the process's file limit is for idle pairs, of two files each
	idleQuietTime = 30 * time.Second
	residualMost  = 25 // packets during a quarantine that still count as the tail of the former stream: half a second
	restlessMost  = 3
)

func newPorts(ip netip.Addr, low, high int, rest time.Duration) (*ports, error) {
	low += low % 2
	n := (high - low + 1) / 2
	if low < 1024 || high > 65535 || n < 1 {
		return nil, fmt.Errorf("media: the RTP ports %d-%d contain no port pair within 1024-65535", low, high)
	}
	return &ports{
		ip: ip, first: low, next: rand.IntN(n), quarantine: rest, pair: make([]pair, n), //nolint:gosec // no secret
		idleLimit: max(min(filesMost()/idleFileShare, idleMost), idleFew), quietIdleLimit: idleFew, quietTime: idleQuietTime,
	}, nil
}

// takePair allocates a free port pair and returns its sockets, which hold no packets of earlier calls.
func (p *ports) takePair(now time.Duration) (port int, sound, control socket, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, ok := p.takeIdlePair(now); ok {
		pr := &p.pair[i]
		sound, control = pr.sound, pr.control
		*pr = pair{taken: true}
		p.takenCount++
		return p.first + 2*i, sound, control, nil
	}
	tries := 0
	for range p.pair {
		i := p.next
		p.next = (p.next + 1) % len(p.pair)
		if pr := &p.pair[i]; pr.taken || pr.bound || pr.quarantinedUntil > now {
			continue
		}
		sound, control, err = p.bind(p.first + 2*i)
		if err == nil {
			p.pair[i] = pair{taken: true}
			p.takenCount++
			return p.first + 2*i, sound, control, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return 0, socket{}, socket{}, err
		}
		p.pair[i].quarantinedUntil = p.startQuarantine(now)
		if tries++; tries == triesMost {
			break
		}
	}
	return 0, socket{}, socket{}, fmt.Errorf("%w of %d", ErrNoPorts, len(p.pair))
}

// takeIdlePair returns the index of a bound pair whose quarantine is over and that received no packets of an ended call.
func (p *ports) takeIdlePair(now time.Duration) (int, bool) {
	for range min(len(p.idle), examinedMost) {
		i := p.idle[0]
		pr := &p.pair[i]
		if pr.quarantinedUntil > now {
			return 0, false
		}
		p.idle = append(p.idle[:0], p.idle[1:]...)
		latePackets := pr.sound.drain() + pr.control.drain()
		if latePackets < residualMost || pr.disturbedCount == restlessMost {
			pr.bound = false
			return i, true
		}
		pr.disturbedCount++
		pr.quarantinedUntil = p.startQuarantine(now)
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

// free puts the port pair of a closed session into quarantine.
func (p *ports) free(port int, sound, control socket, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := (port - p.first) / 2
	p.pair[i] = pair{quarantinedUntil: p.startQuarantine(now)}
	p.takenCount--
	if p.ended || len(p.idle) >= p.idleLimit {
		sound.close()
		control.close()
		return
	}
	// Packets that arrived until now belong to the former call. Later packets show that a peer is still sending.
	sound.drain()
	control.drain()
	p.pair[i].bound, p.pair[i].sound, p.pair[i].control = true, sound, control
	p.idle = append(p.idle, i)
	p.scheduleIdleClose(now)
}

// scheduleIdleClose schedules closeIdlePairs if more pairs are idle than may stay bound in quiet times.
func (p *ports) scheduleIdleClose(now time.Duration) {
	if !p.closeScheduled && len(p.idle) > p.quietIdleLimit {
		p.closeScheduled = true
		time.AfterFunc(p.quietTime, func() { p.closeIdlePairs(now + p.quietTime) })
	}
}

// closeIdlePairs closes pairs that stayed unused after their quarantine. quietIdleLimit pairs stay open.
func (p *ports) closeIdlePairs(now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeScheduled = false
	gone := 0
	for ; gone < len(p.idle)-p.quietIdleLimit && p.pair[p.idle[gone]].quarantinedUntil+p.quietTime <= now; gone++ {
		pr := &p.pair[p.idle[gone]]
		pr.sound.close()
		pr.control.close()
		*pr = pair{quarantinedUntil: pr.quarantinedUntil, disturbedCount: pr.disturbedCount}
	}
	p.idle = append(p.idle[:0], p.idle[gone:]...)
	if !p.ended {
		p.scheduleIdleClose(now)
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
		p.pair[i] = pair{quarantinedUntil: p.pair[i].quarantinedUntil}
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

// startQuarantine records a quarantine that starts now, for the count of quarantined pairs, and returns its end.
func (p *ports) startQuarantine(now time.Duration) (until time.Duration) {
	p.dropRested(now)
	until = now + p.quarantine
	p.quarantineEnds = append(p.quarantineEnds, until)
	return until
}

// dropRested removes the recorded quarantines that are over.
func (p *ports) dropRested(now time.Duration) {
	for len(p.quarantineEnds) > 0 && p.quarantineEnds[0] <= now {
		p.quarantineEnds = p.quarantineEnds[1:]
	}
}

// use returns the numbers of port pairs: in the range, used by sessions, in quarantine, and idle with bound sockets.
func (p *ports) use(now time.Duration) PortUse {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropRested(now)
	return PortUse{Pairs: len(p.pair), Taken: p.takenCount, Resting: len(p.quarantineEnds), Bound: len(p.idle)}
}
