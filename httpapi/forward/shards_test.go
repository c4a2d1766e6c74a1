package forward_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi/connstate"
	"github.com/callboard/callboard/httpapi/forward"
)

// board says which node has which shard.
type board struct {
	mu  sync.Mutex
	has map[int]string
}

func (b *board) owner(shard int) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.has[shard]
	return at, ok
}

func (b *board) set(at string, shards ...int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range shards {
		if delete(b.has, s); at != "" {
			b.has[s] = at
		}
	}
}

// machine is a node of an install of several shards.
type machine struct {
	at    string // its door
	doors *forward.ConnRouter
	f     *forward.Forwarder
	url   string // for clients
}

// shardIn reads the shard from the request itself: /7/… is for shard 7.
func shardIn(r *http.Request, form []byte) (int, error) {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if first == "form" {
		first = string(form)
	}
	return strconv.Atoi(first)
}

func newMachine(t *testing.T, b *board, wait time.Duration) *machine {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m := &machine{at: ln.Addr().String(), doors: forward.NewConnRouter(credential(t, 1), nil)}
	go func() { _ = m.doors.Serve(ln) }()
	m.f = forward.New(forward.Config{
		Shards: 8, Owner: b.owner, Self: m.at, Local: m.doors, Credential: credential(t, 1), Wait: wait, Shard: shardIn,
		Form: func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/form/") },
	})
	s := httptest.NewServer(m.f)
	m.url = s.URL
	t.Cleanup(func() { s.Close(); m.f.Close(); m.doors.Close() })
	return m
}

// seat serves a shard at the machine until the function is called.
func (m *machine) seat(t *testing.T, shard int, h http.Handler) (end func()) {
	t.Helper()
	ln := m.doors.Listen(shard)
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: patience,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	go func() { _ = s.Serve(ln) }()
	end = func() { _ = s.Close() }
	t.Cleanup(end)
	return end
}

type connKey struct{}

// named answers with a name and what has come, and tells whether a node has
// spoken for somebody.
func named(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s for %s: %s", name, r.Method, r.URL, r.Header.Get("X-Forwarded-For"), text)
	})
}

func TestRequestGoesToItsShard(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	one, two := newMachine(t, b, patience), newMachine(t, b, patience)
	b.set(one.at, 0, 1, 2)
	b.set(two.at, 3, 4)
	for shard := range 3 {
		one.seat(t, shard, named("one/"+strconv.Itoa(shard)))
	}
	for shard := 3; shard < 5; shard++ {
		two.seat(t, shard, named("two/"+strconv.Itoa(shard)))
	}
	for range 2 { // the second time over connections that were kept
		for shard, want := range []string{"one/0", "one/1", "one/2", "two/3", "two/4"} {
			for _, m := range []*machine{one, two} {
				path := "/" + strconv.Itoa(shard) + "/x?y=1"
				_, text := ask(t, "POST", m.url+path, "a body")
				assert.Equal(t, want+" POST "+path+" for 127.0.0.1: a body", text)
			}
		}
	}
	// a form is shown, even one that does not say how long it is, and arrives whole
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, one.url+"/form/x", io.MultiReader(strings.NewReader("4")))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	text, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	assert.Equal(t, "two/4 POST /form/x for 127.0.0.1: 4", string(text))
	r, err = http.NewRequestWithContext(t.Context(), http.MethodPost, one.url+"/form/x", io.MultiReader(strings.NewReader(strings.Repeat("4", 70_000))))
	require.NoError(t, err)
	resp, err = http.DefaultClient.Do(r)
	require.NoError(t, err)
	_ = resp.Body.Close()
	assert.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)

	for _, nowhere := range []string{"/8/x", "/-1/x", "/who/x"} {
		refused, _ := ask(t, "GET", one.url+nowhere, "")
		assert.Equal(t, http.StatusServiceUnavailable, refused.StatusCode, nowhere)
	}
}

