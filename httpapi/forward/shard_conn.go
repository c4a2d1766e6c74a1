package forward

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"

	"github.com/callboard/callboard/httpapi/connstate"
)

// closeNotice is the last data of an idle connection when its listener closes: the peer
// knows that a request on the way was not read. An unexpected response is a 408
// (RFC 9110 §15.5.9).
const closeNotice = "HTTP/1.1 408 Request Timeout\r\n" + NotActive + ": 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// closeNoticeTimeout is how long the peer may take to read the notice and to close.
const closeNoticeTimeout = time.Second

// shardConn is a connection of a ShardListener.
type shardConn struct {
	net.Conn
	listener *ShardListener
	removed  sync.Once

	mu       sync.Mutex
	fresh    bool // no data was received
	idle     bool // the server waits for a request
	received bool // data was received since then
	closing  bool // the close notice is being sent; received data is not read
	spared   bool // Close was ignored once, because data had just been received
}

// SetIdle says whether the server waits for a request on the connection: from its start or
// from the end of a response until the next request.
func (g *shardConn) SetIdle(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle = on; on {
		g.received = false
	}
}

// IdleTracker is a connection whose close loses no request, provided that its server says
// when it is idle.
type IdleTracker interface{ SetIdle(on bool) }

// RemoteAddr is the address of a node.
func (g *shardConn) RemoteAddr() net.Addr { return NodeAddr{g.Conn.RemoteAddr()} }

// Read is net.Conn.
func (g *shardConn) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing {
		return 0, net.ErrClosed
	}
	if n > 0 {
		g.received, g.fresh = true, false
	}
	return n, err
}

// Close is net.Conn. After the listener was closed, an idle connection gets a close notice
// first: a request may be on its way. A connection that has just received data stays open
// until the response and is closed then.
func (g *shardConn) Close() error {
	if g.listener.isClosed() && g.beginClose() {
		return nil
	}
	g.remove()
	return g.Conn.Close()
}

// beginClose says whether the connection closes without further action.
func (g *shardConn) beginClose() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closing:
		return true
	case !g.idle, g.received && g.spared:
		return false
	case g.received:
		g.spared = true
		return true
	}
	g.closing = true
	_ = g.SetDeadline(time.Now().Add(closeNoticeTimeout))
	byes := &g.listener.router.closing
	byes.Add(1)
	go func() { // a close with unread data would discard the notice
		defer byes.Add(-1)
		_, _ = io.WriteString(g.Conn, closeNotice)
		_, _ = io.Copy(io.Discard, g.Conn)
		_ = g.closeNow()
	}()
	return true
}

// isUnused says whether the connection has not received any data.
func (g *shardConn) isUnused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fresh && g.idle && !g.received
}

// isClosing says whether the close notice is being sent.
func (g *shardConn) isClosing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closing
}

// netConn returns the connection below TLS.
func (g *shardConn) netConn() net.Conn {
	if secure, ok := g.Conn.(*tls.Conn); ok {
		return secure.NetConn()
	}
	return g.Conn
}

// closeNow closes the connection below TLS: the close of TLS waits for the peer.
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

// PeerClosed says whether the peer has closed the connection; see
// connstate.PeerClosed.
func (g *shardConn) PeerClosed() bool { return connstate.PeerClosed(g.netConn()) }
