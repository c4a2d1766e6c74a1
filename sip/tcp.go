package sip

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tcpDial   = 4 * time.Second
	tcpWrite  = 5 * time.Second
	tcpHeader = 10 * time.Second // from the first byte of a message to its last
	tcpIdle   = 10 * time.Minute
	tcpQueue  = 1024
)

var (
	errFraming  = errors.New("sip: no message boundary")
	errOverflow = errors.New("sip: connection does not keep up")
)

// tcpPool keeps the connections of both directions. Sipgo reads them as if it
// had accepted each of them; we dial, frame, bound and write.
type tcpPool struct {
	u     *UserAgent
	mu    sync.Mutex
	conns map[netip.AddrPort]*tcpConn
	serve chan net.Conn // to sipgo
	done  chan struct{}
	next  int
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
func (p *tcpPool) listen(l net.Listener) {
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
		remote := addrPort(raw.RemoteAddr())
		if !p.u.known(Source{Addr: remote, Network: "tcp"}) {
			p.u.stats.unknown.Add(1)
			_ = raw.Close()
			continue
		}
		if c := p.add(remote); c != nil {
			c.open(raw)
		} else {
			_ = raw.Close()
		}
	}
}

// add makes room for a connection; nil when the pool is full or closed, or
// the address is taken.
func (p *tcpPool) add(remote netip.AddrPort) *tcpConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return nil
	default:
	}
	if len(p.conns) >= p.u.cfg.MaxTCPConns || p.conns[remote] != nil {
		return nil
	}
	p.next++
	c := &tcpConn{
		pool: p, remote: remote, name: endpoint("tcp#" + strconv.Itoa(p.next)),
		out: make(chan tcpJob, tcpQueue), gone: make(chan struct{}),
	}
	p.conns[remote] = c
	return c
}

// to is the connection to an address, dialled in the background if need be.
func (p *tcpPool) to(remote netip.AddrPort) *tcpConn {
	p.mu.Lock()
	c := p.conns[remote]
	p.mu.Unlock()
	if c != nil {
		return c
	}
	if c = p.add(remote); c != nil {
		go c.dial()
	}
	return c
}

// tcpConn is one connection as sipgo sees it: each Read yields one message.
type tcpConn struct {
	net.Conn
	pool   *tcpPool
	remote netip.AddrPort
	name   endpoint
	r      *bufio.Reader
	raw    []byte // the message being handled
	out    chan tcpJob
	once   sync.Once
	gone   chan struct{}
}

type tcpJob struct {
	b      []byte
	failed func(error)
}

func (c *tcpConn) dial() {
	d := net.Dialer{Timeout: tcpDial}
	raw, err := d.DialContext(context.Background(), "tcp", c.remote.String())
	if err != nil {
		c.fail(fmt.Errorf("sip: connect %s: %w", c.remote, err))
		return
	}
	c.open(raw)
}

// open starts to read and write.
func (c *tcpConn) open(raw net.Conn) {
	c.Conn, c.r = raw, bufio.NewReaderSize(raw, 4096)
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
			c.pool.mu.Lock()
			delete(c.pool.conns, c.remote)
			c.pool.mu.Unlock()
			c.pool.u.sources.Delete(string(c.name))
		}()
	})
}

// send queues a message. failed is called later, from another goroutine, if
// it could not be written.
func (c *tcpConn) send(b []byte, failed func(error)) error {
	select {
	case <-c.gone:
		return net.ErrClosed
	default:
	}
	select {
	case c.out <- tcpJob{b, failed}:
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
			err := c.SetWriteDeadline(time.Now().Add(tcpWrite))
			if err == nil {
				_, err = c.Write(job.b)
			}
			if err != nil {
				if job.failed != nil {
					job.failed(fmt.Errorf("sip: send to %s: %w", c.remote, err))
				}
				c.fail(err)
				return
			}
			c.pool.u.stats.sent.Add(1)
		}
	}
}

func (c *tcpConn) taken() (flow, []byte) { return flow{network: "tcp", addr: c.remote, tcp: c}, c.raw }

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
		if err != nil {
			return 0, err
		}
		if len(frame) > len(b) || !c.pool.u.pass(frame, c.remote, "tcp", maxStream) || !c.pool.u.parses(frame) {
			continue
		}
		c.raw = frame
		return copy(b, frame), nil
	}
}

// frame reads one message, from its first byte within tcpHeader.
func (c *tcpConn) frame() ([]byte, error) {
	if err := c.skipKeepAlive(); err != nil {
		return nil, err
	}
	if err := c.SetReadDeadline(time.Now().Add(tcpHeader)); err != nil {
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
		name, value, _ := strings.Cut(string(line), ":")
		if canonical(strings.TrimSpace(name)) != "content-length" {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
		if err != nil || length >= 0 {
			return nil, errFraming
		}
		length = int(n)
	}
	if length < 0 || length > maxStream {
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
		if err := c.SetReadDeadline(time.Now().Add(tcpIdle)); err != nil {
			return err
		}
		first, err := c.r.Peek(1)
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
			_ = c.send([]byte("\r\n"), nil)
		}
	}
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
