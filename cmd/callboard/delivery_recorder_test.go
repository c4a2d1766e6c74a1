package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

// insertEvents writes n undelivered events of several calls into the store of a stopped service. It returns their
// ids.
func (s *service) insertEvents(n, calls int) (ids []string) {
	s.t.Helper()
	const batch = 1000
	d, store, ws := s.openStore()
	subjects := make([]string, calls)
	for i := range subjects {
		subjects[i] = mailbox.NewID(domain.PrefixCall)
	}
	data := webhook.SampleEvent(event.CallEnded, &domain.Webhook{Meta: domain.Meta{WorkspaceID: ws}}, "", time.Now()).Data
	ids = make([]string, n)
	for from := 0; from < n; from += batch {
		change := commit.Change{Workspace: ws}
		for i := from; i < min(from+batch, n); i++ {
			ids[i] = mailbox.NewID(domain.PrefixEvent)
			change.Events = append(change.Events, event.Draft{
				ID: ids[i], Type: event.CallEnded, CreatedAt: time.Now().UTC(), WorkspaceID: ws, Environment: domain.Live,
				SvcID: domain.UnitID(ws), Subject: subjects[i%calls], Data: data,
			})
		}
		_, err := store.Apply(context.Background(), change)
		require.NoError(s.t, err)
	}
	require.NoError(s.t, d.Close())
	return ids
}

// createWebhook creates an endpoint for events and returns its id.
func (s *service) createWebhook(url string, filters object, events ...string) string {
	s.t.Helper()
	body := object{"url": url, "events": events}
	if filters != nil {
		body["filters"] = filters
	}
	return s.api("POST", "/v1/webhooks", body)["id"].(string)
}

// deliveryRecorder is a webhook server that records deliveries by the path of the URL.
type deliveryRecorder struct {
	server *httptest.Server

	mu           sync.Mutex
	byPath       map[string][]recordedDelivery // deliveries by path, in the order of arrival
	accepted     map[[2]string]bool            // path and event of each delivery that got a 2xx response
	requestCount int
}

type recordedDelivery struct {
	id, subject string
	sequence    int
	attempt     string
	nth         int // number of this delivery of the event at the endpoint, from 1
}

// newDeliveryRecorder starts a recorder whose certificate the service under test trusts. answer reports whether it
// accepts an event; it writes the error response itself.
func newDeliveryRecorder(t testing.TB, answer func(http.ResponseWriter, *http.Request, recordedDelivery) bool) *deliveryRecorder {
	t.Helper()
	a := &deliveryRecorder{byPath: make(map[string][]recordedDelivery), accepted: make(map[[2]string]bool)}
	seen := make(map[[2]string]int)
	a.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var e eventEnvelope
		if err != nil || json.Unmarshal(body, &e) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		path := strings.TrimPrefix(r.URL.Path, "/")
		at := [2]string{path, e.ID}
		a.mu.Lock()
		seen[at]++
		got := recordedDelivery{e.ID, e.Subject, e.Sequence, r.Header.Get("X-Svc-Delivery-Attempt"), seen[at]}
		a.byPath[path] = append(a.byPath[path], got)
		a.requestCount++
		a.mu.Unlock()
		if !answer(w, r, got) {
			return
		}
		a.mu.Lock()
		a.accepted[at] = true
		a.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	a.server.Config.ErrorLog = log.New(io.Discard, "", 0) // closed connections would fill the log
	t.Cleanup(a.server.Close)
	return a
}

// countMissing returns how many of the events no request to the path has accepted with a 2xx response.
func (a *deliveryRecorder) countMissing(path string, ids []string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		if !a.accepted[[2]string{path, id}] {
			n++
		}
	}
	return n
}

// count returns the number of received requests.
func (a *deliveryRecorder) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requestCount
}

// checkOrder examines the deliveries to a path. wrong describes events that arrived out of sequence. twice counts
// deliveries with the same event and attempt number. retries counts attempts after the first.
func (a *deliveryRecorder) checkOrder(path string) (wrong []string, twice, retries int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := make(map[string]int)
	tried := make(map[[2]string]bool)
	for _, x := range a.byPath[path] {
		at := [2]string{x.id, x.attempt}
		if tried[at] {
			twice++
		}
		tried[at] = true
		if x.attempt != "1" {
			retries++
		}
		if x.nth > 1 {
			continue
		}
		if x.sequence != last[x.subject]+1 {
			wrong = append(wrong, fmt.Sprintf("%s: %d after %d", x.subject, x.sequence, last[x.subject]))
		}
		last[x.subject] = max(last[x.subject], x.sequence)
	}
	return wrong, twice, retries
}
