package transport

import (
	"encoding/binary"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// SetDSCP sets the DSCP of a socket before it is bound or connected. With 0 the system default stays. If the kernel
// refuses the DSCP, the socket is used without it.
func SetDSCP(dscp int, raw syscall.RawConn) error {
	if dscp == 0 {
		return nil
	}
	tos := dscp << 2
	return raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TOS, tos)
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_TCLASS, tos)
	})
}

// EnableArrivalTimes makes the kernel report the arrival time of each datagram.
func EnableArrivalTimes(conn *net.UDPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
}

// clockJump is longer than a datagram can wait in the kernel. A longer measured wait means that the system clock was
// changed.
const clockJump = 30 * time.Second

// QueueDelay returns how long a datagram has waited since the kernel received it; 0 if that is unknown.
func QueueDelay(control []byte) time.Duration {
	for len(control) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return 0
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && len(data) >= 16 {
			sec, nsec := binary.NativeEndian.Uint64(data), binary.NativeEndian.Uint64(data[8:])
			if since := time.Since(time.Unix(int64(sec), int64(nsec))); since > 0 && since < clockJump { //nolint:gosec // a kernel time
				return since
			}
			return 0
		}
		control = rest
	}
	return 0
}
