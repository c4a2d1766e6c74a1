package httpapi

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/calls"
)

// upgrade is the request for a WebSocket (RFC 6455, 4.2.1) as the library
// knows requests.
func upgrade(c *fiber.Ctx) (*http.Request, error) {
	wants := strings.EqualFold(c.Get(fiber.HeaderUpgrade), "websocket") && c.Get("Sec-Websocket-Version") == "13" &&
		c.Get("Sec-Websocket-Key") != "" && c.Context().Request.Header.ConnectionUpgrade()
	if !wants {
		c.Set(fiber.HeaderUpgrade, "websocket")
		c.Set("Sec-Websocket-Version", "13")
		return nil, domain.Errorf(router.CodeUpgradeRequired, "This is a WebSocket, version 13.")
	}
	r := &http.Request{Method: http.MethodGet, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header)}
	for _, name := range []string{fiber.HeaderConnection, fiber.HeaderUpgrade, "Sec-Websocket-Version", "Sec-Websocket-Key"} {
		r.Header.Set(name, c.Get(name))
	}
	return r, nil
}

// taken is a connection that was taken over from the server, which would
// close it only when its handler returns.
type taken struct{ net.Conn }

// Close ends what reads and writes at once.
func (t taken) Close() error {
	if under, ok := t.Conn.(interface{ UnsafeConn() net.Conn }); ok {
		return under.UnsafeConn().Close()
	}
	return t.Conn.Close()
}

// handshake writes the answer to an upgrade on a connection that was taken
// over, in the shape that net/http's users expect.
type handshake struct {
	conn   net.Conn
	header http.Header
	buffer *bufio.ReadWriter
}

// Header is http.ResponseWriter.
func (h *handshake) Header() http.Header {
	if h.header == nil {
		h.header = make(http.Header)
	}
	return h.header
}

// WriteHeader is http.ResponseWriter; the head is sent by Hijack.
func (h *handshake) WriteHeader(status int) {
	var head fasthttp.ResponseHeader
	head.SetStatusCode(status)
	head.SetNoDefaultContentType(true)
	for name, values := range h.header {
		for _, v := range values {
			head.Add(name, v)
		}
	}
	w := bufio.NewWriterSize(h.conn, 1024)
	h.buffer = bufio.NewReadWriter(bufio.NewReaderSize(h.conn, 1024), w)
	_ = head.Write(w) // into memory; a failure to flush is seen by the next write
}

// Write is http.ResponseWriter: the text of a refusal, after which nothing is
// said any more.
func (h *handshake) Write(b []byte) (int, error) { return len(b), nil }

// Hijack is http.Hijacker.
func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, h.buffer, h.buffer.Flush()
}

// earfulMost is how many frames may wait for who listens: a second.
const earfulMost = 50

// earful carries frames from the clock of the media to a socket. Nobody waits
// for the one who takes them: where too many wait, it was too slow.
type earful struct {
	more chan struct{} // room for one: something is there

	mu     sync.Mutex
	frames [earfulMost][calls.ListenFrame]byte
	at, n  int
	over   bool
	slow   bool
	drop   func() // where too slow; does not block
}

func newEarful() *earful { return &earful{more: make(chan struct{}, 1)} }

// attend says whom to drop where too many frames wait.
func (e *earful) attend(drop func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop = drop
	if e.slow {
		drop()
	}
}

// put takes a frame; nil: it was the last.
func (e *earful) put(frame []byte) {
	e.mu.Lock()
	switch {
	case frame == nil:
		e.over = true
	case e.n == earfulMost:
		if !e.slow && e.drop != nil {
			e.drop()
		}
		e.slow = true
	default:
		copy(e.frames[(e.at+e.n)%earfulMost][:], frame)
		e.n++
	}
	e.mu.Unlock()
	select {
	case e.more <- struct{}{}:
	default:
	}
}

// take hands out the oldest frame; 0: none is there, and none comes where it
// is over.
func (e *earful) take(into []byte) (n int, over bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.n == 0 {
		return 0, e.over
	}
	n = copy(into, e.frames[e.at][:])
	e.at, e.n = (e.at+1)%earfulMost, e.n-1
	return n, false
}
