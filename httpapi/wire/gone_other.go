//go:build !linux

package wire

import "net"

// HungUp is told here by connections that know it themselves: with others who
// waits does so to the end of the request.
func HungUp(conn net.Conn) bool {
	for {
		if own, ok := conn.(interface{ HungUp() bool }); ok {
			return own.HungUp()
		}
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return false
		}
		conn = outer.NetConn()
	}
}
