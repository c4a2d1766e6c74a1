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

const patience = 20 * time.Second

func credential(t *testing.T, fill byte) *forward.Credential {
	t.Helper()
	c, err := forward.NewCredential(bytes.Repeat([]byte{fill}, forward.SeedSize))
	require.NoError(t, err)
	return c
}

// door serves a handler to nodes and returns where.
func door(t *testing.T, h http.Handler) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &http.Server{Handler: h, ReadHeaderTimeout: patience}
	inner := forward.NodeListener(ln, credential(t, 1))
	go func() { _ = s.Serve(inner) }()
	t.Cleanup(func() { _ = s.Close() })
	return ln.Addr().String()
}

// active tells which node has the work.
type active struct {
	mu sync.Mutex
	at string
}

func (a *active) now() (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at, a.at != ""
}

func (a *active) owner(int) (string, bool) { return a.now() }

func (a *active) is(at string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = at
}

// front is a node without the work.
func front(t *testing.T, a *active, wait time.Duration) *httptest.Server {
	t.Helper()
	f := forward.New(forward.Config{Owner: a.owner, Credential: credential(t, 1), Wait: wait})
	s := httptest.NewServer(f)
	t.Cleanup(func() { s.Close(); f.Close() })
	return s
}

// reply is an answer whose body was read.
type reply struct {
	StatusCode int
	Header     http.Header
}

func ask(t *testing.T, method, url, body string, header ...string) (reply, string) {
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

func TestRequestIsForwardedUnchangedWithItsClientLast(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	a := &active{at: door(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r, string(text)
		w.Header().Set("X-Of-The-Node", "yes")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	}))}
	s := front(t, a, 0)
	resp, text := ask(t, "PATCH", s.URL+"/v1/a%2Fb//c?x=%zz;&y=1", "a body", "Authorization", "Bearer k", "X-Forwarded-For", "203.0.113.7", "Host", "ignored")
	assert.Equal(t, []any{http.StatusTeapot, "yes", "short and stout"}, []any{resp.StatusCode, resp.Header.Get("X-Of-The-Node"), text})
	require.NotNil(t, got)
	assert.Equal(t, []string{"PATCH", "/v1/a%2Fb//c?x=%zz;&y=1", "a body", "Bearer k"}, []string{got.Method, got.RequestURI, body, got.Header.Get("Authorization")})
	assert.Equal(t, "203.0.113.7, 127.0.0.1", got.Header.Get("X-Forwarded-For"), "the client behind what it said itself")
	assert.Equal(t, strings.TrimPrefix(s.URL, "http://"), got.Host)
}

func TestEventsAndUploadsAreStreamed(t *testing.T) {
	t.Parallel()
	more, arrived := make(chan struct{}), make(chan string, 1)
	a := &active{at: door(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	s := front(t, a, 0)
	resp, err := http.Get(s.URL + "/v1/events/stream")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewReader(resp.Body)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "data: 1\n", first, "while the answer goes on")
	close(more)
	second, _ := lines.ReadString('\n')
	assert.Equal(t, "data: 2\n", second)

	body, upload := io.Pipe()
	go func() {
		_, _ = io.WriteString(upload, "phone")
		assert.Equal(t, "phone", <-arrived, "while the upload goes on")
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

func TestUpgradedConnectionIsCopiedInBothDirections(t *testing.T) {
	t.Parallel()
	a := &active{at: door(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		line, _ := both.ReadString('\n')
		_, _ = io.WriteString(conn, "heard "+line)
	}))}
	s := front(t, a, 0)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, _ = fmt.Fprintf(conn, "GET /v1/listen HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil) //nolint:bodyclose // it has none
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
	_, _ = io.WriteString(conn, "hello\n")
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "heard hello\n", line)
}

func TestPeersWithoutTheKeyAreRefused(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	at := door(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	try := func(c *tls.Config) error {
		conn, err := tls.Dial("tcp", at, c)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		_, err = http.ReadResponse(bufio.NewReader(conn), nil) //nolint:bodyclose // TLS 1.3 tells of a refused certificate with the first read
		return err
	}
	require.Error(t, try(&tls.Config{InsecureSkipVerify: true}), "without a certificate")
	stranger := &active{at: at}
	f := forward.New(forward.Config{Owner: stranger.owner, Credential: credential(t, 2), Wait: time.Millisecond})
	require.Error(t, f.ProbeNode(t.Context(), at), "with another install's key")
	plain, err := net.Dial("tcp", at)
	require.NoError(t, err)
	defer func() { _ = plain.Close() }()
	_ = plain.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(plain, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	answer, _ := io.ReadAll(plain)
	assert.NotContains(t, string(answer), "200 OK")
	assert.Zero(t, served.Load())

	// and nobody else is believed to be one
	impostor := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	defer impostor.Close()
	to := &active{at: impostor.Listener.Addr().String()}
	resp, _ := ask(t, "GET", front(t, to, 50*time.Millisecond).URL+"/v1/x", "")
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.Zero(t, served.Load())
	require.NoError(t, forward.New(forward.Config{Owner: to.owner, Credential: credential(t, 1)}).ProbeNode(context.Background(), at), "a node is")
}

// A request waits for the node that takes the work up, with its body whole.
func TestRequestWaitsForTheNextOwner(t *testing.T) {
	t.Parallel()
	var bodies []string
	var mu sync.Mutex
	worker := door(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies = append(bodies, string(text))
		mu.Unlock()
		_, _ = io.WriteString(w, "done")
	}))
	asked := make(chan struct{}, 100)
	idle := door(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		forward.IdleHandler().ServeHTTP(w, r)
	}))
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())

	for name, first := range map[string]string{"nobody": "", "one that is not active": idle, "one that is gone": gone.Addr().String()} {
		a := &active{at: first}
		s := front(t, a, patience)
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
			<-asked // it was there, with a body
		}
		a.is(worker)
		assert.Equal(t, "done", <-answered, name)
	}
	mu.Lock()
	defer mu.Unlock()
	assert.ElementsMatch(t, []string{"nobody", "one that is not active", "one that is gone"}, bodies)
}

