//go:build !linux

package transport

import (
	"net"
	"syscall"
	"time"
)

// SetDSCP does nothing: the DSCP is left to the system.
func SetDSCP(int, syscall.RawConn) error { return nil }

// EnableArrivalTimes does nothing: arrival times are unknown.
func EnableArrivalTimes(*net.UDPConn) {}

// QueueDelay returns 0: arrival times are unknown.
func QueueDelay([]byte) time.Duration { return 0 }
