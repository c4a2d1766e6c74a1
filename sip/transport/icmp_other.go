//go:build !linux

package transport

import "net"

// EnableICMPErrors does nothing. A request to an unreachable target therefore fails only after its timeout.
func EnableICMPErrors(*net.UDPConn) {}

// ReadICMPErrors returns nil, because ICMP errors are not available on this system.
func ReadICMPErrors(*net.UDPConn) [][]byte { return nil }