// What may have been done is done again only where that does no harm.
func TestOnlyRepeatableRequestsAreRepeated(t *testing.T) {
	t.Parallel()
	var broken, whole atomic.Int32
	a := &active{}
	worker := door(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole.Add(1)
		text, _ := io.ReadAll(r.Body)
		_, _ = w.Write(text)
	}))
	dying := door(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		broken.Add(1)
		a.is(worker)
		conn, _, _ := http.NewResponseController(w).Hijack()
		_ = conn.Close()
	}))
	s := front(t, a, patience)

	a.is(dying)
	resp, text := ask(t, "POST", s.URL+"/v1/calls/outbound", "call")
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.Contains(t, text, "not known")
	assert.Contains(t, text, `"code":"unavailable"`)
	assert.Equal(t, "2", resp.Header.Get("Retry-After"))
	assert.Equal(t, []int32{1, 0}, []int32{broken.Load(), whole.Load()}, "it may have rung somebody")

	for _, again := range [][]string{{"POST", "Idempotency-Key", "k1"}, {"GET"}, {"DELETE"}} {
		before := whole.Load()
		a.is(dying)
		resp, text = ask(t, again[0], s.URL+"/v1/x", "body", again[1:]...)
		assert.Equal(t, []any{http.StatusOK, "body"}, []any{resp.StatusCode, text}, again[0])
		assert.Equal(t, before+1, whole.Load(), again[0])
	}
	a.is(dying)
	endless := io.MultiReader(strings.NewReader("x"), strings.NewReader("y")) // of unknown length
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+"/v1/x", endless)
	require.NoError(t, err)
	got, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	_ = got.Body.Close()
	assert.Equal(t, http.StatusServiceUnavailable, got.StatusCode, "its body is gone")
}

func TestIncompleteBodyIsNotForwarded(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	a := &active{at: door(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))}
	conn, err := net.Dial("tcp", strings.TrimPrefix(front(t, a, 0).URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "POST /v1/campaigns HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	text, _ := io.ReadAll(conn)
	assert.NotContains(t, string(text), "200 OK")
	assert.Zero(t, served.Load())
}

func TestHealthIsOfThisNodeAndReadinessOfTheOwner(t *testing.T) {
	t.Parallel()
	a := &active{}
	s := front(t, a, patience)
	resp, text := ask(t, "GET", s.URL+"/healthz", "")
	assert.Equal(t, []any{http.StatusOK, `{"status":"ok"}` + "\n"}, []any{resp.StatusCode, text})
	assert.NotEmpty(t, resp.Header.Get("X-Request-Id"))
	resp, text = ask(t, "GET", s.URL+"/readyz", "")
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode, text)
	assert.Contains(t, text, "Not ready")
	a.is(door(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })))
	resp, _ = ask(t, "GET", s.URL+"/readyz", "")
	assert.Equal(t, http.StatusOK, resp.StatusCode)
}

// A node that hangs keeps nobody waiting once another one has the work.
func TestRequestAtAHangingNodeIsCancelledAfterTheOwnerChanges(t *testing.T) {
	t.Parallel()
	a := &active{}
	worker := door(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		_, _ = w.Write(text)
	}))
	held := make(chan struct{})
	t.Cleanup(func() { close(held) })
	hanging := door(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		if r.URL.Path == "/v1/events/stream" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: 1\n")
			_ = http.NewResponseController(w).Flush()
		}
		a.is(worker)
		<-held
	}))
	s := front(t, a, patience)

	a.is(hanging)
	resp, text := ask(t, "GET", s.URL+"/v1/x", "")
	assert.Equal(t, http.StatusOK, resp.StatusCode, text)
	a.is(hanging)
	resp, text = ask(t, "POST", s.URL+"/v1/x", "body", "Idempotency-Key", "k")
	assert.Equal(t, []any{http.StatusOK, "body"}, []any{resp.StatusCode, text})
	a.is(hanging)
	resp, text = ask(t, "POST", s.URL+"/v1/x", "body")
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.Contains(t, text, "not known")
	a.is(hanging)
	stream, err := http.Get(s.URL + "/v1/events/stream")
	require.NoError(t, err)
	defer func() { _ = stream.Body.Close() }()
	_, err = io.ReadAll(stream.Body)
	assert.Error(t, err, "a stream that will not go on is ended")
}
