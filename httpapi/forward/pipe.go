package forward

import (
	"net"
	"strconv"
	"sync/atomic"
)

// pipe is a connection within the process: what one end writes the other one
// reads, and nothing lies in between.
func pipe() (here, there net.Conn) {
	a, b := net.Pipe()
	var closedA, closedB atomic.Bool
	return &pipeEnd{a, &closedA, &closedB}, &pipeEnd{b, &closedB, &closedA}
}

type pipeEnd struct {
	net.Conn
	mine, others *atomic.Bool // it is closed
}

// Close is a net.Conn's.
func (p *pipeEnd) Close() error {
	p.mine.Store(true)
	return p.Conn.Close()
}

// PeerClosed says whether the peer has closed the connection; see
// connstate.PeerClosed.
func (p *pipeEnd) PeerClosed() bool { return p.others.Load() }

// within is the address of a seat within the process.
type within int

// Network is a net.Addr's.
func (within) Network() string { return "pipe" }

// String is a net.Addr's.
func (w within) String() string { return "shard " + strconv.Itoa(int(w)) }
