package transport

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

// connKey identifies a connection. Two outbound TLS connections to the same address are different connections if the
// certificates of their peers must have different names.
type connKey struct {
	network string
	addr    netip.AddrPort
	name    string // name that the peer of an outbound TLS connection has proved
}

// connectionPool holds the TCP and TLS connections of both directions. It dials, performs handshakes, splits streams
// into messages, writes, and applies limits. For sipgo it is a listener that has accepted all of these connections.
type connectionPool struct {
	t                *Transport
	mu               sync.Mutex
	conns            map[connKey]*Connection
	inboundByHost    map[netip.Addr]int // number of connections that peers opened
	inboundCount     int                // sum of inboundByHost
	accepted         chan net.Conn      // passes connections to sipgo
	closed           chan struct{}
	lastID           int
	client           *tls.Config
	headerTimeout    time.Duration
	handshakeTimeout time.Duration
}

func newConnectionPool(t *Transport) *connectionPool {
	return &connectionPool{
		t: t, conns: make(map[connKey]*Connection), inboundByHost: make(map[netip.Addr]int),
		accepted: make(chan net.Conn), closed: make(chan struct{}), client: t.cfg.TLS.ClientConfig(),
		headerTimeout: defaultHeaderTimeout, handshakeTimeout: defaultHandshakeTimeout,
	}
}

// Accept implements net.Listener for sipgo. It returns the next inbound or outbound connection that is open.
func (p *connectionPool) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener. It returns a fixed name, because the pool has no socket of its own.
func (p *connectionPool) Addr() net.Addr { return socketName("127.0.0.1:0") }

// Close ends every connection.
func (p *connectionPool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.closed:
		return nil
	default:
		close(p.closed)
	}
	for _, c := range p.conns {
		c.drop()
	}
	return nil
}

func (p *connectionPool) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// acceptFrom accepts connections from one listener until it closes.
func (p *connectionPool) acceptFrom(l streamListener) {
	for {
		raw, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Most likely the process has no free file descriptors, so wait until some are closed.
			time.Sleep(50 * time.Millisecond) //nolint:forbidigo // the listener has a goroutine of its own, no mailbox
			continue
		}
		if c := p.admit(l, addrPortOf(raw.RemoteAddr())); c == nil {
			_ = raw.Close()
		} else if l.tls == nil {
			c.start(raw)
		} else {
			go c.acceptTLS(tls.Server(raw, l.tls))
		}
	}
}

// admit reserves a pool entry for a connection from an admitted host within its rate. It returns nil if the connection is
// refused.
func (p *connectionPool) admit(l streamListener, remote netip.AddrPort) *Connection {
	source := Source{Addr: remote, Network: l.network}
	known, admitted := p.t.cfg.AdmitConnection(source)
	switch {
	case !admitted:
		p.t.Counts.DroppedUnknown.Add(1)
	case !p.t.Filter.SpendRate(remote.Addr(), time.Now()):
		p.t.Counts.DroppedRate.Add(1)
	default:
		c := p.reserve(connKey{network: l.network, addr: remote}, true, known)
		if c == nil {
			p.t.Counts.DroppedRate.Add(1)
		}
		return c
	}
	return nil
}

// reserve adds a connection that is not open yet to the pool. It returns nil if the pool is full or closed, or the key is
// in use. Only inbound connections count toward the limits. Unknown hosts may use three quarters of the total limit.
func (p *connectionPool) reserve(key connKey, inbound, known bool) *Connection {
	host, most := ratelimit.Subnet(key.addr.Addr()), p.t.cfg.MaxConnections
	if !known {
		most -= most / 4
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.closed:
		return nil
	default:
	}
	if p.conns[key] != nil || inbound && (p.inboundCount >= most || p.inboundByHost[host] >= p.t.cfg.MaxPerHost) {
		return nil
	}
	if inbound {
		p.inboundByHost[host]++
		p.inboundCount++
	}
	p.lastID++
	c := &Connection{
		pool: p, key: key, remote: key.addr, name: socketName(key.network + "#" + strconv.Itoa(p.lastID)),
		inbound: inbound, awaitsFirst: inbound, unknownHost: !known, since: time.Now(),
		out: make(chan Outgoing, sendQueueSize), closed: make(chan struct{}),
	}
	p.conns[key] = c
	return c
}

func (p *connectionPool) remove(c *Connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns[c.key] != c {
		return
	}
	delete(p.conns, c.key)
	if !c.inbound {
		return
	}
	p.inboundCount--
	host := ratelimit.Subnet(c.remote.Addr())
	if p.inboundByHost[host]--; p.inboundByHost[host] <= 0 {
		delete(p.inboundByHost, host)
	}
}

// inboundFrom returns the connection that the peer of a flow has opened; nil if it is closed.
func (p *connectionPool) inboundFrom(f Flow) *Connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns[connKey{network: f.Network, addr: f.Addr}]
}

// connect returns the connection to the address of a flow. If there is none, connect dials in the background. It returns
// nil if the pool is closed.
func (p *connectionPool) connect(f Flow) *Connection {
	key := connKey{network: f.Network, addr: f.Addr}
	if f.Network == resolve.TLS {
		if key.name = f.Name; key.name == "" {
			key.name = f.Addr.Addr().String()
		}
	}
	p.mu.Lock()
	c := p.conns[key]
	if c == nil && f.ReuseInbound {
		c = p.conns[connKey{network: f.Network, addr: f.Addr}]
	}
	p.mu.Unlock()
	if c != nil {
		return c
	}
	if c = p.reserve(key, false, true); c != nil {
		if c.limit = dialTimeout; f.ShortDial {
			c.limit = shortDialTimeout
		}
		go c.dial()
	}
	return c
}
