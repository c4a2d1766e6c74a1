package forward_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi/forward"
)

const testTimeout = 20 * time.Second

func credential(t *testing.T, fill byte) *forward.Credential {
	t.Helper()
	c, err := forward.NewCredential(bytes.Repeat([]byte{fill}, forward.SeedSize))
	require.NoError(t, err)
	return c
}

// startNode starts a server that accepts requests from other nodes only, and returns its address.
func startNode(t *testing.T, h http.Handler) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &http.Server{Handler: h, ReadHeaderTimeout: testTimeout}
	inner := forward.NodeListener(ln, credential(t, 1))
	go func() { _ = s.Serve(inner) }()
	t.Cleanup(func() { _ = s.Close() })
	return ln.Addr().String()
}

// ownerStub reports one address to a Forwarder as the owner of all shards.
type ownerStub struct {
	mu   sync.Mutex
	addr string
}

func (a *ownerStub) current() (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.addr, a.addr != ""
}

func (a *ownerStub) owner(int) (string, bool) { return a.current() }

func (a *ownerStub) set(at string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.addr = at
}

// startForwarder starts the client server of a node that owns no shard. The Forwarder waits at most wait for an owner.
func startForwarder(t *testing.T, a *ownerStub, wait time.Duration) *httptest.Server {
	t.Helper()
	f := forward.New(forward.Config{Owner: a.owner, Credential: credential(t, 1), Wait: wait})
	s := httptest.NewServer(f)
	t.Cleanup(func() { s.Close(); f.Close() })
	return s
}

// reply is a response whose body was read completely.
type reply struct {
	StatusCode int
	Header     http.Header
}

func doRequest(t *testing.T, method, url, body string, header ...string) (reply, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return reply{resp.StatusCode, resp.Header}, string(text)
}

func TestForwardAppendsClientToXForwardedFor(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	a := &ownerStub{addr: startNode(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r, string(text)
		w.Header().Set("X-Of-The-Node", "yes")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	}))}
	s := startForwarder(t, a, 0)
	resp, text := doRequest(t, "PATCH", s.URL+"/v1/a%2Fb//c?x=%zz;&y=1", "a body", "Authorization", "Bearer k", "X-Forwarded-For", "203.0.113.7", "Host", "ignored")
	assert.Equal(t, []any{http.StatusTeapot, "yes", "short and stout"}, []any{resp.StatusCode, resp.Header.Get("X-Of-The-Node"), text})
	require.NotNil(t, got)
	assert.Equal(t, []string{"PATCH", "/v1/a%2Fb//c?x=%zz;&y=1", "a body", "Bearer k"}, []string{got.Method, got.RequestURI, body, got.Header.Get("Authorization")})
	assert.Equal(t, "203.0.113.7, 127.0.0.1", got.Header.Get("X-Forwarded-For"), "the client's address follows the addresses that the client sent")
	assert.Equal(t, strings.TrimPrefix(s.URL, "http://"), got.Host)
}

func TestForwardStreamsEventsAndUploads(t *testing.T) {
	t.Parallel()
	more, arrived := make(chan struct{}), make(chan string, 1)
	a := &ownerStub{addr: startNode(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			p := make([]byte, 5)
			_, _ = io.ReadFull(r.Body, p)
			arrived <- string(p)
			n, _ := io.Copy(io.Discard, r.Body)
			_, _ = fmt.Fprint(w, n)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n")
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, "data: 2\n")
	}))}
	s := startForwarder(t, a, 0)
	resp, err := http.Get(s.URL + "/v1/events/stream")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewReader(resp.Body)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "data: 1\n", first, "the first event arrives before the response ends")
	close(more)
	second, _ := lines.ReadString('\n')
	assert.Equal(t, "data: 2\n", second)

	body, upload := io.Pipe()
	go func() {
		_, _ = io.WriteString(upload, "phone")
		assert.Equal(t, "phone", <-arrived, "the first bytes arrive before the upload ends")
		for range 1000 {
			_, _ = upload.Write(make([]byte, 4096))
		}
		_ = upload.Close()
	}()
	up, err := http.Post(s.URL+"/v1/campaigns/c/contacts", "text/csv", body)
	require.NoError(t, err)
	defer func() { _ = up.Body.Close() }()
	n, err := io.ReadAll(up.Body)
	require.NoError(t, err)
	assert.Equal(t, "4096000", string(n))
}

