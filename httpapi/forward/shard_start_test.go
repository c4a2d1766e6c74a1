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

// A connection that a node took while it had no seat for the shard does not
// lead to nobody once it has one.
func TestConnectionBeforeTheShardListensReachesIt(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	one, two := newMachine(t, b, patience), newMachine(t, b, patience)
	b.set(two.at, 3)
	var tries atomic.Int32
	one.f = forward.New(forward.Config{
		Shards: 8, Self: one.at, Local: one.doors, Credential: credential(t, 1), Wait: patience, Shard: shardIn,
		Owner: func(shard int) (string, bool) { tries.Add(1); return b.owner(shard) },
	})
	s := httptest.NewServer(one.f)
	t.Cleanup(func() { s.Close(); one.f.Close() })
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
	require.Eventually(t, func() bool { return tries.Load() > 3 }, patience, time.Millisecond)
	two.seat(t, 3, named("two"))
	got := <-answered
	assert.Equal(t, http.StatusOK, got.code, got.text)
}

// A seat takes connections before it serves them: until then nobody is told
// that all is well.
func TestShardThatDoesNotAcceptIsNotReady(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	m := newMachine(t, b, patience)
	b.set(m.at, 0, 1, 2, 3, 4, 5, 6, 7)
	for shard := range 7 {
		m.seat(t, shard, named("seat"))
	}
	ready := func() int {
		resp, err := http.Get(m.url + "/readyz")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	ln := m.doors.Listen(7)
	assert.Equal(t, http.StatusServiceUnavailable, ready())
	s := &http.Server{Handler: named("late"), ReadHeaderTimeout: patience}
	go func() { _ = s.Serve(ln) }()
	t.Cleanup(func() { _ = s.Close() })
	require.Eventually(t, func() bool { return ready() == http.StatusOK }, patience, 10*time.Millisecond)
}
