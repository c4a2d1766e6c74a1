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

// ports hands out port pairs in turn from a random start, so that a stray stream of an earlier call, or of an earlier
// process, seldom finds the same port in use.
type ports struct {
	mu    sync.Mutex
	ip    netip.Addr
	first int
	next  int
	rest  time.Duration
	pair  []pair
}

type pair struct {
	taken bool
	until time.Duration // it rests until then
}

const triesMost = 256 // ports that other programs hold are passed over, within reason

func newPorts(ip netip.Addr, low, high int, rest time.Duration) (*ports, error) {
	low += low % 2
	n := (high - low + 1) / 2
	if low < 1024 || high > 65535 || n < 1 {
		return nil, fmt.Errorf("media: ports %d-%d: want a pair within 1024-65535", low, high)
	}
	return &ports{ip: ip, first: low, next: rand.IntN(n), rest: rest, pair: make([]pair, n)}, nil //nolint:gosec // no secret
}

// take binds a free pair.
func (p *ports) take(now time.Duration) (port int, sound, control socket, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	tries := 0
	for range p.pair {
		i := p.next
		p.next = (p.next + 1) % len(p.pair)
		if p.pair[i].taken || p.pair[i].until > now {
			continue
		}
		sound, control, err = p.bind(p.first + 2*i)
		if err == nil {
			p.pair[i].taken = true
			return p.first + 2*i, sound, control, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return 0, socket{}, socket{}, err
		}
		p.pair[i].until = now + p.rest
		if tries++; tries == triesMost {
			break
		}
	}
	return 0, socket{}, socket{}, fmt.Errorf("%w of %d", ErrNoPorts, len(p.pair))
}

func (p *ports) bind(port int) (sound, control socket, err error) {
	if sound, err = listen(netip.AddrPortFrom(p.ip, uint16(port))); err != nil { //nolint:gosec // checked at the start
		return socket{}, socket{}, err
	}
	if control, err = listen(netip.AddrPortFrom(p.ip, uint16(port+1))); err != nil { //nolint:gosec // checked at the start
		sound.close()
		return socket{}, socket{}, err
	}
	return sound, control, nil
}

// free puts a pair to rest.
func (p *ports) free(port int, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pair[(port-p.first)/2] = pair{until: now + p.rest}
}

func (p *ports) has(port uint16) bool {
	return int(port) >= p.first && int(port) < p.first+2*len(p.pair)
}
