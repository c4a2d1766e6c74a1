// Package siptest gives tests ports by number, for themselves or for other programs, and name servers. It knows no
// message.
package siptest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
	"time"
)

// Ports are below the ephemeral ports of the system (32768 and above on Linux), so that no connection gets one between the
// check and its use. Tests of several packages run at once, so an abstract Unix socket marks a block of ports as taken: only
// one process can have it, and it ends with the process.
const (
	singleLow, singleHigh        = 30000, 32766 // clear of the media ports of a service by default
	ports100Low, ports100High    = 10000, 19900
	ports100Block                = 100
	ports400Low, ports400High    = 20000, 28000
	ports400Block                = 400
	ports1390Low, ports1390Block = 28000, 1390
	ports10Low, ports10High      = 29400, 30000 // the ten before are those of an example, which no test hands any
	ports10Block                 = 10
)

// A machine on which many tests run at once may have no port left for a moment.
const (
	reserveTimeout = time.Minute
	retryPause     = 50 * time.Millisecond
)

// Port is a port of loopback that is free on UDP and TCP until the test ends. So is the next one, for SIP over TLS.
func Port(tb testing.TB) int {
	tb.Helper()
	return reservePorts(tb, singleLow, (singleHigh-singleLow)/2, 2)
}

// MediaPorts100 is the first of a hundred ports of loopback for RTP, free on UDP until the test ends.
func MediaPorts100(tb testing.TB) int {
	tb.Helper()
	return reservePorts(tb, ports100Low, (ports100High-ports100Low)/ports100Block, ports100Block)
}

// MediaPorts400 is the first of four hundred such ports, for a service of many calls.
func MediaPorts400(tb testing.TB) int {
	tb.Helper()
	return reservePorts(tb, ports400Low, (ports400High-ports400Low)/ports400Block, ports400Block)
}

// MediaPorts1390 is the first of 1390 such ports, which one test has at a time.
func MediaPorts1390(tb testing.TB) int {
	tb.Helper()
	return reservePorts(tb, ports1390Low, 1, ports1390Block)
}

// MediaPorts10 is the first of ten such ports, for a handful of sessions.
func MediaPorts10(tb testing.TB) int {
	tb.Helper()
	return reservePorts(tb, ports10Low, (ports10High-ports10Low)/ports10Block, ports10Block)
}

// reservePorts reserves one of n blocks of size ports from low on, and waits where there is none.
func reservePorts(tb testing.TB, low, n, size int) int {
	tb.Helper()
	for end := time.Now().Add(reserveTimeout); time.Now().Before(end); time.Sleep(retryPause) {
		if port := tryReserve(tb, low, n, size); port > 0 {
			return port
		}
	}
	tb.Fatal("no port is free")
	return 0
}

// tryReserve tries each block once, in a random order; 0: none is free.
func tryReserve(tb testing.TB, low, n, size int) int {
	tb.Helper()
	first := rand.IntN(n)
	for i := range n {
		port := low + (first+i)%n*size
		name, err := net.Listen("unix", fmt.Sprintf("@callboard-test-ports-%d", port))
		if err != nil {
			continue
		}
		if areFree(port, min(size, 4)) {
			tb.Cleanup(func() { _ = name.Close() })
			return port
		}
		_ = name.Close()
	}
	return 0
}

// areFree says whether the first ports of a block can be taken.
func areFree(port, size int) bool {
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
