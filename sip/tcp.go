package sip

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
	tcpDial   = 4 * time.Second
	tcpTry    = 1500 * time.Millisecond // for a request that could go by UDP as well
	tcpWrite  = 5 * time.Second
	tcpHeader = 10 * time.Second // from the first byte of a message to its last, and from the connection to its first message
	tlsGreet  = 5 * time.Second  // for a whole handshake
	tcpIdle   = 10 * time.Minute
	tcpQueue  = 1024
)

var (
	errFraming  = errors.New("sip: no message boundary")
	errNoLength = errors.New("sip: no Content-Length on a stream")
	errOverflow = errors.New("sip: connection does not keep up")
)

// tcpConn is one connection as sipgo sees it: each Read yields one message.
type tcpConn struct {
	net.Conn
	pool   *tcpPool
	key    connKey
	remote netip.AddrPort
	name   endpoint
	local  netip.AddrPort
	limit  time.Duration // for dialling
	guest  bool          // opened by the far end
	young  bool          // and has sent no message yet
	guess  bool          // nobody knew its host: perhaps a phone that will register
	since  time.Time
	r      *bufio.Reader
	raw    []byte // the message being handled
	passed *passed
	out    chan parcel
	once   sync.Once
	gone   chan struct{}
}

// parcel is a message on its way.
type parcel struct {
	b      []byte
	failed func(error) // later, from another goroutine, if it could not be delivered; nil: nobody minds
	begins bool        // an INVITE that begins a call, which HoldCalls keeps here
	may    func() bool // and Invite.May, as it was when this was made: the dialog may be over before it is sent
}

func (c *tcpConn) dial() {
	ctx, cancel := c.patience(c.limit)
	defer cancel()
	d := net.Dialer{Control: c.pool.u.mark}
	raw, err := d.DialContext(ctx, "tcp", c.remote.String())
	if err == nil && c.key.network == resolve.TLS {
		conf := c.pool.client.Clone()
		conf.ServerName = c.key.name
		raw, err = shake(ctx, tls.Client(raw, conf))
	}
	if err != nil {
		c.fail(fmt.Errorf("sip: connect %s: %w", c.remote, err))
		return
	}
	c.open(raw)
}

// patience ends after a time, or with the connection.
func (c *tcpConn) patience(limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	go func() {
		select {
		case <-c.gone:
		case <-ctx.Done():
		}
		cancel()
	}()
	return ctx, cancel
}

// secure waits for the handshake of whoever connected.
func (c *tcpConn) secure(raw *tls.Conn) {
	defer c.pool.u.recovered("handshake", c.drop)
	ctx, cancel := c.patience(c.pool.greet)
	defer cancel()
	conn, err := shake(ctx, raw)
	if err != nil {
		c.pool.u.stats.malformed.Add(1)
		c.fail(err)
		return
	}
	c.open(conn)
}

