package live

import (
	"bufio"
	"net"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// upgradeRequest converts a WebSocket upgrade request (RFC 6455 §4.2.1) into a net/http request. It returns an error
// for any other request.
func upgradeRequest(c *fiber.Ctx) (*http.Request, error) {
	wants := strings.EqualFold(c.Get(fiber.HeaderUpgrade), "websocket") && c.Get("Sec-Websocket-Version") == "13" &&
		c.Get("Sec-Websocket-Key") != "" && c.Context().Request.Header.ConnectionUpgrade()
	if !wants {
		c.Set(fiber.HeaderUpgrade, "websocket")
		c.Set("Sec-Websocket-Version", "13")
		return nil, domain.Errorf(router.CodeUpgradeRequired, "This route needs a WebSocket upgrade, version 13.")
	}
	r := &http.Request{Method: http.MethodGet, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header)}
	for _, name := range []string{fiber.HeaderConnection, fiber.HeaderUpgrade, "Sec-Websocket-Version", "Sec-Websocket-Key"} {
		r.Header.Set(name, c.Get(name))
	}
	return r, nil
}

// hijackedConn is a connection that was taken over from fasthttp. The Close of fasthttp's own connection type has no
// effect until the handler returns.
type hijackedConn struct{ net.Conn }

// Close closes the network connection at once and so ends all reads and writes.
func (t hijackedConn) Close() error {
	if under, ok := t.Conn.(interface{ UnsafeConn() net.Conn }); ok {
		return under.UnsafeConn().Close()
	}
	return t.Conn.Close()
}

// handshake is the http.ResponseWriter that writes the upgrade response on a hijacked connection.
type handshake struct {
	conn   net.Conn
	header http.Header
	buffer *bufio.ReadWriter
}

// Header implements http.ResponseWriter.
func (h *handshake) Header() http.Header {
	if h.header == nil {
		h.header = make(http.Header)
	}
	return h.header
}

// WriteHeader implements http.ResponseWriter. It buffers the header section, which Hijack sends.
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
	_ = head.Write(w) // writes to memory; the next write reports a failed flush
}

// Write implements http.ResponseWriter. It discards the body of a response that refuses the upgrade.
func (h *handshake) Write(b []byte) (int, error) { return len(b), nil }

// Hijack implements http.Hijacker.
func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, h.buffer, h.buffer.Flush()
}
