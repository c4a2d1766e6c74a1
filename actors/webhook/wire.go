package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	// mostAtOnce is what a request may have so that it is written in one piece:
	// a TLS record, which the buffers of any connection take.
	mostAtOnce = 16 << 10
	// maxInterim are the answers that may come before the one that counts.
	maxInterim = 5
	// answerBuffer holds the head of a common answer.
	answerBuffer = 1 << 10
)

var (
	errHeaders   = errors.New("the headers exceeded their limit")
	errInterim   = errors.New("too many interim answers")
	errHandshake = errors.New("no end of the TLS handshake")
)

// wire is one connection over HTTP/1.1. Whoever makes a request on it writes it
// in one piece and reads the answer himself: net/http has two goroutines for
// each connection, and to hand a small request to them and its answer back costs
// as much as the request.
type wire struct {
	conn *tls.Conn
	got  *records        // what TLS took off the connection beneath
	raw  syscall.RawConn // of the connection beneath; nil: it has none
	to   string          // host and port
	in   *bufio.Reader   // of Read
	left int             // bytes that may still be read
	out  []byte          // what was written last, for its room
	rest time.Time       // since when it is idle
}

func newWire(conn *tls.Conn, to string) *wire {
	w := &wire{conn: conn, to: to}
	beneath := conn.NetConn()
	if r, ok := beneath.(*records); ok {
		w.got, beneath = r, r.Conn
	}
	if c, ok := beneath.(syscall.Conn); ok {
		w.raw, _ = c.SyscallConn()
	}
	w.in = bufio.NewReaderSize(w, answerBuffer)
	return w
}

// Read reads no more than is left.
func (w *wire) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, errHeaders
	}
	n, err := w.conn.Read(p[:min(len(p), w.left)])
	w.left -= n
	return n, err //nolint:wrapcheck // it is the connection
}

// close ends the connection at once, whoever is at work on it.
func (w *wire) close() { _ = w.conn.NetConn().Close() }

// part ends an idle connection as TLS would have it. It does not wait for that:
// what is written last may find no room.
func part(conn *tls.Conn) { go func() { _ = conn.Close() }() }

// write sends a request.
func (w *wire) write(to *target, r *Request) error {
	b := append(w.out[:0], to.head...)
	for _, h := range r.Header {
		b = append(append(append(append(b, h.Name...), ": "...), h.Value...), "\r\n"...)
	}
	b = strconv.AppendInt(append(b, "Content-Length: "...), int64(len(r.Body)), 10)
	b = append(append(b, "\r\n\r\n"...), r.Body...)
	w.out = b
	_, err := w.conn.Write(b)
	return err //nolint:wrapcheck // it is the connection
}

// heard is an answer, as far as it matters.
type heard struct {
	status int
	wait   string // Retry-After
	rest   io.Reader
	length int64 // of the rest; below 0: as the rest tells
	last   bool  // nothing comes behind it
}

// answer reads the head of the answer that counts. A common one is taken from
// what the connection brought in one piece.
func (w *wire) answer() (heard, error) {
	for range maxInterim {
		w.left = maxAnswerHeaders
		if _, err := w.in.Peek(1); err == nil {
			b, _ := w.in.Peek(w.in.Buffered())
			if size, status, length := short(b); size > 0 {
				_, _ = w.in.Discard(size)
				return heard{status: status, rest: w.in, length: length}, nil
			}
		}
		res, err := http.ReadResponse(w.in, nil) //nolint:bodyclose // drain reads what there is of it
		if err != nil {
			return heard{}, err //nolint:wrapcheck // told by its kind
		}
		if res.StatusCode >= http.StatusOK || res.StatusCode == http.StatusSwitchingProtocols {
			h := heard{status: res.StatusCode, wait: res.Header.Get("Retry-After"), rest: res.Body, length: -1, last: res.Close}
			if res.Body == http.NoBody {
				h.length = 0
			}
			return h, nil
		}
	}
	return heard{}, errInterim
}

// drain reads the rest of an answer, as far as is worth it, and says whether the
// connection can be used again.
func (w *wire) drain(h *heard, until time.Time) bool {
	if h.status == http.StatusSwitchingProtocols {
		return false
	}
	if h.length != 0 {
		if soon := time.Now().Add(drainTimeout); soon.Before(until) {
			_ = w.conn.SetReadDeadline(soon)
		}
		w.left = math.MaxInt
		if h.length > 0 {
			h.rest = io.LimitReader(h.rest, h.length)
		}
		if n, err := io.CopyN(io.Discard, h.rest, maxAnswer); !errors.Is(err, io.EOF) || n < h.length {
			return false
		}
	}
	return !h.last && w.in.Buffered() == 0 && w.spent()
}

