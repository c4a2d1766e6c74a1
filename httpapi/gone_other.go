//go:build !linux

package httpapi

import "net"

// hungUp is not told here: who waits does so to the end of the request.
func hungUp(net.Conn) bool { return false }
