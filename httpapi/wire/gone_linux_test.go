package wire

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAConnectionThatIsClosedIsFoundBehindWhatNobodyHasRead(t *testing.T) {
	t.Parallel()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	far, err := new(net.Dialer).DialContext(t.Context(), "tcp", ln.Addr().String())
	require.NoError(t, err)
	near, err := ln.Accept()
	require.NoError(t, err)
	secure := tls.Server(near, &tls.Config{MinVersion: tls.VersionTLS12})
	_, err = far.Write([]byte("more that nobody reads"))
	require.NoError(t, err)
	assert.False(t, HungUp(near))
	assert.False(t, HungUp(secure))
	require.NoError(t, far.Close())
	assert.Eventually(t, func() bool { return HungUp(near) && HungUp(secure) }, 20*time.Second, time.Millisecond)
	require.NoError(t, near.Close())
	assert.True(t, HungUp(near), "and one that is closed here")
	one, other := net.Pipe()
	assert.False(t, HungUp(one), "what does not tell is open")
	_, _ = one.Close(), other.Close()
}