func TestForwardCopiesUpgradedConnectionBothWays(t *testing.T) {
	t.Parallel()
	a := &ownerStub{addr: startNode(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		line, _ := both.ReadString('\n')
		_, _ = io.WriteString(conn, "heard "+line)
	}))}
	s := startForwarder(t, a, 0)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(testTimeout)))
	_, _ = fmt.Fprintf(conn, "GET /v1/listen HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil) //nolint:bodyclose // the response has no body
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
	_, _ = io.WriteString(conn, "hello\n")
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "heard hello\n", line)
}

func TestPeersWithoutKeyAreRefused(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	at := startNode(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	try := func(c *tls.Config) error {
		conn, err := tls.Dial("tcp", at, c)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(testTimeout))
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		_, err = http.ReadResponse(bufio.NewReader(conn), nil) //nolint:bodyclose // with TLS 1.3 the first read reports a refused certificate
		return err
	}
	require.Error(t, try(&tls.Config{InsecureSkipVerify: true}), "the client has no certificate")
	stranger := &ownerStub{addr: at}
	f := forward.New(forward.Config{Owner: stranger.owner, Credential: credential(t, 2), Wait: time.Millisecond})
	require.Error(t, f.ProbeNode(t.Context(), at), "the client has the key of another installation")
	plain, err := net.Dial("tcp", at)
	require.NoError(t, err)
	defer func() { _ = plain.Close() }()
	_ = plain.SetDeadline(time.Now().Add(testTimeout))
	_, _ = io.WriteString(plain, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	answer, _ := io.ReadAll(plain)
	assert.NotContains(t, string(answer), "200 OK")
	assert.Zero(t, served.Load())

	// The Forwarder sends nothing to a server without the key of the installation.
	impostor := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	defer impostor.Close()
	to := &ownerStub{addr: impostor.Listener.Addr().String()}
	resp, _ := doRequest(t, "GET", startForwarder(t, to, 50*time.Millisecond).URL+"/v1/x", "")
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.Zero(t, served.Load())
	require.NoError(t, forward.New(forward.Config{Owner: to.owner, Credential: credential(t, 1)}).ProbeNode(context.Background(), at), "a node with the right key is accepted")
}

// A request to a shard without an owner waits for the next owner and arrives there with its body.
func TestRequestWaitsForNextOwner(t *testing.T) {
	t.Parallel()
	var bodies []string
	var mu sync.Mutex
	worker := startNode(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies = append(bodies, string(text))
		mu.Unlock()
		_, _ = io.WriteString(w, "done")
	}))
	requested := make(chan struct{}, 100)
	idle := startNode(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested <- struct{}{}
		forward.NotOwnerHandler().ServeHTTP(w, r)
	}))
	closedPort, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closedPort.Close())

	for name, first := range map[string]string{"nobody": "", "one that is not active": idle, "one that is gone": closedPort.Addr().String()} {
		a := &ownerStub{addr: first}
		s := startForwarder(t, a, testTimeout)
		answered := make(chan string, 1)
		go func() {
			resp, err := http.Post(s.URL+"/v1/campaigns", "application/json", strings.NewReader(name))
			if err != nil {
				answered <- err.Error()
				return
			}
			defer func() { _ = resp.Body.Close() }()
			text, _ := io.ReadAll(resp.Body)
			answered <- string(text)
		}()
		if first == idle {
			<-requested // the first owner has received the request with its body
		}
		a.set(worker)
		assert.Equal(t, "done", <-answered, name)
	}
	mu.Lock()
	defer mu.Unlock()
	assert.ElementsMatch(t, []string{"nobody", "one that is not active", "one that is gone"}, bodies)
}

