package redis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

func connect(t *testing.T, url string, o redis.Options) *redis.Driver {
	t.Helper()
	d, err := redis.Open(t.Context(), url, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// newRowCommit returns a commit that creates a row with a guard, so that a second execution is refused.
func newRowCommit(id string) persistence.Commit {
	k := persistence.Key{Table: "noun/ws", ID: id}
	return persistence.Commit{
		Log: "ws", Guards: []persistence.Guard{{Key: k}},
		Puts:   []persistence.Put{{Key: k, Value: []byte("v"), Lists: []string{"all"}, Sort: id}},
		Events: []persistence.Event{{Subject: id, Payload: []byte("e")}},
	}
}

func requireHealth(t *testing.T, d *redis.Driver, want bool) {
	t.Helper()
	require.Eventually(t, func() bool { return (d.Healthy() == nil) == want }, time.Minute, 5*time.Millisecond)
}

func TestKilledRedisLosesNoCommit(t *testing.T) {
	url, server := redistest.Start(t)
	d := connect(t, url, redis.Options{Wait: time.Minute})
	var acked [4]atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range acked {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				_, err := d.Commit(ctx, newRowCommit(fmt.Sprintf("%d-%d", w, i)))
				if ctx.Err() == nil && assert.NoError(t, err) { // a conflict would mean that the commit was applied twice
					acked[w].Store(int64(i) + 1)
				}
			}
		})
	}
	for range 3 {
		before := acked[0].Load()
		require.Eventually(t, func() bool { return acked[0].Load() > before+5 }, time.Minute, time.Millisecond)
		server.Kill()
		requireHealth(t, d, false)
		require.ErrorIs(t, d.Healthy(), persistence.ErrUnavailable)
		server.Restart()
		requireHealth(t, d, true)
	}
	cancel()
	writers.Wait()
	total := uint64(0)
	for w := range acked {
		for i := range acked[w].Load() {
			_, version, err := d.Get(t.Context(), persistence.Key{Table: "noun/ws", ID: fmt.Sprintf("%d-%d", w, i)})
			require.NoError(t, err)
			require.Equal(t, uint64(1), version)
			total++
		}
	}
	last := uint64(0)
	for {
		entries, err := d.Events(t.Context(), "ws", last, 1000)
		require.NoError(t, err)
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			last++
			require.Equal(t, [2]uint64{last, 1}, [2]uint64{e.Offset, e.Sequence})
		}
	}
	assert.GreaterOrEqual(t, last, total)
	assert.LessOrEqual(t, last, total+uint64(len(acked)), "at most one commit per writer was under way")
}

func TestCommitsFailFastWhileRedisIsUnavailable(t *testing.T) {
	url, server := redistest.Start(t)
	d := connect(t, url, redis.Options{Wait: 300 * time.Millisecond})
	for name, away := range map[string][2]func(){
		"stopped": {server.Stop, server.Restart}, "frozen": {server.Pause, server.Continue},
	} {
		away[0]()
		start := time.Now()
		_, err := d.Commit(t.Context(), newRowCommit(name))
		require.ErrorIs(t, err, persistence.ErrUnavailable, name)
		_, _, err = d.Get(t.Context(), persistence.Key{Table: "noun/ws", ID: name})
		require.ErrorIs(t, err, persistence.ErrUnavailable, name)
		require.Less(t, time.Since(start), 9*time.Second, name) // with the default wait, the commit and the read would take ten seconds
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = d.Commit(ctx, newRowCommit(name))
		require.ErrorIs(t, err, context.Canceled, name)
		requireHealth(t, d, false)
		away[1]()
		requireHealth(t, d, true)
		require.Eventually(t, func() bool {
			_, err := d.Commit(t.Context(), newRowCommit(name+" later"))
			return err == nil || errors.Is(err, domain.ErrConflict) // applied, although the answer came too late
		}, time.Minute, 10*time.Millisecond)
	}
}

// answerDropper is a proxy to Redis. For the next toDrop answers, it drops the answer and closes the connection.
type answerDropper struct {
	target string
	toDrop atomic.Int64 // answers that are still to be dropped
}

func (f *answerDropper) serve(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.forward(c)
		}
	}()
	return l.Addr().String()
}

