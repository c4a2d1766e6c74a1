//go:build !linux

package wire

import "net"

// HungUp is not told here: who waits does so to the end of the request.
func HungUp(net.Conn) bool { return false }
