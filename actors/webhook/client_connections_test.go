package webhook_test

import (
	"bytes"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/webhook"
	domainwebhook "github.com/callboard/callboard/domain/webhook"
)

// countingServer is an HTTP/1.1 endpoint that counts its connections and stores the last body.
type countingServer struct {
	*httptest.Server
	conns atomic.Int32

	mu   sync.Mutex
	body []byte
	came int
}

func newCountingServer(t *testing.T, answer func(http.ResponseWriter)) *countingServer {
	t.Helper()
	s := new(countingServer)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.body = body
		s.came++
		s.mu.Unlock()
		if answer != nil {
			answer(w)
		}
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *countingServer) lastRequest() ([]byte, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.body, s.came
}

func newTrustingClient(t *testing.T, servers ...*countingServer) *webhook.Client {
	t.Helper()
	pool := x509.NewCertPool()
	for _, s := range servers {
		pool.AddCert(s.Certificate())
	}
	c := webhook.NewClient(webhook.WithIdleTimeout(webhook.ClientConfig{Egress: loopback(t), RootCAs: pool, Timeout: time.Minute}, time.Hour))
	t.Cleanup(c.Close)
	return c
}

func TestConnectionClosedByServerCostsNoAttempt(t *testing.T) {
	t.Parallel()
	s := newCountingServer(t, nil)
	c := newTrustingClient(t, s)
	for n := range int32(5) {
		assert.Equal(t, 200, sendEvent(t, c, s.URL).Status)
		assert.Equal(t, 200, sendEvent(t, c, s.URL).Status)
		assert.Equal(t, n+1, s.conns.Load())
		s.CloseClientConnections()
	}
	_, came := s.lastRequest()
	assert.Equal(t, 10, came)
}

func TestConnectionCloseHeaderOpensNewConnection(t *testing.T) {
	t.Parallel()
	s := newCountingServer(t, func(w http.ResponseWriter) {
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "thanks")
	})
	c := newTrustingClient(t, s)
	for range 3 {
		assert.Equal(t, 200, sendEvent(t, c, s.URL).Status)
	}
	assert.EqualValues(t, 3, s.conns.Load())
}

func TestRequestBodiesOfAnyLengthArriveUnchanged(t *testing.T) {
	t.Parallel()
	s := newCountingServer(t, nil)
	c := newTrustingClient(t, s)
	for _, size := range []int{0, 1, 15 << 10, 16<<10 - 200, 16 << 10, 17 << 10, 1 << 20} {
		body := bytes.Repeat([]byte("0123456789\r\n"), size/12+1)[:size]
		got := c.Send(t.Context(), webhook.Request{URL: s.URL, Header: []domainwebhook.Header{{Name: "Content-Type", Value: "text/plain"}}, Body: body})
		assert.Equal(t, 200, got.Status, got.Error)
		came, _ := s.lastRequest()
		assert.True(t, bytes.Equal(body, came), "%d bytes: %d came", size, len(came))
	}
	assert.EqualValues(t, 1, s.conns.Load())
}

func TestInterimResponsesAreIgnored(t *testing.T) {
	t.Parallel()
	for _, interim := range []int{1, 5} {
		s := newCountingServer(t, func(w http.ResponseWriter) {
			for range interim {
				w.WriteHeader(http.StatusEarlyHints)
			}
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		got := sendEvent(t, newTrustingClient(t, s), s.URL)
		got.Duration = 0
		want := webhook.SendResult{Status: 503, Error: "the endpoint answered 503", RetryAfter: 7 * time.Second}
		assert.Equal(t, want, got, interim)
	}
}

func TestHeaderInjectionIsRejected(t *testing.T) {
	t.Parallel()
	s := newCountingServer(t, nil)
	c := newTrustingClient(t, s)
	for _, h := range []domainwebhook.Header{{Name: "X-One", Value: "1\r\nX-Two: 2"}, {Name: "X-One: 1\r\nX-Two", Value: "2"}, {Name: "X-One", Value: "\x00"}} {
		got := c.Send(t.Context(), webhook.Request{URL: s.URL, Header: []domainwebhook.Header{h}, Body: []byte("{}")})
		assert.Zero(t, got.Status, "%q", h)
		assert.NotEmpty(t, got.Error, "%q", h)
	}
	_, came := s.lastRequest()
	assert.Zero(t, came)
}

func TestClientReusesConnectionsPerHost(t *testing.T) {
	t.Parallel()
	a, b := newCountingServer(t, nil), newCountingServer(t, nil)
	c := newTrustingClient(t, a, b)
	for range 4 {
		for _, s := range []*countingServer{a, b} {
			require.Equal(t, 200, sendEvent(t, c, s.URL).Status)
		}
	}
	assert.EqualValues(t, 1, a.conns.Load())
	assert.EqualValues(t, 1, b.conns.Load())
}
