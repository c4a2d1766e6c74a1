package webhook_test

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/actors/webhook/webhooktest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// newServerAndClient returns an HTTPS server and a client that trusts it.
func newServerAndClient(t *testing.T, timeout time.Duration, f http.HandlerFunc) (*httptest.Server, *webhook.Client) {
	t.Helper()
	s := httptest.NewTLSServer(f)
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	c := webhook.NewClient(webhook.ClientConfig{Egress: loopback(t), RootCAs: pool, Timeout: timeout})
	t.Cleanup(c.Close)
	return s, c
}

// The server offers hundreds of megabytes. The client must close the connection after the limit, so that only a few
// megabytes, which fill the buffers of the connection, are transferred.
func TestResponseBodyIsReadUpToLimit(t *testing.T) {
	t.Parallel()
	const piece, offered, buffers = 64 << 10, 512 << 20, 32 << 20
	written := make(chan int, 1)
	s, c := newServerAndClient(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
		n := 0
		for n < offered {
			if _, err := w.Write(make([]byte, piece)); err != nil {
				break
			}
			n += piece
		}
		written <- n
	})
	assert.Equal(t, 200, sendEvent(t, c, s.URL).Status)
	assert.Less(t, <-written, buffers)
}

// A server accepts the connection and never reads. The attempt must fail after the timeout, and the slot of the send
// pool must be free afterwards.
func TestNonReadingServerTimesOutAndFreesSlot(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	var came atomic.Int32
	s, c := newServerAndClient(t, time.Second, func(http.ResponseWriter, *http.Request) {
		came.Add(1)
		<-done
	})
	t.Cleanup(func() { close(done) })
	store, sys, pool := webhooktest.NewStore(), mailbox.NewSystem(slog.New(slog.DiscardHandler)), webhook.NewSendPool(0)
	events, err := store.Apply(t.Context(), commit.Change{Events: []event.Draft{{
		ID: "evt_1", Type: event.CallEnded, CreatedAt: time.Now(), WorkspaceID: workspace, Subject: "call_1",
		Data: map[string]string{"notes": strings.Repeat("long ", 8<<20)}, // more than the buffers of a connection can hold
	}}})
	require.NoError(t, err)
	_, err = store.Apply(t.Context(), commit.Change{Puts: []domain.Record{
		&domain.Webhook{Meta: domain.Meta{ID: endpoint, WorkspaceID: workspace}, URL: s.URL, Secret: plainSecret, Status: domain.WebhookActive},
		&domain.Delivery{
			ID: "dlv_1", WorkspaceID: workspace, WebhookID: endpoint, EventID: "evt_1", EventType: string(event.CallEnded), EventOffset: events[0].Offset,
			Subject: "call_1", State: domain.DeliveryQueued, CreatedAt: time.Now(),
		},
	}})
	require.NoError(t, err)
	pid := sys.Root.Spawn(mailbox.Props(webhook.New(webhook.Config{Workspace: workspace, ID: endpoint, Store: store, Sender: c, Pool: pool, Log: slog.New(slog.DiscardHandler)}), 20))
	t.Cleanup(func() {
		assert.NoError(t, sys.Root.PoisonFuture(pid).Wait())
		sys.Shutdown()
	})
	var row domain.Delivery
	require.Eventually(t, func() bool {
		row = store.DeliveryRows(endpoint)["evt_1"]
		return row.State == domain.DeliveryRetrying && pool.ActiveRequests() == 0
	}, time.Minute, 20*time.Millisecond)
	assert.Equal(t, []any{1, fmt.Sprintf("no answer within %s", time.Second), int32(1)}, []any{row.Attempts, row.Error, came.Load()})
}