// Streams, uploads and connections that change their protocol go to a seat of
// the same node as they do to another one's; and a seat learns that a client has
// gone.
func TestShardOfTheSameNodeIsReachedLocallyAndRemotely(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	for where, local := range map[string]bool{"here": true, "elsewhere": false} {
		near, far := newMachine(t, b, patience), newMachine(t, b, patience)
		has := near
		if !local {
			has = far
		}
		b.set(has.at, 5)
		peerClosed := make(chan bool, 2)
		more := make(chan struct{})
		has.seat(t, 5, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/5/stream":
				_, _ = io.WriteString(w, "1\n")
				_ = http.NewResponseController(w).Flush()
				<-more
				_, _ = io.WriteString(w, "2\n")
			case "/5/upload":
				n, _ := io.Copy(io.Discard, r.Body)
				_, _ = fmt.Fprint(w, n)
			case "/5/socket":
				conn, both, err := http.NewResponseController(w).Hijack()
				if err != nil {
					return
				}
				defer func() { _ = conn.Close() }()
				_, node := conn.RemoteAddr().(forward.NodeAddr)
				_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
				line, _ := both.ReadString('\n')
				_, _ = fmt.Fprintf(conn, "%v heard %s", node, line)
			case "/5/long":
				conn, _ := r.Context().Value(connKey{}).(net.Conn)
				peerClosed <- connstate.PeerClosed(conn)
				tick := time.NewTicker(time.Millisecond)
				defer tick.Stop()
				for end := time.Now().Add(patience); !connstate.PeerClosed(conn) && time.Now().Before(end); {
					<-tick.C
				}
				peerClosed <- connstate.PeerClosed(conn)
			}
		}))
		resp, err := http.Get(near.url + "/5/stream")
		require.NoError(t, err, where)
		lines := bufio.NewReader(resp.Body)
		first, _ := lines.ReadString('\n')
		assert.Equal(t, "1\n", first, where)
		close(more)
		second, _ := lines.ReadString('\n')
		assert.Equal(t, "2\n", second, where)
		_ = resp.Body.Close()

		resp, err = http.Post(near.url+"/5/upload", "text/csv", io.LimitReader(endless{}, 3_000_000))
		require.NoError(t, err)
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		assert.Equal(t, "3000000", string(text), where)

		conn, err := net.Dial("tcp", strings.TrimPrefix(near.url, "http://"))
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		_, _ = fmt.Fprintf(conn, "GET /5/socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		r := bufio.NewReader(conn)
		head, err := http.ReadResponse(r, nil) //nolint:bodyclose // it has none
		require.NoError(t, err)
		require.Equal(t, http.StatusSwitchingProtocols, head.StatusCode, where)
		_, _ = io.WriteString(conn, "hello\n")
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "true heard hello\n", line, where)
		_ = conn.Close()

		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, near.url+"/5/long", nil)
			if err != nil {
				return
			}
			if resp, err := http.DefaultClient.Do(r); err == nil {
				_ = resp.Body.Close()
			}
		}()
		assert.False(t, <-peerClosed, where)
		cancel()
		assert.True(t, <-peerClosed, where)
		<-gone
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A request waits for a seat that is to rise, here as elsewhere, and what came
// to one that has ended goes to whoever is next.
func TestRequestWaitsForItsShard(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	one, two := newMachine(t, b, patience), newMachine(t, b, patience)
	ask1 := func(m *machine) chan string {
		answered := make(chan string, 1)
		go func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, m.url+"/6/x", strings.NewReader("b"))
			if err != nil {
				answered <- err.Error()
				return
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				answered <- err.Error()
				return
			}
			defer func() { _ = resp.Body.Close() }()
			text, _ := io.ReadAll(resp.Body)
			answered <- string(text)
		}()
		return answered
	}
	waits := ask1(one)
	b.set(one.at, 6)
	end := one.seat(t, 6, named("first"))
	assert.Contains(t, <-waits, "first PUT /6/x")
	assert.Contains(t, <-ask1(two), "first")
	end() // the node has the shard still
	here, there := ask1(one), ask1(two)
	one.seat(t, 6, named("second"))
	assert.Contains(t, <-here, "second")
	assert.Contains(t, <-there, "second")
	b.set(two.at, 6) // before the seat has ended: nobody asks it any more
	two.seat(t, 6, named("third"))
	assert.Contains(t, <-ask1(one), "third")
	assert.Contains(t, <-ask1(two), "third")
	b.set("", 6) // nobody can say: a node asks its own seat
	assert.Contains(t, <-ask1(two), "third")
}

