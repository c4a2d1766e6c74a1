//go:build !linux

package transport

import (
	"net"
	"syscall"
	"time"
)

// SetDSCP leaves the DSCP to the system.
func SetDSCP(int, syscall.RawConn) error { return nil }

// EnableArrivalTimes does nothing: no arrival times are known.
func EnableArrivalTimes(*net.UDPConn) {}

// QueueDelay is not known.
func QueueDelay([]byte) time.Duration { return 0 }
