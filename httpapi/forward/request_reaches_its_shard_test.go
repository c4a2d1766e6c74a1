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

// ownerMap reports the owner of each shard to the test nodes.
type ownerMap struct {
	mu     sync.Mutex
	owners map[int]string
}

func (b *ownerMap) owner(shard int) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.owners[shard]
	return at, ok
}

func (b *ownerMap) set(at string, shards ...int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range shards {
		if delete(b.owners, s); at != "" {
			b.owners[s] = at
		}
	}
}

// testNode is a node of an installation with several shards.
type testNode struct {
	addr      string // address for other nodes
	router    *forward.ConnRouter
	forwarder *forward.Forwarder
	url       string // URL for clients
}

// shardOfPath returns the shard that the path of a request begins with: /7/… is for shard 7. The path /form/… takes the
// shard from the form.
func shardOfPath(r *http.Request, form []byte) (int, error) {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if first == "form" {
		first = string(form)
	}
	return strconv.Atoi(first)
}

func newTestNode(t *testing.T, b *ownerMap, wait time.Duration) *testNode {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m := &testNode{addr: ln.Addr().String(), router: forward.NewConnRouter(credential(t, 1), nil)}
	go func() { _ = m.router.Serve(ln) }()
	m.forwarder = forward.New(forward.Config{
		Shards: 8, Owner: b.owner, Self: m.addr, Local: m.router, Credential: credential(t, 1), Wait: wait, Shard: shardOfPath,
		Form: func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/form/") },
	})
	s := httptest.NewServer(m.forwarder)
	m.url = s.URL
	t.Cleanup(func() { s.Close(); m.forwarder.Close(); m.router.Close() })
	return m
}

// serveShard serves a shard on the test node with the handler h until end is called.
func (m *testNode) serveShard(t *testing.T, shard int, h http.Handler) (end func()) {
	t.Helper()
	ln := m.router.Listen(shard)
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: testTimeout,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	go func() { _ = s.Serve(ln) }()
	end = func() { _ = s.Close() }
	t.Cleanup(end)
	return end
}

type connKey struct{}

// echoHandler responds with name and with the method, URL, client address and body of the request.
func echoHandler(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s for %s: %s", name, r.Method, r.URL, r.Header.Get("X-Forwarded-For"), text)
	})
}

func TestRequestGoesToItsShard(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	one, two := newTestNode(t, b, testTimeout), newTestNode(t, b, testTimeout)
	b.set(one.addr, 0, 1, 2)
	b.set(two.addr, 3, 4)
	for shard := range 3 {
		one.serveShard(t, shard, echoHandler("one/"+strconv.Itoa(shard)))
	}
	for shard := 3; shard < 5; shard++ {
		two.serveShard(t, shard, echoHandler("two/"+strconv.Itoa(shard)))
	}
	for range 2 { // the second time over reused connections
		for shard, want := range []string{"one/0", "one/1", "one/2", "two/3", "two/4"} {
			for _, m := range []*testNode{one, two} {
				path := "/" + strconv.Itoa(shard) + "/x?y=1"
				_, text := doRequest(t, "POST", m.url+path, "a body")
				assert.Equal(t, want+" POST "+path+" for 127.0.0.1: a body", text)
			}
		}
	}
	// The Forwarder passes a form of unknown length to Config.Shard and forwards it complete.
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
		refused, _ := doRequest(t, "GET", one.url+nowhere, "")
		assert.Equal(t, http.StatusServiceUnavailable, refused.StatusCode, nowhere)
	}
}

