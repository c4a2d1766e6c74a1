package connstate

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// PeerClosed reports whether the peer has closed a connection, even if received data is still unread. It does not
// block. It uses the connection's method PeerClosed if there is one, and otherwise the socket below any wrappers with
// a method NetConn. A connection without a socket counts as open.
func PeerClosed(conn net.Conn) bool {
	for {
		if own, ok := conn.(interface{ PeerClosed() bool }); ok {
			return own.PeerClosed()
		}
		outer, ok := conn.(interface{ NetConn() net.Conn }) // for example a TLS connection
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
		return true // this side has closed the connection
	}
	closed := false
	err = raw.Control(func(fd uintptr) {
		look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // descriptors are small
		n, failed := unix.Poll(look, 0)
		closed = failed == nil && n > 0 && look[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return closed || err != nil
}
