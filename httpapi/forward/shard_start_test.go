package forward_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi/forward"
)

// A connection that a node accepts before the shard listens is passed to the shard once the shard listens.
func TestConnectionBeforeListenReachesShard(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	one, two := newTestNode(t, b, testTimeout), newTestNode(t, b, testTimeout)
	b.set(two.addr, 3)
	var attempts atomic.Int32
	one.forwarder = forward.New(forward.Config{
		Shards: 8, Self: one.addr, Local: one.router, Credential: credential(t, 1), Wait: testTimeout, Shard: shardOfPath,
		Owner: func(shard int) (string, bool) { attempts.Add(1); return b.owner(shard) },
	})
	s := httptest.NewServer(one.forwarder)
	t.Cleanup(func() { s.Close(); one.forwarder.Close() })
	type said struct {
		code int
		text string
	}
	answered := make(chan said, 1)
	go func() {
		resp, err := http.Get(s.URL + "/3/x")
		if err != nil {
			answered <- said{text: err.Error()}
			return
		}
		defer func() { _ = resp.Body.Close() }()
		text, _ := io.ReadAll(resp.Body)
		answered <- said{resp.StatusCode, string(text)}
	}()
	require.Eventually(t, func() bool { return attempts.Load() > 3 }, testTimeout, time.Millisecond)
	two.serveShard(t, 3, echoHandler("two"))
	got := <-answered
	assert.Equal(t, http.StatusOK, got.code, got.text)
}

// The node is not ready while the server of a shard has not yet called Accept.
func TestShardThatDoesNotAcceptIsNotReady(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	m := newTestNode(t, b, testTimeout)
	b.set(m.addr, 0, 1, 2, 3, 4, 5, 6, 7)
	for shard := range 7 {
		m.serveShard(t, shard, echoHandler("seat"))
	}
	ready := func() int {
		resp, err := http.Get(m.url + "/readyz")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	ln := m.router.Listen(7)
	assert.Equal(t, http.StatusServiceUnavailable, ready())
	s := &http.Server{Handler: echoHandler("late"), ReadHeaderTimeout: testTimeout}
	go func() { _ = s.Serve(ln) }()
	t.Cleanup(func() { _ = s.Close() })
	require.Eventually(t, func() bool { return ready() == http.StatusOK }, testTimeout, 10*time.Millisecond)
}