func shake(ctx context.Context, conn *tls.Conn) (net.Conn, error) {
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// open starts to read and write.
func (c *tcpConn) open(raw net.Conn) {
	c.Conn, c.r, c.local = raw, bufio.NewReaderSize(raw, 4096), addrPort(raw.LocalAddr())
	c.pool.u.sources.Store(string(c.name), c)
	go c.write()
	select {
	case c.pool.serve <- c:
	case <-c.pool.done:
		c.fail(net.ErrClosed)
	case <-c.gone:
	}
}

// fail ends the connection and tells everybody whose message was waiting.
func (c *tcpConn) fail(err error) {
	c.drop()
	c.pool.u.stats.transport.Add(1)
	c.drain(err)
}

func (c *tcpConn) drain(err error) {
	for {
		select {
		case job := <-c.out:
			if job.failed != nil {
				job.failed(err)
			}
		default:
			return
		}
	}
}

// drop forgets the connection; it may be called from anywhere, more than once.
func (c *tcpConn) drop() {
	c.once.Do(func() {
		close(c.gone)
		go func() {
			c.pool.remove(c)
			c.pool.u.sources.Delete(string(c.name))
		}()
	})
}

// send queues a message.
func (c *tcpConn) send(p parcel) error {
	if c.lost() {
		return net.ErrClosed
	}
	select {
	case c.out <- p:
		if c.lost() {
			go c.drain(net.ErrClosed)
		}
		return nil
	default:
		return errOverflow
	}
}

func (c *tcpConn) write() {
	defer func() { _ = c.Conn.Close() }()
	for {
		select {
		case <-c.gone:
			return
		case job := <-c.out:
			err := c.hand(job)
			if err != nil && job.failed != nil {
				job.failed(fmt.Errorf("sip: send to %s: %w", c.remote, err))
			}
			if err != nil && !errors.Is(err, ErrHeld) {
				c.fail(err)
				return
			}
		}
	}
}

// hand gives a message to the network, unless it begins a call and calls are
// held by now: it may have waited long for the connection.
func (c *tcpConn) hand(p parcel) error {
	if p.begins {
		leaves := c.pool.u.leaves(p.may)
		defer c.pool.u.sent()
		if !leaves {
			return ErrHeld
		}
	}
	if err := c.SetWriteDeadline(time.Now().Add(tcpWrite)); err != nil {
		return err
	}
	if _, err := c.Write(p.b); err != nil {
		return err
	}
	c.pool.u.stats.sent.Add(1)
	return nil
}

func (c *tcpConn) taken() arrival {
	return arrival{flow{network: c.key.network, addr: c.remote, tcp: c, name: c.key.name}, c.raw, 0, c.passed}
}

func (c *tcpConn) lost() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// Close is sipgo's: its reader has ended.
func (c *tcpConn) Close() error {
	c.fail(net.ErrClosed)
	return nil
}

// RemoteAddr is the name under which sipgo files the connection.
func (c *tcpConn) RemoteAddr() net.Addr { return c.name }

// LocalAddr is unique as well, for sipgo files that too.
func (c *tcpConn) LocalAddr() net.Addr { return c.name + "/local" }

// Read yields exactly one message that passed the gate and that the parser
// takes without harm: sipgo parses streams on a goroutine of its own, where
// nobody could recover for it.
func (c *tcpConn) Read(b []byte) (int, error) {
	for {
		frame, err := c.frame()
		if err != nil && !errors.Is(err, errNoLength) {
			return 0, err
		}
		if len(frame) > len(b) {
			continue
		}
		passed, ok := c.pool.u.pass(frame, c.remote, c.key.network, maxStream)
		if !ok {
			continue
		}
		if c.raw, c.passed = frame, passed; err != nil || !c.pool.u.parses(frame) {
			c.pool.u.unreadable(c.taken())
			continue
		}
		c.young = false
		c.guess = c.guess && passed == nil
		return copy(b, frame), nil
	}
}

// frame reads one message, from its first byte within tcpHeader. With errNoLength
// it is one without a body; where its body begins nobody knows, and it is refused.
func (c *tcpConn) frame() ([]byte, error) {
	if err := c.skipKeepAlive(); err != nil {
		return nil, err
	}
	if err := c.SetReadDeadline(time.Now().Add(c.pool.header)); err != nil {
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

// skipKeepAlive waits for a message and answers pings (RFC 5626 3.5.1).
func (c *tcpConn) skipKeepAlive() error {
	for crlf := 0; ; crlf++ {
		limit := tcpIdle
		if c.young {
			limit = c.pool.header - time.Since(c.since)
		} else if c.guess {
			limit = c.pool.header
		}
		if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
			return err
		}
		first, err := c.r.Peek(1)
		if err != nil && c.guess && !c.young && errors.Is(err, os.ErrDeadlineExceeded) && c.registered() {
			c.guess = false
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
			_ = c.send(parcel{b: []byte("\r\n")})
		}
	}
}

// registered tells whether a phone is registered at the far end by now, here
// or at another node.
func (c *tcpConn) registered() bool {
	s := Source{Addr: c.remote, Network: c.key.network}
	return c.pool.u.phones.presence(s) != Absent || c.pool.u.relay.isKnownElsewhere(s, time.Now())
}

func addrPort(a net.Addr) netip.AddrPort {
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
