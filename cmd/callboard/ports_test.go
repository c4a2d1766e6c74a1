package main_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// freePorts is a port that is free on UDP and TCP, as the next one is: who
// speaks SIP listens on both, and baresip for TLS beside them.
func freePorts(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := freePort(t, "udp")
		if free("tcp", port) && free("tcp", port+1) {
			return port
		}
	}
	require.Fail(t, "no free ports")
	return 0
}

// mediaPorts is the first of a hundred ports for sound that nobody else takes.
func mediaPorts(t testing.TB) int {
	t.Helper()
	for range 48 {
		port := 10000 + int(mediaBlock.Add(1)-1)%48*200
		if free("udp", port) && free("udp", port+1) && free("udp", port+2) && free("udp", port+3) {
			return port
		}
	}
	require.Fail(t, "no free ports for sound")
	return 0
}

// free says whether a port of loopback can be taken.
func free(network string, port int) bool {
	at := "127.0.0.1:" + strconv.Itoa(port)
	if network == "tcp" {
		l, err := net.Listen(network, at)
		return err == nil && l.Close() == nil
	}
	c, err := net.ListenPacket(network, at)
	return err == nil && c.Close() == nil
}

func freePort(t testing.TB, network string) int {
	t.Helper()
	if network == "tcp" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = l.Close() }()
		return l.Addr().(*net.TCPAddr).Port
	}
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	return c.LocalAddr().(*net.UDPAddr).Port
}
