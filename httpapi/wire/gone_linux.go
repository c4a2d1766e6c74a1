package wire

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// HungUp says whether the far end of a connection has closed it, whatever it has
// sent before that nobody has read. It does not wait. A connection that does not
// tell is taken to be open; one that knows itself is asked.
func HungUp(conn net.Conn) bool {
	for {
		if own, ok := conn.(interface{ HungUp() bool }); ok {
			return own.HungUp()
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
		return true // it is closed here
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // descriptors are small
		n, failed := unix.Poll(look, 0)
		gone = failed == nil && n > 0 && look[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone || err != nil
}
