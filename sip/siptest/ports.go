// Package siptest reserves ports for tests and for programs that tests start, runs name servers, and reads the
// torture messages of RFC 4475 and RFC 5118.
package siptest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
	"time"
)

// Ranges of the reserved ports. They are below the ephemeral ports of the system (from 32768 on Linux), so that no
// outgoing connection takes a port between its check and its use. Tests of several packages run at the same time.
// Therefore an abstract Unix socket marks a block of ports as reserved until its process ends.
const (
	singleLow, singleHigh        = 30000, 32766 // apart from the default media ports of a service
	ports100Low, ports100High    = 10000, 19900
	ports100Block                = 100
	ports400Low, ports400High    = 20000, 28000
	ports400Block                = 400
	ports1390Low, ports1390Block = 28000, 1390
	ports10Low, ports10High      = 29400, 30000 // the ten ports below belong to an example, and no test gets them
	ports10Block                 = 10
)

// Limits of waiting for a free block of ports, because other tests may use all blocks for a moment.
const (
	reserveTimeout = time.Minute
	retryPause     = 50 * time.Millisecond
)

// Port returns a port of loopback that is free on UDP and TCP until the test ends. The next port is free too, for
// SIP over TLS.
func Port(tb testing.TB) int {
	tb.Helper()
	return reservePorts(tb, singleLow, (singleHigh-singleLow)/2, 2)
}

// MediaPorts100 returns the first of 100 consecutive ports of loopback for RTP, free on UDP until the test ends.
func MediaPorts100(tb testing.TB) int {
	tb.Helper()
	return reservePorts(tb, ports100Low, (ports100High-ports100Low)/ports100Block, ports100Block)
}

// MediaPorts400 returns the first of 400 consecutive ports of loopback for RTP, free on UDP until the test ends. They
// are for a service with many calls.
func MediaPorts400(tb testing.TB) int {
	tb.Helper()
	return reservePorts(tb, ports400Low, (ports400High-ports400Low)/ports400Block, ports400Block)
}

// MediaPorts1390 returns the first of 1390 consecutive ports of loopback for RTP, free on UDP until the test ends. There
// is only one such block, so other tests wait for it.
func MediaPorts1390(tb testing.TB) int {
	tb.Helper()
	return reservePorts(tb, ports1390Low, 1, ports1390Block)
}

// MediaPorts10 returns the first of 10 consecutive ports of loopback for RTP, free on UDP until the test ends. They are
// for a few media sessions.
func MediaPorts10(tb testing.TB) int {
	tb.Helper()
	return reservePorts(tb, ports10Low, (ports10High-ports10Low)/ports10Block, ports10Block)
}

// reservePorts reserves one of n blocks of size ports. The first block starts at low. It waits until a block is free.
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

// tryReserve tries to reserve each block once, starting at a random block. It returns 0 if no block is free.
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

// areFree reports whether the ports from port to port+size-1 can be bound on loopback, for UDP and for TCP.
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