// spent says whether nothing is left of what was taken off the connection: the
// next answer would begin with it. A read past its deadline brings what TLS
// holds, and takes nothing more.
func (w *wire) spent() bool {
	w.left = 1
	if w.conn.SetReadDeadline(time.Unix(1, 0)) != nil {
		return false
	}
	_, err := w.in.Peek(1)
	return errors.Is(err, os.ErrDeadlineExceeded) && (w.got == nil || w.got.whole())
}

// wires are the idle connections of an endpoint.
type wires struct {
	most time.Duration // that one may be idle

	mu   sync.Mutex
	idle []*wire // the one used last is the first to be used again
	look *time.Timer
}

// take is an idle connection that the far end has not closed; nil: there is none.
func (s *wires) take(to string, until time.Time) *wire {
	for {
		w := s.newest(to)
		if w == nil || time.Since(w.rest) < s.most && w.conn.SetDeadline(until) == nil && quiet(w.raw) {
			return w
		}
		w.close()
	}
}

func (s *wires) newest(to string) *wire {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range slices.Backward(s.idle) {
		if w.to == to {
			s.idle = slices.Delete(s.idle, i, i+1)
			return w
		}
	}
	return nil
}

// give keeps a connection for the next request.
func (s *wires) give(w *wire) {
	w.rest = time.Now()
	if cap(w.out) > 2*mostAtOnce {
		w.out = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) >= maxIdle {
		part(w.conn)
		return
	}
	s.idle = append(s.idle, w)
	if s.look == nil {
		s.look = time.AfterFunc(s.most, s.tidy)
	}
}

// tidy closes what has been idle for too long.
func (s *wires) tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := 0
	for old < len(s.idle) && time.Since(s.idle[old].rest) >= s.most {
		part(s.idle[old].conn)
		old++
	}
	rest := append(s.idle[:0], s.idle[old:]...)
	clear(s.idle[len(rest):])
	s.idle, s.look = rest, nil
	if len(rest) > 0 {
		s.look = time.AfterFunc(max(s.most-time.Since(rest[0].rest), time.Millisecond), s.tidy)
	}
}

// close ends all that are idle.
func (s *wires) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.idle {
		part(w.conn)
	}
	s.idle = nil
}

// exchange makes one attempt over HTTP/1.1. done is false where the far end
// speaks HTTP/2 and nothing was sent.
func (c *Client) exchange(ctx context.Context, to *target, r *Request, start time.Time) (a Answer, done bool) {
	until := start.Add(c.cfg.Timeout)
	w := c.wires.take(to.addr, until)
	for {
		used := w != nil
		if !used {
			conn, err := c.connect(ctx, to.addr, until)
			if err != nil {
				return Answer{Took: time.Since(start), Error: c.reason(err)}, true
			}
			if conn.ConnectionState().NegotiatedProtocol == protocolMany {
				c.many(to.addr, conn)
				return Answer{}, false
			}
			w = newWire(conn, to.addr)
			_ = conn.SetDeadline(until)
		}
		a, again := c.ask(ctx, w, to, r, start, until)
		if used && again {
			w = nil // what was written is no whole record: nobody has read it
			continue
		}
		return a, true
	}
}

// ask makes a request on a connection, which it keeps or closes; again: the
// request could not be written.
func (c *Client) ask(ctx context.Context, w *wire, to *target, r *Request, start, until time.Time) (a Answer, again bool) {
	release := context.AfterFunc(ctx, w.close)
	good := false
	defer func() {
		if release() && good {
			c.wires.give(w)
		} else {
			w.close()
		}
	}()
	if err := w.write(to, r); err != nil {
		return Answer{Took: time.Since(start), Error: c.reason(err)}, ctx.Err() == nil && time.Now().Before(until)
	}
	h, err := w.answer()
	a = Answer{Took: time.Since(start)}
	if err != nil {
		a.Error = c.reason(err)
		return a, false
	}
	a.heard(h.status, h.wait)
	good = w.drain(&h, until)
	return a, false
}

// connect makes a connection over TLS. Every address is checked right before.
func (c *Client) connect(ctx context.Context, addr string, until time.Time) (*tls.Conn, error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	conn, err := c.dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err //nolint:wrapcheck // told by its kind
	}
	return c.shake(ctx, &records{Conn: conn}, addr)
}

func (c *Client) shake(ctx context.Context, conn net.Conn, addr string) (*tls.Conn, error) {
	own := c.tls
	if own.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			_ = conn.Close()
			return nil, err //nolint:wrapcheck // told by its kind
		}
		own = c.tls.Clone()
		own.ServerName = host
	}
	secure := tls.Client(conn, own)
	shaking, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	err := secure.HandshakeContext(shaking)
	switch {
	case err == nil:
		return secure, nil
	case ctx.Err() == nil && shaking.Err() != nil:
		err = errHandshake
	}
	_ = conn.Close()
	return nil, err //nolint:wrapcheck // told by its kind
}
