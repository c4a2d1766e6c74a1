package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
)

// listener accepts connections that record whether the client has closed its sending side.
type listener struct{ net.Listener }

// Accept waits for the next connection.
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

// conn is a connection that records whether the peer has closed its sending side. fasthttp reports such an end
// inside a chunked body as the end of the body. RFC 9112 §8 calls that body incomplete.
type conn struct {
	net.Conn
	ended atomic.Bool
}

// Read returns the last data and io.EOF in separate calls, so InputEnded is true only after all data was read.
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

// InputEnded reports whether Read has reached the end of the input.
func (c *conn) InputEnded() bool { return c.ended.Load() }

// NetConn returns the wrapped connection.
func (c *conn) NetConn() net.Conn { return c.Conn }

// tlsConn is a conn that fasthttp recognizes as a TLS connection.
type tlsConn struct {
	conn
	secure *tls.Conn
}

// Handshake runs the TLS handshake if it has not run yet.
func (c *tlsConn) Handshake() error { return c.secure.HandshakeContext(context.Background()) }

// ConnectionState returns the state of the TLS connection.
func (c *tlsConn) ConnectionState() tls.ConnectionState { return c.secure.ConnectionState() }
