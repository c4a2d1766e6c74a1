//go:build !linux

package connstate

import "net"

// PeerClosed reports whether the peer has closed a connection, if the connection has a method PeerClosed. On this
// system all other connections count as open.
func PeerClosed(conn net.Conn) bool {
	for {
		if own, ok := conn.(interface{ PeerClosed() bool }); ok {
			return own.PeerClosed()
		}
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return false
		}
		conn = outer.NetConn()
	}
}
