//go:build !linux

package wire

import "net"

// HungUp is told here by connections that know it themselves: with others who
// waits does so to the end of the request.
func HungUp(conn net.Conn) bool {
	own, ok := conn.(interface{ HungUp() bool })
	return ok && own.HungUp()
}
