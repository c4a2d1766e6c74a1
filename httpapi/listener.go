package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
)

// listener accepts connections that report the end of their input.
type listener struct{ net.Listener }

// Accept waits for a connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if secure, ok := c.(*tls.Conn); ok {
		return &tlsConn{conn: conn{Conn: c}, secure: secure}, nil
	}
	return &conn{Conn: c}, nil
}

// conn is a connection that records whether its peer has ended the input.
// fasthttp reports that end in place of a chunk as the end of the body;
// RFC 9112 §8 calls such a body incomplete.
type conn struct {
	net.Conn
	ended atomic.Bool
}

// Read returns the last data and io.EOF in separate calls. InputEnded is then true
// only after all data were read.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.EOF) {
		if n > 0 {
			return n, nil
		}
		c.ended.Store(true)
	}
	return n, err
}

// InputEnded says whether a Read has met the end of the input.
func (c *conn) InputEnded() bool { return c.ended.Load() }

// NetConn is the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

// tlsConn is a conn that fasthttp recognizes as one of TLS.
type tlsConn struct {
	conn
	secure *tls.Conn
}

// Handshake runs the TLS handshake, if it has not run.
func (c *tlsConn) Handshake() error { return c.secure.HandshakeContext(context.Background()) }

// ConnectionState describes the TLS connection.
func (c *tlsConn) ConnectionState() tls.ConnectionState { return c.secure.ConnectionState() }
