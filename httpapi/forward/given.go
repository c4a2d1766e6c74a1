package forward

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"

	"github.com/callboard/callboard/httpapi/connstate"
)

// goodbye is what a connection hears last that lies idle when its seat ends: a
// request that crosses it is known not to have been read. An answer that nobody
// waits for is a 408 (RFC 9110 §15.5.9).
const goodbye = "HTTP/1.1 408 Request Timeout\r\n" + NotActive + ": 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// goodbyeLimit is how long the far end may take to hear it and to hang up.
const goodbyeLimit = time.Second

// given is a connection that a seat has.
type given struct {
	net.Conn
	of   *Lent
	left sync.Once

	mu     sync.Mutex
	fresh  bool // nothing has come
	idle   bool // the server waits for a request; false, too, where it does not tell
	asked  bool // something came since
	parted bool // the goodbye is being said: what comes is not read
	spared bool // it was not closed, because something had just come
}

// Idles is how a server tells whether it waits for a request on a connection: from
// when it is new, or an answer is out, until the next one has begun.
func (g *given) Idles(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle = on; on {
		g.asked = false
	}
}

// Idler is a connection whose end loses no request, if its server tells what it
// does with it.
type Idler interface{ Idles(on bool) }

// RemoteAddr is a node's.
func (g *given) RemoteAddr() net.Addr { return NodeAddr{g.Conn.RemoteAddr()} }

// Read is a net.Conn's.
func (g *given) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.parted {
		return 0, net.ErrClosed
	}
	if n > 0 {
		g.asked, g.fresh = true, false
	}
	return n, err
}

// Close is a net.Conn's. Of a seat that ends, a connection on which a request may
// be under way that nobody reads hears the goodbye first. One that was taken for
// idle when something had just come lives until that is answered, and is closed
// then.
func (g *given) Close() error {
	if g.of.ends() && g.parts() {
		return nil
	}
	g.leave()
	return g.Conn.Close()
}

// parts says whether the connection is closed by somebody else.
func (g *given) parts() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.parted:
		return true
	case !g.idle, g.asked && g.spared:
		return false
	case g.asked:
		g.spared = true
		return true
	}
	g.parted = true
	_ = g.SetDeadline(time.Now().Add(goodbyeLimit))
	byes := &g.of.of.byes
	byes.Add(1)
	go func() { // what was closed with something unread would take the goodbye along
		defer byes.Add(-1)
		_, _ = io.WriteString(g.Conn, goodbye)
		_, _ = io.Copy(io.Discard, g.Conn)
		_ = g.cut()
	}()
	return true
}

// unused says whether the server waits for the first request, and nothing of it has
// come.
func (g *given) unused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fresh && g.idle && !g.asked
}

// says tells whether the goodbye is being said.
func (g *given) says() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.parted
}

// below is the connection without TLS.
func (g *given) below() net.Conn {
	if secure, ok := g.Conn.(*tls.Conn); ok {
		return secure.NetConn()
	}
	return g.Conn
}

// cut closes what lies below: goodbyes of TLS wait for whoever does not read.
func (g *given) cut() error {
	g.leave()
	return g.below().Close()
}

func (g *given) leave() {
	g.left.Do(func() {
		g.of.mu.Lock()
		defer g.of.mu.Unlock()
		delete(g.of.open, g)
		if _, secure := g.Conn.(*tls.Conn); secure {
			g.of.of.open.Add(-1)
		}
	})
}

// PeerClosed says whether the peer has closed the connection; see
// connstate.PeerClosed.
func (g *given) PeerClosed() bool { return connstate.PeerClosed(g.below()) }
