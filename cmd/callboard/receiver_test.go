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
type receiver struct {
	server *httptest.Server
	pem    []byte
	url    string
	mu     sync.Mutex
	got    []delivery
}

type delivery struct {
	At     string // path and query
	Header http.Header
	Body   []byte
	Event  envelope
}

type envelope struct {
	ID, Type, Subject string
	Sequence          int
	Data              json.RawMessage
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	return newReceiverBy(t, func(*httptest.Server) {})
}

// newConfiguredReceiver starts a receiver after set has configured its server.
func newReceiverBy(t testing.TB, set func(*httptest.Server)) *receiver {
	t.Helper()
	r := &receiver{}
	r.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		d := delivery{At: req.URL.RequestURI(), Header: req.Header.Clone(), Body: body}
		_ = json.Unmarshal(body, &d.Event)
		r.mu.Lock()
		r.got = append(r.got, d)
		r.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	set(r.server)
	r.server.StartTLS()
	t.Cleanup(r.server.Close)
	r.pem = pemOf(r.server.Certificate().Raw)
	r.url = r.server.URL + "/hook"
	return r
}

// events returns the distinct received events of the given types, in the order of arrival.
func (r *receiver) events(kinds ...string) []envelope {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	var out []envelope
	for _, d := range r.got {
		if seen[d.Event.ID] || (len(kinds) > 0 && !contains(kinds, d.Event.Type)) {
			continue
		}
		seen[d.Event.ID] = true
		out = append(out, d.Event)
	}
	return out
}

func (r *receiver) deliveries() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.got...)
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}
