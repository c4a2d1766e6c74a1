package connstate

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPeerClosedReportsAClosedConnectionWithUnreadData(t *testing.T) {
	t.Parallel()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", ln.Addr().String())
	require.NoError(t, err)
	server, err := ln.Accept()
	require.NoError(t, err)
	secure := tls.Server(server, &tls.Config{MinVersion: tls.VersionTLS12})
	_, err = client.Write([]byte("unread data"))
	require.NoError(t, err)
	assert.False(t, PeerClosed(server))
	assert.False(t, PeerClosed(secure))
	require.NoError(t, client.Close())
	assert.Eventually(t, func() bool { return PeerClosed(server) && PeerClosed(secure) }, 20*time.Second, time.Millisecond)
	require.NoError(t, server.Close())
	assert.True(t, PeerClosed(server), "this side closed the connection")
	one, other := net.Pipe()
	assert.False(t, PeerClosed(one), "a connection without a socket counts as open")
	_, _ = one.Close(), other.Close()
}