// What was passed on once is not passed on again: it is answered by a seat, or
// with Callboard-Not-Active.
func TestForwardedRequestIsNotForwardedAgain(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	one, two := newMachine(t, b, 50*time.Millisecond), newMachine(t, b, 50*time.Millisecond)
	b.set(two.at, 3)
	one.seat(t, 0, named("zero"))
	two.seat(t, 3, named("three"))
	say := func(name string) (status int, notActive, text string) {
		node := forward.ConfigOf(credential(t, 1))
		node.ServerName = name
		conn, err := tls.Dial("tcp", one.at, node)
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		_, _ = io.WriteString(conn, "GET /3/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Header.Get(forward.NotActive), string(body)
	}
	for _, name := range []string{"s3.callboard.invalid", "s1.callboard.invalid", "s99999.callboard.invalid", "s03.callboard.invalid", "x.callboard.invalid", "s.callboard.invalid", "node.callboard.invalid"} {
		status, not, _ := say(name)
		assert.Equal(t, []any{503, "1"}, []any{status, not}, name)
	}
	for _, old := range []string{"", "10.0.0.7", "node-7.example.com", "s0.callboard.invalid"} { // a node that knows of one shard says nothing
		status, not, text := say(old)
		assert.Equal(t, []any{200, "", "zero GET /3/x for : "}, []any{status, not, text}, old)
	}
}

func TestConnectionsOfAShardEndWithItsListener(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	one, two := newMachine(t, b, patience), newMachine(t, b, patience)
	b.set(one.at, 2)
	held := make(chan struct{})
	t.Cleanup(func() { close(held) })
	ln := one.doors.Listen(2)
	s := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "begun\n")
		_ = http.NewResponseController(w).Flush()
		<-held
	})}
	go func() { _ = s.Serve(ln) }()
	var streams []*http.Response
	for _, m := range []*machine{one, two} {
		resp, err := http.Get(m.url + "/2/stream")
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		streams = append(streams, resp) //nolint:bodyclose // above
	}
	require.NoError(t, ln.Close())
	bound, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.Error(t, s.Shutdown(bound), "they go on")
	ln.CloseConns()
	for _, resp := range streams {
		_, err := io.ReadAll(resp.Body)
		require.Error(t, err)
	}
	_, err := ln.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

// A request that a node has is given up when another one has its shard; those of
// other shards go on.
func TestOnlyRequestsOfAMovedShardAreCancelled(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	one, two := newMachine(t, b, patience), newMachine(t, b, patience)
	b.set(one.at, 1, 2)
	came, goOn := make(chan struct{}, 2), make(chan struct{})
	hangs := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came <- struct{}{}
		<-goOn
		_, _ = io.WriteString(w, "late")
	})
	one.seat(t, 1, hangs)
	one.seat(t, 2, hangs)
	two.seat(t, 1, named("two"))
	answers := make(map[int]chan string)
	for shard := 1; shard <= 2; shard++ {
		answers[shard] = make(chan string, 1)
		go func() {
			resp, err := http.Get(one.url + "/" + strconv.Itoa(shard) + "/x")
			if err != nil {
				answers[shard] <- err.Error()
				return
			}
			defer func() { _ = resp.Body.Close() }()
			text, _ := io.ReadAll(resp.Body)
			answers[shard] <- string(text)
		}()
		<-came
	}
	b.set(two.at, 1)
	assert.Contains(t, <-answers[1], "two GET /1/x")
	close(goOn)
	assert.Equal(t, "late", <-answers[2])
}

func TestNodeSendsRequestToShard(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	one, two := newMachine(t, b, patience), newMachine(t, b, patience)
	b.set(one.at, 1)
	b.set(two.at, 2)
	one.seat(t, 1, named("one"))
	dies := true
	two.seat(t, 2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if dies {
			dies = false
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.Close()
			return
		}
		named("two").ServeHTTP(w, r)
	}))
	for shard, want := range map[int]string{1: "one", 2: "two"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://house/v1/operator/drain?x=1", strings.NewReader("{}"))
		require.NoError(t, err)
		r.Header.Set("X-Forwarded-For", "203.0.113.7")
		resp, err := one.f.Send(t.Context(), shard, r)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want+" POST /v1/operator/drain?x=1 for 203.0.113.7: {}", string(text))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://house/v1/operator/load", nil)
	require.NoError(t, err)
	_, err = one.f.Send(ctx, 7, r) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, context.DeadlineExceeded, "nobody has it")
}

func TestReadyWhenEveryShardIsReached(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	one, two := newMachine(t, b, patience), newMachine(t, b, patience)
	readyz := func() (int, string) {
		resp, text := ask(t, "GET", one.url+"/readyz", "")
		return resp.StatusCode, text
	}
	for shard := range 4 {
		b.set(one.at, shard)
		one.seat(t, shard, named("one"))
	}
	b.set(two.at, 4, 5, 6)
	status, text := readyz()
	assert.Equal(t, 503, status)
	assert.Contains(t, text, "shard 7")
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	b.set(gone.Addr().String(), 7)
	require.Eventually(t, func() bool { status, text = readyz(); return strings.Contains(text, "does not answer") }, patience, 10*time.Millisecond)
	assert.Equal(t, 503, status)
	assert.NotContains(t, text, gone.Addr().String(), "whoever asks need not know where nodes are")
	b.set(two.at, 7)
	require.Eventually(t, func() bool { status, _ = readyz(); return status == 200 }, patience, 10*time.Millisecond)
	resp, _ := ask(t, "GET", one.url+"/healthz", "")
	assert.Equal(t, 200, resp.StatusCode)
}
