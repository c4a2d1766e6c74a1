package transport

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

const (
	dialTimeout             = 4 * time.Second
	shortDialTimeout        = 1500 * time.Millisecond // for a request that could also be sent over UDP
	writeTimeout            = 5 * time.Second
	defaultHeaderTimeout    = 10 * time.Second // from the first byte of a message to its last, and from the connection to its first message
	defaultHandshakeTimeout = 5 * time.Second  // for a complete handshake
	idleTimeout             = 10 * time.Minute
	sendQueueSize           = 1024
)

var (
	errFraming  = errors.New("sip: the end of a message was not found in the stream")
	errNoLength = errors.New("sip: no Content-Length on a stream")
)

// Connection is one TCP or TLS connection. Each Read by sipgo returns one message.
type Connection struct {
	net.Conn
	pool        *connectionPool
	key         connKey
	remote      netip.AddrPort
	name        socketName
	local       netip.AddrPort
	limit       time.Duration // time limit for dialling
	inbound     bool          // opened by the peer
	awaitsFirst bool          // inbound, without a message so far
	unknownHost bool          // the host is unknown and may be a phone that will register
	since       time.Time
	r           *bufio.Reader
	raw         []byte // the message that is being handled
	relay       *RelayInfo
	out         chan Outgoing
	once        sync.Once
	closed      chan struct{}
}

func (c *Connection) dial() {
	ctx, cancel := c.untilClosed(c.limit)
	defer cancel()
	d := net.Dialer{Control: c.pool.t.markSocket}
	raw, err := d.DialContext(ctx, "tcp", c.remote.String())
	if err == nil && c.key.network == resolve.TLS {
		conf := c.pool.client.Clone()
		conf.ServerName = c.key.name
		raw, err = handshake(ctx, tls.Client(raw, conf))
	}
	if err != nil {
		c.fail(fmt.Errorf("sip: connect %s: %w", c.remote, err))
		return
	}
	c.start(raw)
}

// untilClosed returns a context that ends after limit, or earlier when the connection is closed.
func (c *Connection) untilClosed(limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	go func() {
		select {
		case <-c.closed:
		case <-ctx.Done():
		}
		cancel()
	}()
	return ctx, cancel
}

// acceptTLS performs the TLS handshake of an inbound connection. Then it starts the connection.
func (c *Connection) acceptTLS(raw *tls.Conn) {
	defer c.pool.t.cfg.Recover("handshake", c.drop)
	ctx, cancel := c.untilClosed(c.pool.handshakeTimeout)
	defer cancel()
	conn, err := handshake(ctx, raw)
	if err != nil {
		c.pool.t.Counts.DroppedMalformed.Add(1)
		c.fail(err)
		return
	}
	c.start(conn)
}

