//go:build !linux

package sip

import (
	"net"
	"syscall"
	"time"
)

// mark leaves the DSCP to the system.
func (u *UserAgent) mark(_, _ string, _ syscall.RawConn) error { return nil }

func askForTimes(*net.UDPConn) {}

func waited([]byte) time.Duration { return 0 }