// Streams, uploads and upgraded connections reach a shard on the same node and on another node alike. The shard
// notices when the client disconnects.
func TestShardIsReachedLocallyAndFromOtherNode(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	for where, local := range map[string]bool{"here": true, "elsewhere": false} {
		nodeA, nodeB := newTestNode(t, b, testTimeout), newTestNode(t, b, testTimeout)
		owner := nodeA
		if !local {
			owner = nodeB
		}
		b.set(owner.addr, 5)
		peerClosed := make(chan bool, 2)
		release := make(chan struct{})
		owner.serveShard(t, 5, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/5/stream":
				_, _ = io.WriteString(w, "1\n")
				_ = http.NewResponseController(w).Flush()
				<-release
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
				for end := time.Now().Add(testTimeout); !connstate.PeerClosed(conn) && time.Now().Before(end); {
					<-tick.C
				}
				peerClosed <- connstate.PeerClosed(conn)
			}
		}))
		resp, err := http.Get(nodeA.url + "/5/stream")
		require.NoError(t, err, where)
		lines := bufio.NewReader(resp.Body)
		first, _ := lines.ReadString('\n')
		assert.Equal(t, "1\n", first, where)
		close(release)
		second, _ := lines.ReadString('\n')
		assert.Equal(t, "2\n", second, where)
		_ = resp.Body.Close()

		resp, err = http.Post(nodeA.url+"/5/upload", "text/csv", io.LimitReader(endlessReader{}, 3_000_000))
		require.NoError(t, err)
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		assert.Equal(t, "3000000", string(text), where)

		conn, err := net.Dial("tcp", strings.TrimPrefix(nodeA.url, "http://"))
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(testTimeout)))
		_, _ = fmt.Fprintf(conn, "GET /5/socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		r := bufio.NewReader(conn)
		head, err := http.ReadResponse(r, nil) //nolint:bodyclose // the response has no body
		require.NoError(t, err)
		require.Equal(t, http.StatusSwitchingProtocols, head.StatusCode, where)
		_, _ = io.WriteString(conn, "hello\n")
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "true heard hello\n", line, where)
		_ = conn.Close()

		ctx, cancel := context.WithCancel(t.Context())
		canceled := make(chan struct{})
		go func() {
			defer close(canceled)
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, nodeA.url+"/5/long", nil)
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
		<-canceled
	}
}

type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) { return len(p), nil }

// A request waits for a shard that does not listen yet, on this node or on another. A request to a listener that has
// closed is sent to the next owner of the shard.
func TestRequestWaitsForItsShard(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	one, two := newTestNode(t, b, testTimeout), newTestNode(t, b, testTimeout)
	ask1 := func(m *testNode) chan string {
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
	b.set(one.addr, 6)
	end := one.serveShard(t, 6, echoHandler("first"))
	assert.Contains(t, <-waits, "first PUT /6/x")
	assert.Contains(t, <-ask1(two), "first")
	end() // the listener closes while the node still owns the shard
	here, there := ask1(one), ask1(two)
	one.serveShard(t, 6, echoHandler("second"))
	assert.Contains(t, <-here, "second")
	assert.Contains(t, <-there, "second")
	b.set(two.addr, 6) // before the listener closes: requests go to the new owner
	two.serveShard(t, 6, echoHandler("third"))
	assert.Contains(t, <-ask1(one), "third")
	assert.Contains(t, <-ask1(two), "third")
	b.set("", 6) // the owner is unknown: a node uses its own listener
	assert.Contains(t, <-ask1(two), "third")
}

// A node does not forward requests that another node has forwarded. If the node does not own the shard, the response
// has the header Callboard-Not-Active.
func TestForwardedRequestIsNotForwardedAgain(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	one, two := newTestNode(t, b, 50*time.Millisecond), newTestNode(t, b, 50*time.Millisecond)
	b.set(two.addr, 3)
	one.serveShard(t, 0, echoHandler("zero"))
	two.serveShard(t, 3, echoHandler("three"))
	get := func(name string) (status int, notActive, text string) {
		node := forward.ConfigOf(credential(t, 1))
		node.ServerName = name
		conn, err := tls.Dial("tcp", one.addr, node)
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		require.NoError(t, conn.SetDeadline(time.Now().Add(testTimeout)))
		_, _ = io.WriteString(conn, "GET /3/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Header.Get(forward.NotActive), string(body)
	}
	for _, name := range []string{"s3.callboard.invalid", "s1.callboard.invalid", "s99999.callboard.invalid", "s03.callboard.invalid", "x.callboard.invalid", "s.callboard.invalid", "node.callboard.invalid"} {
		status, not, _ := get(name)
		assert.Equal(t, []any{503, "1"}, []any{status, not}, name)
	}
	for _, old := range []string{"", "10.0.0.7", "node-7.example.com", "s0.callboard.invalid"} { // a node that knows one shard only sends no server name
		status, not, text := get(old)
		assert.Equal(t, []any{200, "", "zero GET /3/x for : "}, []any{status, not, text}, old)
	}
}

func TestConnectionsOfAShardEndWithItsListener(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	one, two := newTestNode(t, b, testTimeout), newTestNode(t, b, testTimeout)
	b.set(one.addr, 2)
	held := make(chan struct{})
	t.Cleanup(func() { close(held) })
	ln := one.router.Listen(2)
	s := &http.Server{ReadHeaderTimeout: testTimeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "begun\n")
		_ = http.NewResponseController(w).Flush()
		<-held
	})}
	go func() { _ = s.Serve(ln) }()
	var streams []*http.Response
	for _, m := range []*testNode{one, two} {
		resp, err := http.Get(m.url + "/2/stream")
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		streams = append(streams, resp) //nolint:bodyclose // the cleanup closes the body
	}
	require.NoError(t, ln.Close())
	bound, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.Error(t, s.Shutdown(bound), "the requests are still running")
	ln.CloseConns()
	for _, resp := range streams {
		_, err := io.ReadAll(resp.Body)
		require.Error(t, err)
	}
	_, err := ln.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

