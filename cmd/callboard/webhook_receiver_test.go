package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// webhookReceiver is an HTTPS endpoint that records the webhook requests it receives.
type webhookReceiver struct {
	server   *httptest.Server
	pem      []byte
	url      string
	mu       sync.Mutex
	received []delivery
}

type delivery struct {
	At     string // path and query
	Header http.Header
	Body   []byte
	Event  eventEnvelope
}

type eventEnvelope struct {
	ID, Type, Subject string
	Sequence          int
	Data              json.RawMessage
}

func newWebhookReceiver(t testing.TB) *webhookReceiver {
	t.Helper()
	return newConfiguredReceiver(t, func(*httptest.Server) {})
}

// newConfiguredReceiver starts a receiver after set has configured its server.
func newConfiguredReceiver(t testing.TB, set func(*httptest.Server)) *webhookReceiver {
	t.Helper()
	r := &webhookReceiver{}
	r.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		d := delivery{At: req.URL.RequestURI(), Header: req.Header.Clone(), Body: body}
		_ = json.Unmarshal(body, &d.Event)
		r.mu.Lock()
		r.received = append(r.received, d)
		r.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	set(r.server)
	r.server.StartTLS()
	t.Cleanup(r.server.Close)
	r.pem = encodeCertificatePEM(r.server.Certificate().Raw)
	r.url = r.server.URL + "/hook"
	return r
}

// events returns the distinct received events of the given types, in the order of arrival.
func (r *webhookReceiver) events(kinds ...string) []eventEnvelope {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	var out []eventEnvelope
	for _, d := range r.received {
		if seen[d.Event.ID] || (len(kinds) > 0 && !containsString(kinds, d.Event.Type)) {
			continue
		}
		seen[d.Event.ID] = true
		out = append(out, d.Event)
	}
	return out
}

func (r *webhookReceiver) deliveries() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.received...)
}

func containsString(list []string, s string) bool {
	return slices.Contains(list, s)
}
