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

// counted is an endpoint over HTTP/1.1 that counts its connections and keeps
// the last body.
type counted struct {
	*httptest.Server
	conns atomic.Int32

	mu   sync.Mutex
	body []byte
	came int
}

func newCounted(t *testing.T, answer func(http.ResponseWriter)) *counted {
	t.Helper()
	s := new(counted)
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

func (s *counted) last() ([]byte, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.body, s.came
}

func trusting(t *testing.T, servers ...*counted) *webhook.Client {
	t.Helper()
	pool := x509.NewCertPool()
	for _, s := range servers {
		pool.AddCert(s.Certificate())
	}
	c := webhook.NewClient(webhook.WithIdleTimeout(webhook.ClientConfig{Egress: loopback(t), RootCAs: pool, Timeout: time.Minute}, time.Hour))
	t.Cleanup(c.Close)
	return c
}

func TestAConnectionThatTheReceiverClosedCostsNoAttempt(t *testing.T) {
	t.Parallel()
	s := newCounted(t, nil)
	c := trusting(t, s)
	for n := range int32(5) {
		assert.Equal(t, 200, post(t, c, s.URL).Status)
		assert.Equal(t, 200, post(t, c, s.URL).Status)
		assert.Equal(t, n+1, s.conns.Load())
		s.CloseClientConnections()
	}
	_, came := s.last()
	assert.Equal(t, 10, came)
}

func TestAnAnswerThatEndsItsConnectionIsFollowedByANewOne(t *testing.T) {
	t.Parallel()
	s := newCounted(t, func(w http.ResponseWriter) {
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "thanks")
	})
	c := trusting(t, s)
	for range 3 {
		assert.Equal(t, 200, post(t, c, s.URL).Status)
	}
	assert.EqualValues(t, 3, s.conns.Load())
}

func TestBodiesArriveAsTheyAreWhateverTheirLength(t *testing.T) {
	t.Parallel()
	s := newCounted(t, nil)
	c := trusting(t, s)
	for _, size := range []int{0, 1, 15 << 10, 16<<10 - 200, 16 << 10, 17 << 10, 1 << 20} {
		body := bytes.Repeat([]byte("0123456789\r\n"), size/12+1)[:size]
		got := c.Send(t.Context(), webhook.Request{URL: s.URL, Header: []domainwebhook.Header{{Name: "Content-Type", Value: "text/plain"}}, Body: body})
		assert.Equal(t, 200, got.Status, got.Error)
		came, _ := s.last()
		assert.True(t, bytes.Equal(body, came), "%d bytes: %d came", size, len(came))
	}
	assert.EqualValues(t, 1, s.conns.Load())
}

func TestTheAnswerThatCountsIsTheOneBehindInterimOnes(t *testing.T) {
	t.Parallel()
	for _, interim := range []int{1, 5} {
		s := newCounted(t, func(w http.ResponseWriter) {
			for range interim {
				w.WriteHeader(http.StatusEarlyHints)
			}
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		got := post(t, trusting(t, s), s.URL)
		got.Duration = 0
		want := webhook.SendResult{Status: 503, Error: "the endpoint answered 503", RetryAfter: 7 * time.Second}
		assert.Equal(t, want, got, interim)
	}
}

func TestAHeaderLineHoldsNoOtherLine(t *testing.T) {
	t.Parallel()
	s := newCounted(t, nil)
	c := trusting(t, s)
	for _, h := range []domainwebhook.Header{{Name: "X-One", Value: "1\r\nX-Two: 2"}, {Name: "X-One: 1\r\nX-Two", Value: "2"}, {Name: "X-One", Value: "\x00"}} {
		got := c.Send(t.Context(), webhook.Request{URL: s.URL, Header: []domainwebhook.Header{h}, Body: []byte("{}")})
		assert.Zero(t, got.Status, "%q", h)
		assert.NotEmpty(t, got.Error, "%q", h)
	}
	_, came := s.last()
	assert.Zero(t, came)
}

func TestAClientOfSeveralHostsKeepsTheConnectionsOfEach(t *testing.T) {
	t.Parallel()
	a, b := newCounted(t, nil), newCounted(t, nil)
	c := trusting(t, a, b)
	for range 4 {
		for _, s := range []*counted{a, b} {
			require.Equal(t, 200, post(t, c, s.URL).Status)
		}
	}
	assert.EqualValues(t, 1, a.conns.Load())
	assert.EqualValues(t, 1, b.conns.Load())
}