// When a shard moves to another node, its running requests are cancelled. Requests of other shards continue.
func TestOnlyRequestsOfAMovedShardAreCancelled(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	one, two := newTestNode(t, b, testTimeout), newTestNode(t, b, testTimeout)
	b.set(one.addr, 1, 2)
	arrived, release := make(chan struct{}, 2), make(chan struct{})
	hangs := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-release
		_, _ = io.WriteString(w, "late")
	})
	one.serveShard(t, 1, hangs)
	one.serveShard(t, 2, hangs)
	two.serveShard(t, 1, echoHandler("two"))
	responses := make(map[int]chan string)
	for shard := 1; shard <= 2; shard++ {
		responses[shard] = make(chan string, 1)
		go func() {
			resp, err := http.Get(one.url + "/" + strconv.Itoa(shard) + "/x")
			if err != nil {
				responses[shard] <- err.Error()
				return
			}
			defer func() { _ = resp.Body.Close() }()
			text, _ := io.ReadAll(resp.Body)
			responses[shard] <- string(text)
		}()
		<-arrived
	}
	b.set(two.addr, 1)
	assert.Contains(t, <-responses[1], "two GET /1/x")
	close(release)
	assert.Equal(t, "late", <-responses[2])
}

func TestNodeSendsRequestToShard(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	one, two := newTestNode(t, b, testTimeout), newTestNode(t, b, testTimeout)
	b.set(one.addr, 1)
	b.set(two.addr, 2)
	one.serveShard(t, 1, echoHandler("one"))
	dies := true
	two.serveShard(t, 2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if dies {
			dies = false
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.Close()
			return
		}
		echoHandler("two").ServeHTTP(w, r)
	}))
	for shard, want := range map[int]string{1: "one", 2: "two"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://house/v1/operator/drain?x=1", strings.NewReader("{}"))
		require.NoError(t, err)
		r.Header.Set("X-Forwarded-For", "203.0.113.7")
		resp, err := one.forwarder.Send(t.Context(), shard, r)
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
	_, err = one.forwarder.Send(ctx, 7, r) //nolint:bodyclose // the response has no body
	require.ErrorIs(t, err, context.DeadlineExceeded, "no node owns the shard")
}

func TestReadyWhenEveryShardIsReached(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	one, two := newTestNode(t, b, testTimeout), newTestNode(t, b, testTimeout)
	readyz := func() (int, string) {
		resp, text := doRequest(t, "GET", one.url+"/readyz", "")
		return resp.StatusCode, text
	}
	for shard := range 4 {
		b.set(one.addr, shard)
		one.serveShard(t, shard, echoHandler("one"))
	}
	b.set(two.addr, 4, 5, 6)
	status, text := readyz()
	assert.Equal(t, 503, status)
	assert.Contains(t, text, "shard 7")
	closedPort, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closedPort.Close())
	b.set(closedPort.Addr().String(), 7)
	require.Eventually(t, func() bool { status, text = readyz(); return strings.Contains(text, "does not respond") }, testTimeout, 10*time.Millisecond)
	assert.Equal(t, 503, status)
	assert.NotContains(t, text, closedPort.Addr().String(), "the client does not need to know the nodes")
	b.set(two.addr, 7)
	require.Eventually(t, func() bool { status, _ = readyz(); return status == 200 }, testTimeout, 10*time.Millisecond)
	resp, _ := doRequest(t, "GET", one.url+"/healthz", "")
	assert.Equal(t, 200, resp.StatusCode)
}
