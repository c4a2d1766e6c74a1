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

// fillEvents gives a stopped service so many events, of calls in turn, that
// nobody has been sent yet, and returns their ids.
func (s *service) fillEvents(n, calls int) (ids []string) {
	s.t.Helper()
	const batch = 1000
	d, store, ws := s.stored()
	subjects := make([]string, calls)
	for i := range subjects {
		subjects[i] = mailbox.NewID(domain.PrefixCall)
	}
	data := webhook.Sample(event.CallEnded, &domain.Webhook{Meta: domain.Meta{WorkspaceID: ws}}, "", time.Now()).Data
	ids = make([]string, n)
	for from := 0; from < n; from += batch {
		change := commit.Change{Workspace: ws}
		for i := from; i < min(from+batch, n); i++ {
			ids[i] = mailbox.NewID(domain.PrefixEvent)
			change.Events = append(change.Events, event.Draft{
				ID: ids[i], Type: event.CallEnded, CreatedAt: time.Now().UTC(), WorkspaceID: ws, Environment: domain.Live,
				SvcID: domain.Unit(ws), Subject: subjects[i%calls], Data: data,
			})
		}
		_, err := store.Apply(context.Background(), change)
		require.NoError(s.t, err)
	}
	require.NoError(s.t, d.Close())
	return ids
}

// subscribe makes an endpoint for events and returns its id.
func (s *service) subscribe(url string, filters object, events ...string) string {
	s.t.Helper()
	body := object{"url": url, "events": events}
	if filters != nil {
		body["filters"] = filters
	}
	return s.api("POST", "/v1/webhooks", body)["id"].(string)
}

// arrivals are what endpoints got, by the path of their URL.
type arrivals struct {
	server *httptest.Server

	mu       sync.Mutex
	all      map[string][]arrival // by path, in the order of arrival
	accepted map[[2]string]bool   // by path and event: it was answered with a 2xx
	n        int
}

type arrival struct {
	id, subject string
	sequence    int
	attempt     string
	nth         int // of this event at this endpoint, from 1
}

// arriving listens; its certificate is one that a service under test trusts.
// answer says whether it accepts an event; it writes a refusal itself.
func arriving(t testing.TB, answer func(http.ResponseWriter, *http.Request, arrival) bool) *arrivals {
	t.Helper()
	a := &arrivals{all: make(map[string][]arrival), accepted: make(map[[2]string]bool)}
	seen := make(map[[2]string]int)
	a.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var e envelope
		if err != nil || json.Unmarshal(body, &e) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		path := strings.TrimPrefix(r.URL.Path, "/")
		at := [2]string{path, e.ID}
		a.mu.Lock()
		seen[at]++
		got := arrival{e.ID, e.Subject, e.Sequence, r.Header.Get("X-Svc-Delivery-Attempt"), seen[at]}
		a.all[path] = append(a.all[path], got)
		a.n++
		a.mu.Unlock()
		if !answer(w, r, got) {
			return
		}
		a.mu.Lock()
		a.accepted[at] = true
		a.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	a.server.Config.ErrorLog = log.New(io.Discard, "", 0) // connections are cut off
	t.Cleanup(a.server.Close)
	return a
}

// missing is how many events a path has not accepted.
func (a *arrivals) missing(path string, ids []string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		if !a.accepted[[2]string{path, id}] {
			n++
		}
	}
	return n
}

// count is how many requests came.
func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n
}

// disorder are the events of a path that first came before an earlier one of
// their subject; twice is how often an attempt came that had come before, retries
// how often one that was not the first.
func (a *arrivals) disorder(path string) (wrong []string, twice, retries int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := make(map[string]int)
	tried := make(map[[2]string]bool)
	for _, x := range a.all[path] {
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
