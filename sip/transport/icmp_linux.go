package transport

import (
	"net"
	"syscall"
)

// EnableICMPErrors makes the kernel queue the ICMP errors of an unconnected socket.
func EnableICMPErrors(conn *net.UDPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	// If this fails, a request to an unreachable target fails only after the timeout of a target that does not answer.
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, syscall.IP_RECVERR, 1)
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IPV6, syscall.IPV6_RECVERR, 1)
	})
}

// ReadICMPErrors empties the error queue of a socket. For each datagram that could not be delivered, it returns the
// beginning of that datagram.
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
