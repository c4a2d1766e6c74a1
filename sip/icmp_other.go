//go:build !linux

package sip

import "net"

// Elsewhere an unreachable target counts as silent.
func askForICMP(*net.UDPConn) {}

func pendingICMP(*net.UDPConn) [][]byte { return nil }