func handshake(ctx context.Context, conn *tls.Conn) (net.Conn, error) {
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// start starts writing queued messages, and passes the connection to sipgo, which reads it.
func (c *Connection) start(raw net.Conn) {
	c.Conn, c.r, c.local = raw, bufio.NewReaderSize(raw, 4096), addrPortOf(raw.LocalAddr())
	c.pool.t.sockets.Store(string(c.name), c)
	go c.writeLoop()
	select {
	case c.pool.accepted <- c:
	case <-c.pool.closed:
		c.fail(net.ErrClosed)
	case <-c.closed:
	}
}

// fail ends the connection and reports all queued messages as failed.
func (c *Connection) fail(err error) {
	c.drop()
	c.pool.t.Counts.Errors.Add(1)
	c.failQueued(err)
}

func (c *Connection) failQueued(err error) {
	for {
		select {
		case job := <-c.out:
			if job.Failed != nil {
				job.Failed(err)
			}
		default:
			return
		}
	}
}

// drop closes the connection and removes it from the pool. It may be called repeatedly, from any goroutine.
func (c *Connection) drop() {
	c.once.Do(func() {
		close(c.closed)
		go func() {
			c.pool.remove(c)
			c.pool.t.sockets.Delete(string(c.name))
		}()
	})
}

// send queues a message for the connection. It returns an error if the connection is closed or its queue is full.
func (c *Connection) send(p Outgoing) error {
	if c.isClosed() {
		return net.ErrClosed
	}
	select {
	case c.out <- p:
		if c.isClosed() {
			go c.failQueued(net.ErrClosed)
		}
		return nil
	default:
		return errOverflow
	}
}

func (c *Connection) writeLoop() {
	defer func() { _ = c.Conn.Close() }()
	for {
		select {
		case <-c.closed:
			return
		case job := <-c.out:
			err := c.writeMessage(job)
			if err != nil && job.Failed != nil {
				job.Failed(fmt.Errorf("sip: send to %s: %w", c.remote, err))
			}
			if err != nil && !errors.Is(err, ErrCallsSuspended) {
				c.fail(err)
				return
			}
		}
	}
}

// writeMessage writes a message to the connection. A message that begins a call is checked by the call gate again,
// because calls may have been suspended while it waited for the connection.
func (c *Connection) writeMessage(p Outgoing) error {
	if p.BeginsCall {
		enters := c.pool.t.cfg.CallGate.EnterCall(p.MayBegin)
		defer c.pool.t.cfg.CallGate.LeaveCall()
		if !enters {
			return ErrCallsSuspended
		}
	}
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := c.Write(p.Bytes); err != nil {
		return err
	}
	c.pool.t.Counts.Sent.Add(1)
	return nil
}

func (c *Connection) arrival() Arrival {
	return Arrival{Flow{Network: c.key.network, Addr: c.remote, Connection: c, Name: c.key.name}, c.raw, 0, c.relay}
}

func (c *Connection) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// Closed returns a channel that is closed when the connection ends.
func (c *Connection) Closed() <-chan struct{} { return c.closed }

// Close is called by sipgo when its reader has ended.
func (c *Connection) Close() error {
	c.fail(net.ErrClosed)
	return nil
}

// RemoteAddr returns a unique name instead of the peer's address, because sipgo stores the connection under it.
func (c *Connection) RemoteAddr() net.Addr { return c.name }

// LocalAddr returns a second unique name, because sipgo also stores the connection under its local address.
func (c *Connection) LocalAddr() net.Addr { return c.name + "/local" }

// Read returns exactly one message that the ingress filter admits and that the parser accepts. The parser is tried here
// first, because sipgo parses streams on its own goroutine, where a panic cannot be recovered.
func (c *Connection) Read(b []byte) (int, error) {
	for {
		frame, err := c.readFrame()
		if err != nil && !errors.Is(err, errNoLength) {
			return 0, err
		}
		if len(frame) > len(b) {
			continue
		}
		relay, ok := c.pool.t.admit(frame, c.remote, c.key.network, maxStream)
		if !ok {
			continue
		}
		if c.raw, c.relay = frame, relay; err != nil || !c.pool.t.canParse(frame) {
			c.pool.t.refuseUnreadable(c.arrival())
			continue
		}
		c.awaitsFirst = false
		c.unknownHost = c.unknownHost && relay == nil
		return copy(b, frame), nil
	}
}

// readFrame reads one message. The message must be complete within headerTimeout after its first byte. The error
// errNoLength reports a message without Content-Length, which is refused because its end is unknown.
func (c *Connection) readFrame() ([]byte, error) {
	if err := c.skipKeepAlive(); err != nil {
		return nil, err
	}
	if err := c.SetReadDeadline(time.Now().Add(c.pool.headerTimeout)); err != nil {
		return nil, err
	}
	var frame []byte
	length, lines := -1, 0
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		frame = append(frame, line...)
		if lines++; lines > maxLines || len(frame) > maxStream {
			return nil, errFraming
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if len(line) == 0 || line[0]|0x20 != 'c' && line[0]|0x20 != 'l' {
			continue
		}
		name, value, _ := strings.Cut(string(line), ":")
		if message.CanonicalName(strings.TrimSpace(name)) != "content-length" {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
		if err != nil || length >= 0 {
			return nil, errFraming
		}
		length = int(n)
	}
	if length < 0 {
		return frame, errNoLength
	}
	if length > maxStream {
		return nil, errFraming
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c.r, body); err != nil {
		return nil, err
	}
	return append(frame, body...), nil
}

// skipKeepAlive waits for the first byte of a message. It answers keep-alive pings before it (RFC 5626 §3.5.1).
func (c *Connection) skipKeepAlive() error {
	for crlf := 0; ; crlf++ {
		limit := idleTimeout
		if c.awaitsFirst {
			limit = c.pool.headerTimeout - time.Since(c.since)
		} else if c.unknownHost {
			limit = c.pool.headerTimeout
		}
		if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
			return err
		}
		first, err := c.r.Peek(1)
		if err != nil && c.unknownHost && !c.awaitsFirst && errors.Is(err, os.ErrDeadlineExceeded) && c.isRegistered() {
			c.unknownHost = false
			continue
		}
		if err != nil {
			return err
		}
		if first[0] != '\r' && first[0] != '\n' {
			return nil
		}
		if _, err := c.r.Discard(1); err != nil {
			return err
		}
		if crlf%4 == 3 {
			_ = c.send(Outgoing{Bytes: []byte("\r\n")})
		}
	}
}

// isRegistered reports whether a phone at the peer's address is registered by now, on this node or another.
func (c *Connection) isRegistered() bool {
	return c.pool.t.cfg.IsRegistered(Source{Addr: c.remote, Network: c.key.network})
}

func addrPortOf(a net.Addr) netip.AddrPort {
	if t, ok := a.(*net.TCPAddr); ok {
		p := t.AddrPort()
		return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
	}
	if t, ok := a.(*net.UDPAddr); ok {
		p := t.AddrPort()
		return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
	}
	return netip.AddrPort{}
}
