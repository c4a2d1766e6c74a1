package forward

import (
	"net"
	"strconv"
	"sync/atomic"
)

// pipe returns the ends of an unbuffered connection within the process.
func pipe() (here, there net.Conn) {
	a, b := net.Pipe()
	var closedA, closedB atomic.Bool
	return &pipeEnd{a, &closedA, &closedB}, &pipeEnd{b, &closedB, &closedA}
}

type pipeEnd struct {
	net.Conn
	mine, others *atomic.Bool // the end is closed
}

// Close is net.Conn.
func (p *pipeEnd) Close() error {
	p.mine.Store(true)
	return p.Conn.Close()
}

// PeerClosed says whether the peer has closed the connection; see
// connstate.PeerClosed.
func (p *pipeEnd) PeerClosed() bool { return p.others.Load() }

// within is the address of a shard within the process.
type within int

// Network is net.Addr.
func (within) Network() string { return "pipe" }

// String is net.Addr.
func (w within) String() string { return "shard " + strconv.Itoa(int(w)) }
