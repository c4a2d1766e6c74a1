//go:build !linux

package transport

import (
	"net"
	"syscall"
	"time"
)

// SetDSCP does nothing, so the sockets use the system's default DSCP.
func SetDSCP(int, syscall.RawConn) error { return nil }

// EnableArrivalTimes does nothing, because arrival times are not available on this system.
func EnableArrivalTimes(*net.UDPConn) {}

// QueueDelay returns 0, because arrival times are not available on this system.
func QueueDelay([]byte) time.Duration { return 0 }
