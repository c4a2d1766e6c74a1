package forward

import (
	"net"
	"strconv"
	"sync/atomic"
)

// pipe returns the two ends of an unbuffered connection within the process.
func pipe() (here, there net.Conn) {
	a, b := net.Pipe()
	var closedA, closedB atomic.Bool
	return &pipeEnd{a, &closedA, &closedB}, &pipeEnd{b, &closedB, &closedA}
}

type pipeEnd struct {
	net.Conn
	closed, peerClosed *atomic.Bool // whether this end and the peer's end are closed
}

// Close implements net.Conn.
func (p *pipeEnd) Close() error {
	p.closed.Store(true)
	return p.Conn.Close()
}

// PeerClosed reports whether the peer has closed the connection; see connstate.PeerClosed.
func (p *pipeEnd) PeerClosed() bool { return p.peerClosed.Load() }

// pipeAddr is the net.Addr of a shard in this process. Its value is the number of the shard.
type pipeAddr int

// Network implements net.Addr.
func (pipeAddr) Network() string { return "pipe" }

// String returns the shard, for logs.
func (w pipeAddr) String() string { return "shard " + strconv.Itoa(int(w)) }
