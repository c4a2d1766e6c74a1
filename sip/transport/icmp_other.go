//go:build !linux

package transport

import "net"

// EnableICMPErrors does nothing: an unreachable target counts as silent.
func EnableICMPErrors(*net.UDPConn) {}

// ReadICMPErrors finds none.
func ReadICMPErrors(*net.UDPConn) [][]byte { return nil }