func (f *answerDropper) forward(c net.Conn) {
	defer func() { _ = c.Close() }()
	s, err := net.Dial("tcp", f.target)
	if err != nil {
		return
	}
	defer func() { _ = s.Close() }()
	go func() { _, _ = io.Copy(s, c) }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:n], []byte("$2\r\nok\r\n")) && f.toDrop.Add(-1) >= 0 {
			return
		}
		if _, err = c.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func TestCommitWithLostAnswerIsAppliedOnce(t *testing.T) {
	address, _ := redistest.Start(t)
	u, err := url.Parse(address)
	require.NoError(t, err)
	way := &answerDropper{target: u.Host}
	u.Host = way.serve(t)
	d := connect(t, u.String(), redis.Options{})
	way.toDrop.Store(3)
	result, err := d.Commit(t.Context(), newRowCommit("x"))
	require.NoError(t, err)
	assert.Equal(t, persistence.Result{Versions: []uint64{1}, Offset: 1, Sequences: []uint64{1}}, result)
	assert.Negative(t, way.toDrop.Add(-1), "answers were dropped")
	_, err = d.Commit(t.Context(), newRowCommit("x"))
	require.ErrorIs(t, err, domain.ErrConflict)
	entries, err := d.Events(t.Context(), "ws", 0, 10)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestScriptsAreLoadedAgain(t *testing.T) {
	url, _ := redistest.Start(t)
	d := connect(t, url, redis.Options{})
	settings, err := client.ParseURL(url)
	require.NoError(t, err)
	direct := client.NewClient(settings)
	t.Cleanup(func() { _ = direct.Close() })
	flush := func() { require.NoError(t, direct.ScriptFlush(t.Context()).Err()) }
	flush()
	_, err = d.Commit(t.Context(), newRowCommit("x"))
	require.NoError(t, err)
	flush()
	page, err := d.Scan(t.Context(), persistence.Range{Table: "noun/ws", Limit: 10})
	require.NoError(t, err)
	assert.Len(t, page.Rows, 1)
	flush()
	entries, err := d.Events(t.Context(), "ws", 0, 10)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestRiskyRedisSettingsAreLogged(t *testing.T) {
	warnings := func(args ...string) string {
		url, _ := redistest.Start(t, args...)
		var log bytes.Buffer
		connect(t, url, redis.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
		return log.String()
	}
	assert.Empty(t, warnings())
	risky := warnings("--appendfsync", "everysec", "--maxmemory-policy", "allkeys-lru")
	assert.Contains(t, risky, "setting=appendfsync value=everysec wanted=always")
	assert.Contains(t, risky, "setting=maxmemory-policy value=allkeys-lru")
	assert.Contains(t, warnings("--appendonly", "no"), "setting=appendonly value=no")
}

func TestOpenRefusesAnotherLayoutAndInvalidURL(t *testing.T) {
	url, server := redistest.Start(t)
	d := connect(t, url, redis.Options{Prefix: "a:"})
	require.NoError(t, d.Healthy())
	settings, err := client.ParseURL(url)
	require.NoError(t, err)
	direct := client.NewClient(settings)
	t.Cleanup(func() { _ = direct.Close() })
	for layout, says := range map[string]string{
		"1": "not migrated: begin with an empty data folder and, with Redis, an empty database", "2": "not migrated", "9": "install the Callboard that wrote it or a newer one",
	} {
		require.NoError(t, direct.MSet(t.Context(), "b:{cb}format", layout, "{cb}format", layout).Err())
		_, err = redis.Open(t.Context(), url, redis.Options{Prefix: "b:"})
		require.ErrorIs(t, err, persistence.ErrFormat)
		require.ErrorContains(t, err, says)
		_, _, err = redis.ReadRow(t.Context(), url, persistence.Key{Table: "t/", ID: "x"})
		require.ErrorContains(t, err, says)
	}
	_, err = redis.Open(t.Context(), "redis://user:secret@host:no-port/0", redis.Options{})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret")
	server.Stop()
	_, err = redis.Open(t.Context(), url, redis.Options{Wait: time.Second})
	require.Error(t, err)
}

func TestKeysAreUnderHashTag(t *testing.T) {
	url, _ := redistest.Start(t)
	d := connect(t, url, redis.Options{Prefix: "mine:"})
	require.NoError(t, d.Claim(t.Context(), "s", "1|a"))
	c := newRowCommit("x")
	c.Shard, c.Token = "s", "1|a"
	_, err := d.Commit(t.Context(), c)
	require.NoError(t, err)
	settings, err := client.ParseURL(url)
	require.NoError(t, err)
	direct := client.NewClient(settings)
	t.Cleanup(func() { _ = direct.Close() })
	keys, err := direct.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Len(t, keys, 10)
	for _, k := range keys {
		assert.Regexp(t, `^mine:\{cb\}`, k)
		if bytes.HasPrefix([]byte(k), []byte("mine:{cb}c:")) { // results expire
			ttl, err := direct.PTTL(t.Context(), k).Result()
			require.NoError(t, err)
			assert.InDelta(t, 10*time.Minute, ttl, float64(time.Minute))
		}
	}
}
