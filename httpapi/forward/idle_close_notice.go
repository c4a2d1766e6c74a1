package forward

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"

	"github.com/callboard/callboard/httpapi/connstate"
)

// closeNotice is the last data on an idle connection when its listener closes. It is a 408 response without a request
// (RFC 9110 §15.5.9). It tells the peer that a request that it has just sent was not read.
const closeNotice = "HTTP/1.1 408 Request Timeout\r\n" + NotActive + ": 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// closeNoticeTimeout is the maximum time in which the peer must read the close notice and close the connection.
const closeNoticeTimeout = time.Second

// shardConn is a connection that a ShardListener has accepted.
type shardConn struct {
	net.Conn
	listener *ShardListener
	removed  sync.Once

	mu           sync.Mutex
	hasNoData    bool // no data was received yet
	idle         bool // the server waits for a request
	received     bool // data was received while idle
	closing      bool // the close notice is being sent; received data is not read
	closeIgnored bool // Close was ignored once, because data had just been received
}

// SetIdle records whether the server waits for a request on the connection. The server waits from the start of the
// connection, and from the end of each response, until the next request.
func (g *shardConn) SetIdle(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle = on; on {
		g.received = false
	}
}

// IdleTracker is a connection whose server reports when it waits for a request. Such a connection loses no request when
// it closes.
type IdleTracker interface{ SetIdle(on bool) }

// RemoteAddr returns the address of the node as a NodeAddr.
func (g *shardConn) RemoteAddr() net.Addr { return NodeAddr{g.Conn.RemoteAddr()} }

// Read implements net.Conn.
func (g *shardConn) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing {
		return 0, net.ErrClosed
	}
	if n > 0 {
		g.received, g.hasNoData = true, false
	}
	return n, err
}

// Close implements net.Conn. After the listener is closed, an idle connection first sends a close notice, because a
// request may be on its way. A connection that has just received data stays open until the response is sent.
func (g *shardConn) Close() error {
	if g.listener.isClosed() && g.beginClose() {
		return nil
	}
	g.remove()
	return g.Conn.Close()
}

// beginClose starts to send the close notice, or defers the close until the response. It returns false if the caller
// must close the connection itself.
func (g *shardConn) beginClose() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closing:
		return true
	case !g.idle, g.received && g.closeIgnored:
		return false
	case g.received:
		g.closeIgnored = true
		return true
	}
	g.closing = true
	_ = g.SetDeadline(time.Now().Add(closeNoticeTimeout))
	byes := &g.listener.router.closing
	byes.Add(1)
	go func() { // closing with unread data would discard the notice
		defer byes.Add(-1)
		_, _ = io.WriteString(g.Conn, closeNotice)
		_, _ = io.Copy(io.Discard, g.Conn)
		_ = g.closeNow()
	}()
	return true
}

// isUnused reports whether the server has not received any data on the connection.
func (g *shardConn) isUnused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hasNoData && g.idle && !g.received
}

// isClosing reports whether the close notice is being sent.
func (g *shardConn) isClosing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closing
}

// netConn returns the network connection below TLS, or the connection itself if it has no TLS.
func (g *shardConn) netConn() net.Conn {
	if secure, ok := g.Conn.(*tls.Conn); ok {
		return secure.NetConn()
	}
	return g.Conn
}

// closeNow closes the network connection below TLS, because closing a TLS connection waits for the peer.
func (g *shardConn) closeNow() error {
	g.remove()
	return g.netConn().Close()
}

func (g *shardConn) remove() {
	g.removed.Do(func() {
		g.listener.mu.Lock()
		defer g.listener.mu.Unlock()
		delete(g.listener.open, g)
		if _, secure := g.Conn.(*tls.Conn); secure {
			g.listener.router.nodeConns.Add(-1)
		}
	})
}

// PeerClosed reports whether the peer has closed the connection; see connstate.PeerClosed.
func (g *shardConn) PeerClosed() bool { return connstate.PeerClosed(g.netConn()) }
