package sip

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/callboard/callboard/sip/ratelimit"
	"github.com/callboard/callboard/sip/resolve"
)

// connKey names a connection. Two dialled ones to the same address differ
// when their far ends had to prove different names.
type connKey struct {
	network string
	addr    netip.AddrPort
	name    string // proved by the far end of a TLS connection that we dialled
}

// tcpPool keeps the connections of both directions, TCP and TLS. Sipgo reads
// them as if it had accepted each of them; we dial, secure, frame, bound and
// write.
type tcpPool struct {
	u      *UserAgent
	mu     sync.Mutex
	conns  map[connKey]*tcpConn
	guests map[netip.Addr]int // connections that others opened, by host
	count  int                // of those, together
	serve  chan net.Conn      // to sipgo
	done   chan struct{}
	next   int
	client *tls.Config
	header time.Duration // tcpHeader
	greet  time.Duration // tlsGreet
}

func newPool(u *UserAgent) *tcpPool {
	return &tcpPool{
		u: u, conns: make(map[connKey]*tcpConn), guests: make(map[netip.Addr]int),
		serve: make(chan net.Conn), done: make(chan struct{}), client: u.cfg.TLS.ClientConfig(),
		header: tcpHeader, greet: tlsGreet,
	}
}

// The pool is the net.Listener that sipgo serves.
func (p *tcpPool) Accept() (net.Conn, error) {
	select {
	case c := <-p.serve:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Addr names no socket: the pool listens on none itself.
func (p *tcpPool) Addr() net.Addr { return endpoint("127.0.0.1:0") }

// Close ends every connection.
func (p *tcpPool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return nil
	default:
		close(p.done)
	}
	for _, c := range p.conns {
		c.drop()
	}
	return nil
}

func (p *tcpPool) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// listen accepts from one listener until it closes.
func (p *tcpPool) listen(l streamListener) {
	for {
		raw, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of file descriptors, most likely: let some go.
			time.Sleep(50 * time.Millisecond) //nolint:forbidigo // the listener has a goroutine of its own, no mailbox
			continue
		}
		if c := p.welcome(l, addrPort(raw.RemoteAddr())); c == nil {
			_ = raw.Close()
		} else if l.tls == nil {
			c.open(raw)
		} else {
			go c.secure(tls.Server(raw, l.tls))
		}
	}
}

// welcome lets a known host within its rate have one connection more. What it
// costs us before that is one accept and one close.
func (p *tcpPool) welcome(l streamListener, remote netip.AddrPort) *tcpConn {
	source := Source{Addr: remote, Network: l.network}
	known := p.u.known(source) || p.u.dispatches(remote.Addr()) || p.u.phones.presence(source) != Absent || p.u.relay.isKnownElsewhere(source, time.Now())
	switch {
	case !known && !p.u.phones.callable(source, time.Now()) && !p.u.relay.callable(source, time.Now()):
		p.u.stats.unknown.Add(1)
	case !p.u.gate.rates.Spend(remote.Addr(), 1, time.Now()):
		p.u.stats.rate.Add(1)
	default:
		c := p.add(connKey{network: l.network, addr: remote}, true, known)
		if c == nil {
			p.u.stats.rate.Add(1)
		}
		return c
	}
	return nil
}

// add makes room for a connection; nil when the pool is full or closed, or
// the name is taken. Only what others open counts against the caps, and hosts
// that nobody knows leave a quarter of the room to the others.
func (p *tcpPool) add(key connKey, guest, known bool) *tcpConn {
	host, most := ratelimit.Subnet(key.addr.Addr()), p.u.cfg.MaxTCPConns
	if !known {
		most -= most / 4
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return nil
	default:
	}
	if p.conns[key] != nil || guest && (p.count >= most || p.guests[host] >= p.u.cfg.MaxPerHost) {
		return nil
	}
	if guest {
		p.guests[host]++
		p.count++
	}
	p.next++
	c := &tcpConn{
		pool: p, key: key, remote: key.addr, name: endpoint(key.network + "#" + strconv.Itoa(p.next)),
		guest: guest, young: guest, guess: !known, since: time.Now(),
		out: make(chan parcel, tcpQueue), gone: make(chan struct{}),
	}
	p.conns[key] = c
	return c
}

func (p *tcpPool) remove(c *tcpConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns[c.key] != c {
		return
	}
	delete(p.conns, c.key)
	if !c.guest {
		return
	}
	p.count--
	host := ratelimit.Subnet(c.remote.Addr())
	if p.guests[host]--; p.guests[host] <= 0 {
		delete(p.guests, host)
	}
}

// have is the connection that somebody has opened to us; nil: it is gone.
func (p *tcpPool) have(f flow) *tcpConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns[connKey{network: f.network, addr: f.addr}]
}

// to is the connection to an address, dialled in the background if need be.
func (p *tcpPool) to(f flow) *tcpConn {
	key := connKey{network: f.network, addr: f.addr}
	if f.network == resolve.TLS {
		if key.name = f.name; key.name == "" {
			key.name = f.addr.Addr().String()
		}
	}
	p.mu.Lock()
	c := p.conns[key]
	if c == nil && f.guest {
		c = p.conns[connKey{network: f.network, addr: f.addr}]
	}
	p.mu.Unlock()
	if c != nil {
		return c
	}
	if c = p.add(key, false, true); c != nil {
		if c.limit = tcpDial; f.hurry {
			c.limit = tcpTry
		}
		go c.dial()
	}
	return c
}
