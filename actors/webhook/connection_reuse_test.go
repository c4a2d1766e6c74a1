package webhook_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

// The test counts the TLS handshakes of many deliveries. There must be far fewer handshakes than deliveries.
func TestEndpointReusesConnectionsAndTLSSessions(t *testing.T) {
	t.Parallel()
	const events = 600
	for _, http2 := range []bool{false, true} {
		var handshakes, resumed atomic.Int32
		protocols := make(chan string, events)
		r := newReceiver(t, http2)
		counted := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			protocols <- req.Proto
			_, _ = io.Copy(w, req.Body)
		}))
		counted.EnableHTTP2 = http2
		counted.TLS = &tls.Config{Certificates: r.TLS.Certificates, VerifyConnection: func(s tls.ConnectionState) error {
			handshakes.Add(1)
			if s.DidResume {
				resumed.Add(1)
			}
			return nil
		}}
		counted.StartTLS()
		t.Cleanup(counted.Close)
		client := r.clientWithTimeout(t, loopback(t), time.Minute)
		f := newEndpointSet(t, client, events, counted.URL)
		want := map[domain.DeliveryState]int{domain.DeliveryDelivered: events}
		require.Eventually(t, func() bool { return assert.ObjectsAreEqual(want, f.stateCounts(0)) }, time.Minute, 20*time.Millisecond)
		protocol, most := "HTTP/1.1", int32(events/4) // several per request, because a connection may be opened while another becomes idle
		if http2 {
			protocol, most = "HTTP/2.0", events/20 // connections opened before the first handshake completes, and after pauses of a slow machine
		}
		assert.LessOrEqual(t, handshakes.Load(), most, protocol)
		for range events {
			assert.Equal(t, protocol, <-protocols)
		}
		assert.Equal(t, 200, sendEvent(t, client, counted.URL).Status)
		client.Close()
		assert.Equal(t, 200, sendEvent(t, client, counted.URL).Status)
		assert.Positive(t, resumed.Load(), "a connection that is made again takes up the session of the one before")
	}
}