// A request that may have run at a failed node is sent again only if it may run twice.
func TestOnlyRepeatableRequestsAreRepeated(t *testing.T) {
	t.Parallel()
	var broken, complete atomic.Int32
	a := &ownerStub{}
	worker := startNode(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		complete.Add(1)
		text, _ := io.ReadAll(r.Body)
		_, _ = w.Write(text)
	}))
	dying := startNode(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		broken.Add(1)
		a.set(worker)
		conn, _, _ := http.NewResponseController(w).Hijack()
		_ = conn.Close()
	}))
	s := startForwarder(t, a, testTimeout)

	a.set(dying)
	resp, text := doRequest(t, "POST", s.URL+"/v1/calls/outbound", "call")
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.Contains(t, text, "outcome is unknown")
	assert.Contains(t, text, `"code":"unavailable"`)
	assert.Equal(t, "2", resp.Header.Get("Retry-After"))
	assert.Equal(t, []int32{1, 0}, []int32{broken.Load(), complete.Load()}, "the call may have been placed")

	for _, again := range [][]string{{"POST", "Idempotency-Key", "k1"}, {"GET"}, {"DELETE"}} {
		before := complete.Load()
		a.set(dying)
		resp, text = doRequest(t, again[0], s.URL+"/v1/x", "body", again[1:]...)
		assert.Equal(t, []any{http.StatusOK, "body"}, []any{resp.StatusCode, text}, again[0])
		assert.Equal(t, before+1, complete.Load(), again[0])
	}
	a.set(dying)
	endless := io.MultiReader(strings.NewReader("x"), strings.NewReader("y")) // a body of unknown length
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+"/v1/x", endless)
	require.NoError(t, err)
	got, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	_ = got.Body.Close()
	assert.Equal(t, http.StatusServiceUnavailable, got.StatusCode, "the body cannot be sent again")
}

func TestIncompleteBodyIsNotForwarded(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	a := &ownerStub{addr: startNode(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))}
	conn, err := net.Dial("tcp", strings.TrimPrefix(startForwarder(t, a, 0).URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "POST /v1/campaigns HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	require.NoError(t, conn.SetDeadline(time.Now().Add(testTimeout)))
	text, _ := io.ReadAll(conn)
	assert.NotContains(t, string(text), "200 OK")
	assert.Zero(t, served.Load())
}

func TestHealthzIsLocalAndReadyzNeedsOwner(t *testing.T) {
	t.Parallel()
	a := &ownerStub{}
	s := startForwarder(t, a, testTimeout)
	resp, text := doRequest(t, "GET", s.URL+"/healthz", "")
	assert.Equal(t, []any{http.StatusOK, `{"status":"ok"}` + "\n"}, []any{resp.StatusCode, text})
	assert.NotEmpty(t, resp.Header.Get("X-Request-Id"))
	resp, text = doRequest(t, "GET", s.URL+"/readyz", "")
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode, text)
	assert.Contains(t, text, "Not ready")
	a.set(startNode(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })))
	resp, _ = doRequest(t, "GET", s.URL+"/readyz", "")
	assert.Equal(t, http.StatusOK, resp.StatusCode)
}

// A request that waits for a hanging node is cancelled once another node owns the shard.
func TestRequestAtHangingNodeIsCancelledAfterOwnerChange(t *testing.T) {
	t.Parallel()
	a := &ownerStub{}
	worker := startNode(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		_, _ = w.Write(text)
	}))
	held := make(chan struct{})
	t.Cleanup(func() { close(held) })
	hanging := startNode(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		if r.URL.Path == "/v1/events/stream" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: 1\n")
			_ = http.NewResponseController(w).Flush()
		}
		a.set(worker)
		<-held
	}))
	s := startForwarder(t, a, testTimeout)

	a.set(hanging)
	resp, text := doRequest(t, "GET", s.URL+"/v1/x", "")
	assert.Equal(t, http.StatusOK, resp.StatusCode, text)
	a.set(hanging)
	resp, text = doRequest(t, "POST", s.URL+"/v1/x", "body", "Idempotency-Key", "k")
	assert.Equal(t, []any{http.StatusOK, "body"}, []any{resp.StatusCode, text})
	a.set(hanging)
	resp, text = doRequest(t, "POST", s.URL+"/v1/x", "body")
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.Contains(t, text, "outcome is unknown")
	a.set(hanging)
	stream, err := http.Get(s.URL + "/v1/events/stream")
	require.NoError(t, err)
	defer func() { _ = stream.Body.Close() }()
	_, err = io.ReadAll(stream.Body)
	assert.Error(t, err, "a stalled stream is ended")
}
