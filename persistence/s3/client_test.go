package s3_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/s3"
	"github.com/callboard/callboard/persistence/s3/s3test"
)

func client(t *testing.T, url string, timing s3.Timing) *s3.Client {
	t.Helper()
	c, err := s3.New(s3.Config{
		Endpoint: url, Region: "us-east-1", Bucket: "calls", PathStyle: true, Timing: timing,
		Keys: func() (s3.Keys, error) {
			return s3.Keys{ID: "tester", Secret: "hush-hush", Token: "lent-for-a-day"}, nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func hasty() s3.Timing {
	return s3.Timing{Still: 200 * time.Millisecond, Small: time.Second, Tries: 3, Pause: time.Millisecond, Rest: time.Hour, RestMost: time.Hour}
}

func TestWhatPassesIsTriedAgainAndWhatDoesNotIsNot(t *testing.T) {
	server := s3test.New(t)
	for fault, tries := range map[s3test.Fault]int{
		s3test.Broken: 3, s3test.Busy: 3, s3test.Reset: 3, s3test.ResetEnd: 3, s3test.Hang: 3, s3test.HangEnd: 3, s3test.Denied: 1, s3test.None: 1,
	} {
		c := client(t, server.URL, hasty())
		server.Fail(func(s3test.Request) s3test.Fault { return fault })
		server.Seen()
		err := c.Put(t.Context(), "a", []byte("x"))
		seen := len(server.Seen())
		if fault == s3test.Reset || fault == s3test.ResetEnd {
			assert.GreaterOrEqual(t, seen, tries) // net/http may send what broke off once more by itself
		} else {
			assert.Equal(t, tries, seen, "fault %d", fault)
		}
		_, away := errors.AsType[*s3.AwayError](err)
		assert.Equal(t, tries == 3, away, "fault %d: %v", fault, err)
		assert.Equal(t, fault == s3test.None, err == nil)
	}
}

func TestAStoreThatIsAwayIsNotAskedForAWhile(t *testing.T) {
	server := s3test.New(t)
	c := client(t, server.URL, hasty())
	server.Fail(func(s3test.Request) s3test.Fault { return s3test.Broken })
	require.NoError(t, c.Away())
	require.Error(t, c.Delete(t.Context(), "a"))
	server.Seen()
	for range 5 {
		away, ok := errors.AsType[*s3.AwayError](c.Delete(t.Context(), "a"))
		require.True(t, ok)
		assert.Positive(t, away.After)
	}
	require.Error(t, c.Away())
	assert.Empty(t, server.Seen(), "nobody asked")
}

func TestTheGateLetsOneAskAndThenAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := s3.NewGate(time.Second, 4*time.Second)
		down := errors.New("down")
		free := func() bool { _, err := g.Enter(time.Now()); return err == nil }
		require.True(t, free())
		for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second} {
			assert.Equal(t, pause, g.Failed(time.Now(), down))
			assert.Equal(t, pause, g.Failed(time.Now(), down), "who asked before lengthens nothing")
			assert.False(t, free())
			time.Sleep(pause)
			assert.True(t, free(), "one asks")
			assert.False(t, free(), "and no other meanwhile")
		}
		g.Worked()
		assert.True(t, free())
		assert.True(t, free())
	})
}

func TestWhoeverAskedIsNotKeptWaiting(t *testing.T) {
	server := s3test.New(t)
	timing := hasty()
	timing.Still, timing.Small = time.Hour, time.Hour
	c := client(t, server.URL, timing)
	server.Fail(func(s3test.Request) s3test.Fault { return s3test.Hang })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, away := errors.AsType[*s3.AwayError](c.Delete(ctx, "a"))
	assert.True(t, away)
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, c.Delete(ctx, "a"), context.Canceled)
	require.NoError(t, c.Away(), "which says nothing of the store")
}

func TestNoSecretStandsInAnError(t *testing.T) {
	var echo atomic.Value
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		echo.Store(r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>go away\nlent-for-a-day %0500d</Message></Error>", 1)
	}))
	t.Cleanup(h.Close)
	err := client(t, h.URL, hasty()).Put(t.Context(), "a", nil)
	require.ErrorContains(t, err, "403 AccessDenied: go away [hidden]")
	assert.NotContains(t, err.Error(), "lent-for-a-day")
	assert.NotContains(t, err.Error(), "hush-hush")
	assert.Less(t, len(err.Error()), 300)
	require.NotNil(t, echo.Load())
	assert.NotContains(t, echo.Load(), "hush-hush")
}

func TestTheBucketStandsInThePathOrBeforeTheHost(t *testing.T) {
	var host, path string
	h := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { host, path = r.Host, r.URL.Path }))
	t.Cleanup(h.Close)
	require.NoError(t, client(t, h.URL, hasty()).Put(t.Context(), "a/b", nil))
	assert.Equal(t, "/calls/a/b", path)
	assert.Equal(t, h.Listener.Addr().String(), host)
	for _, endpoint := range []string{"ftp://x", "https://", "https://u:p@x", "https://x/path", "x"} {
		_, err := s3.New(s3.Config{Endpoint: endpoint, Bucket: "calls", Region: "r"})
		require.Error(t, err, endpoint)
		assert.NotContains(t, err.Error(), "u:p")
	}
}
