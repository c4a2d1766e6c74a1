package webhook_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/webhook"
)

// gathered is a connection beneath TLS whose writes go out together.
type gathered struct {
	net.Conn
	hold bool
	held []byte
	last int // where in held the last record begins

	came []byte // everything read
}

func (g *gathered) Write(p []byte) (int, error) {
	if !g.hold {
		return g.Conn.Write(p)
	}
	g.last = len(g.held)
	g.held = append(g.held, p...)
	return len(p), nil
}

func (g *gathered) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	g.came = append(g.came, p[:n]...)
	return n, err
}

// flush writes what is held, of the last record no more than cut bytes; 0: all.
func (g *gathered) flush(cut int) error {
	n := len(g.held)
	if cut > 0 {
		n = min(n, g.last+cut)
	}
	_, err := g.Conn.Write(g.held[:n])
	g.held = append(g.held[:0], g.held[n:]...)
	return err
}

// said is an answer as it goes out: each part is a record, all of them are one
// write.
type said struct {
	parts []string
	ends  bool // with the end of the TLS connection
	cut   int  // bytes of the last record that go out; the others with the next answer
}

// blunt is an endpoint over HTTP/1.1 that answers its requests one after the
// other with what it was given, whatever that is.
type blunt struct {
	url   string
	conns atomic.Int32
	ended chan []byte // everything that a connection brought until its end
	pool  *x509.CertPool
}

func newBlunt(t *testing.T, version uint16, answers ...said) *blunt {
	t.Helper()
	r := newReceiver(t, false)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &blunt{url: "https://" + l.Addr().String(), ended: make(chan []byte, 16), pool: x509.NewCertPool()}
	b.pool.AddCert(r.Certificate())
	config := &tls.Config{Certificates: r.TLS.Certificates, MinVersion: version, MaxVersion: version}
	var came atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			b.conns.Add(1)
			t.Cleanup(func() { _ = conn.Close() })
			go func() {
				g := &gathered{Conn: conn}
				serve(g, tls.Server(g, config), func() said { return answers[int(came.Add(1)-1)%len(answers)] })
				b.ended <- g.came
			}()
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return b
}

// serve answers until the far end ends the connection.
func serve(g *gathered, c *tls.Conn, next func() said) {
	in := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err = io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		g.hold = true
		answer := next()
		for _, part := range answer.parts {
			_, _ = io.WriteString(c, part)
		}
		if answer.ends {
			_ = c.CloseWrite()
			_ = c.NetConn().SetWriteDeadline(time.Time{}) // TLS wants nothing written any more
		}
		g.hold = false
		if g.flush(answer.cut) != nil {
			return
		}
	}
}

func (b *blunt) client(t *testing.T, idle time.Duration) *webhook.Client {
	t.Helper()
	c := webhook.NewClient(webhook.Resting(webhook.ClientConfig{Egress: loopback(t), RootCAs: b.pool, Timeout: time.Minute}, idle))
	t.Cleanup(c.Close)
	return c
}

// TestWhatIsLeftOfAnAnswerIsNoPartOfTheNextOne sends each answer twice: the
// second must not begin with what came behind the first.
func TestWhatIsLeftOfAnAnswerIsNoPartOfTheNextOne(t *testing.T) {
	t.Parallel()
	const (
		nothing = "HTTP/1.1 204 No Content\r\n\r\n"
		failed  = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"
		fine    = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
		long    = "HTTP/1.1 200 OK\r\nContent-Length: 2990\r\n\r\n"
		chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
	)
	for name, c := range map[string]struct {
		answer said
		status int
		conns  int32
	}{
		"nothing":                          {said{parts: []string{nothing}}, 204, 1},
		"an empty record":                  {said{parts: []string{fine, ""}}, 200, 1},
		"a body behind none":               {said{parts: []string{nothing, "junk"}}, 204, 2},
		"a body behind an empty one":       {said{parts: []string{failed, "junk"}}, 500, 2},
		"another answer":                   {said{parts: []string{failed, fine}}, 500, 2},
		"another answer in the record":     {said{parts: []string{failed + fine}}, 500, 2},
		"another answer behind chunks":     {said{parts: []string{chunked, failed}}, 200, 2},
		"more than the length":             {said{parts: []string{long + strings.Repeat("x", 3000)}}, 200, 2},
		"exactly the length":               {said{parts: []string{long + strings.Repeat("x", 2990)}}, 200, 1},
		"the end of the connection":        {said{parts: []string{nothing}, ends: true}, 204, 2},
		"a part of another answer":         {said{parts: []string{failed, fine}, cut: 20}, 500, 2},
		"a part of a record's head":        {said{parts: []string{failed, fine}, cut: 3}, 500, 2},
		"a part of a record in the answer": {said{parts: []string{long, strings.Repeat("x", 2990), fine}, cut: 1}, 200, 2},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(fmt.Sprint(name, ", ", tls.VersionName(version)), func(t *testing.T) {
				t.Parallel()
				b := newBlunt(t, version, c.answer)
				client := b.client(t, time.Hour)
				for n := range 2 {
					got := post(t, client, b.url)
					assert.Equal(t, c.status, got.Status, "post %d: %s", n+1, got.Error)
				}
				assert.Equal(t, c.conns, b.conns.Load())
			})
		}
	}
}

// TestAnIdleConnectionEndsAsTLSWouldHaveIt looks at the last record that came.
func TestAnIdleConnectionEndsAsTLSWouldHaveIt(t *testing.T) {
	t.Parallel()
	const alert = 21
	for name, idle := range map[string]time.Duration{"closed": time.Hour, "too long": time.Millisecond} {
		b := newBlunt(t, tls.VersionTLS12, said{parts: []string{"HTTP/1.1 204 No Content\r\n\r\n"}})
		client := b.client(t, idle)
		require.Equal(t, 204, post(t, client, b.url).Status)
		if idle == time.Hour {
			client.Close()
		}
		var kinds []byte
		for came := bytes.NewBuffer(<-b.ended); came.Len() > 0; {
			head := came.Next(5)
			require.Len(t, head, 5)
			kinds = append(kinds, head[0])
			came.Next(int(head[3])<<8 | int(head[4]))
		}
		require.NotEmpty(t, kinds)
		assert.EqualValues(t, alert, kinds[len(kinds)-1], "%s: %v", name, kinds)
	}
}

func TestAConnectionThatTheTransportDoesNotTakeIsNotKept(t *testing.T) {
	t.Parallel()
	var begun, ended atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	s.EnableHTTP2 = true
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			begun.Add(1)
		}
		if state == http.StateClosed {
			ended.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	c := webhook.NewClient(webhook.Resting(webhook.ClientConfig{Egress: loopback(t), RootCAs: pool, Timeout: time.Minute}, time.Hour))
	t.Cleanup(c.Close)
	large := webhook.Request{URL: s.URL, Body: bytes.Repeat([]byte("x"), 32<<10)} // by the transport
	require.Equal(t, 200, c.Send(t.Context(), large).Status)
	require.Equal(t, 200, post(t, c, s.URL).Status)
	require.Zero(t, webhook.Untaken(c))
	require.Eventually(t, func() bool { return begun.Load() == 2 && ended.Load() == 1 }, time.Minute, time.Millisecond)
	require.Equal(t, 200, post(t, c, s.URL).Status)
	assert.EqualValues(t, 2, begun.Load(), "that host is known to speak HTTP/2")
}
