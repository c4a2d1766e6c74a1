package transport

import (
	"net"
	"syscall"
)

// EnableICMPErrors makes the kernel keep ICMP errors of an unconnected socket.
func EnableICMPErrors(conn *net.UDPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	// Without it an unreachable target counts as silent: slower, not wrong.
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, syscall.IP_RECVERR, 1)
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IPV6, syscall.IPV6_RECVERR, 1)
	})
}

// ReadICMPErrors empties the socket's error queue: the beginnings of our
// datagrams that could not be delivered.
func ReadICMPErrors(conn *net.UDPConn) [][]byte {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	var found [][]byte
	_ = raw.Control(func(fd uintptr) {
		for range 64 {
			payload, control := make([]byte, 1500), make([]byte, 512)
			n, _, _, _, err := syscall.Recvmsg(int(fd), payload, control, syscall.MSG_ERRQUEUE|syscall.MSG_DONTWAIT)
			if err != nil {
				return
			}
			found = append(found, payload[:n])
		}
	})
	return found
}
