//go:build !linux

package transport

import "net"

// EnableICMPErrors does nothing: an unreachable target is treated as silent.
func EnableICMPErrors(*net.UDPConn) {}

// ReadICMPErrors returns nothing.
func ReadICMPErrors(*net.UDPConn) [][]byte { return nil }
