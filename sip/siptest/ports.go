// Package siptest gives ports to tests that start programs of others, which want them by number. It knows no message.
package siptest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports are taken below those that the system gives to whoever asks for any (32768 and above on Linux): between the look
// at a port and its use no connection of anybody gets it. Tests of several packages run at once: a name that only one
// process can have, and that ends with its process, says that a port is taken.
const (
	singleLow, singleHigh = 30000, 32766 // clear of the media ports of a service by default
	soundLow, soundHigh   = 10000, 19900
	soundBlock            = 100
	wideLow, wideHigh     = 20000, 28000
	wideBlock             = 400
)

// Port is a port of loopback that is free on UDP and TCP, as the next one is (SIP, and SIP over TLS beside it), until
// the test ends.
func Port(tb testing.TB) int {
	tb.Helper()
	return take(tb, singleLow, (singleHigh-singleLow)/2, 2)
}

// SoundPorts is the first of a hundred ports of loopback for RTP, free on UDP until the test ends.
func SoundPorts(tb testing.TB) int {
	tb.Helper()
	return take(tb, soundLow, (soundHigh-soundLow)/soundBlock, soundBlock)
}

// ServicePorts is the first of four hundred such ports, for a service of many calls.
func ServicePorts(tb testing.TB) int {
	tb.Helper()
	return take(tb, wideLow, (wideHigh-wideLow)/wideBlock, wideBlock)
}

// take finds one of n blocks of size ports from low on, beginning anywhere.
func take(tb testing.TB, low, n, size int) int {
	tb.Helper()
	first := rand.IntN(n)
	for i := range n {
		port := low + (first+i)%n*size
		name, err := net.Listen("unix", fmt.Sprintf("@callboard-test-ports-%d", port))
		if err != nil {
			continue
		}
		if free(port, min(size, 4)) {
			tb.Cleanup(func() { _ = name.Close() })
			return port
		}
		_ = name.Close()
	}
	tb.Fatal("no port is free")
	return 0
}

// free says whether the first ports of a block can be taken.
func free(port, size int) bool {
	for p := port; p < port+size; p++ {
		at := "127.0.0.1:" + strconv.Itoa(p)
		c, err := net.ListenPacket("udp", at)
		if err != nil {
			return false
		}
		l, err := net.Listen("tcp", at)
		_ = c.Close()
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}
