package connstate

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// PeerClosed says whether the peer has closed a connection, also where data of the
// peer were not read yet. It does not wait. It asks the connection itself where that
// has a method PeerClosed, and unwraps connections with a method NetConn. Connections
// without a socket count as open.
func PeerClosed(conn net.Conn) bool {
	for {
		if own, ok := conn.(interface{ PeerClosed() bool }); ok {
			return own.PeerClosed()
		}
		outer, ok := conn.(interface{ NetConn() net.Conn }) // TLS, for example
		if !ok {
			break
		}
		conn = outer.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true // closed on this side
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // descriptors are small
		n, failed := unix.Poll(look, 0)
		gone = failed == nil && n > 0 && look[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone || err != nil
}
