package spans_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/cmd/callboard/spans"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

var noon = time.Date(2030, 1, 15, 12, 0, 0, 0, time.UTC)

// kept is a store that keeps everything, or nothing.
type kept struct {
	actors.Store
	err error
}

func (k kept) Apply(context.Context, commit.Change) ([]event.Event, error) { return nil, k.err }

// collector takes what is sent, or answers as it is told.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	asked  atomic.Int64
}

func newCollector(t *testing.T, status func(n int64) int) *collector {
	t.Helper()
	c := new(collector)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		code := status(c.asked.Add(1))
		if code == http.StatusOK && r.URL.Path == "/v1/traces" && r.Header.Get("Authorization") == "Bearer x" && r.Header.Get("Content-Type") == "application/json" {
			c.mu.Lock()
			c.bodies = append(c.bodies, string(body))
			c.mu.Unlock()
		}
		w.WriteHeader(code)
	}))
	t.Cleanup(c.Close)
	return c
}

func fine(int64) int { return http.StatusOK }

// sender is one whose end is the test's to tell; it gives its counts.
func sender(t *testing.T, url string, share float64, err error) (actors.Store, func() (sent, lost uint64)) {
	t.Helper()
	s := spans.New(spans.Config{
		URL: url, Header: http.Header{"Authorization": {"Bearer x"}}, Share: share, Version: "1.2.3", Node: "one", Log: slog.New(slog.DiscardHandler),
	})
	ctx, stop := context.WithCancel(t.Context())
	go s.Run(ctx)
	return s.Store(kept{err: err}), func() (uint64, uint64) {
		stop()
		s.Wait()
		return s.Counts()
	}
}

func aCall(id string) (*domain.Call, commit.Change) {
	at := func(ms int) *time.Time { t := noon.Add(time.Duration(ms) * time.Millisecond); return &t }
	c := &domain.Call{
		Meta: domain.Meta{ID: id, WorkspaceID: "ws_1", Environment: domain.Live, CreatedAt: noon}, Direction: domain.Outbound, From: "+12025550100", To: "+12025550123",
		Status: domain.CallCompleted, Disposition: "confirmed", EndedReason: "completed", StartedAt: at(10), RingingAt: at(200), AnsweredAt: at(3000), EndedAt: at(20000),
		Variables: map[string]string{"name": "Ada"}, Quality: &domain.Quality{Codec: "PCMU", MOS: 4.31},
		Legs: []domain.Leg{
			{TrunkID: "trunk_a", Target: "192.0.2.1:5060;udp", Code: 503, Reason: "Service Unavailable", StartedAt: *at(10), EndedAt: at(50)},
			{TrunkID: "trunk_b", Target: "192.0.2.2:5060;udp", Code: 200, Reason: "OK", StartedAt: *at(60), PDDMs: 140},
		},
		Latency: &domain.Latency{Turns: []domain.TurnLatency{{Input: domain.InputSpeech, AtMs: 4000, EOUMs: 500, STTMs: 120, TotalMs: 900}}},
	}
	return c, commit.Change{Puts: []domain.Record{c}, Events: []event.Draft{{Data: event.CallEndedData{CallID: id}}}}
}

const (
	callID  = "call_01JZ3Y8Q5S6T7V8W9X0Y1Z2A3B"
	eventID = "evt_01JZ3Y8Q5S6T7V8W9X0Y1Z2A3C"
)

type seen struct {
	Trace  string `json:"traceId"`
	ID     string `json:"spanId"`
	Parent string `json:"parentSpanId"`
	Name   string
	Kind   int
	From   string `json:"startTimeUnixNano"`
	To     string `json:"endTimeUnixNano"`
	Status *struct {
		Code    int
		Message string
	}
	Attributes []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
}

func (c *collector) spans(t *testing.T) (all []seen) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, body := range c.bodies {
		var r struct {
			ResourceSpans []struct {
				Resource   struct{ Attributes []struct{ Key string } }
				ScopeSpans []struct{ Spans []seen }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(body), &r))
		require.Equal(t, "service.name", r.ResourceSpans[0].Resource.Attributes[0].Key)
		all = append(all, r.ResourceSpans[0].ScopeSpans[0].Spans...)
	}
	return all
}

func TestACallAndTheDeliveryOfItsEventAreOneTrace(t *testing.T) {
	t.Parallel()
	c := newCollector(t, fine)
	store, counts := sender(t, c.URL, 1, nil)
	call, change := aCall(callID)
	_, err := store.Apply(t.Context(), change)
	require.NoError(t, err)
	running := *call
	_, err = store.Apply(t.Context(), commit.Change{Puts: []domain.Record{&running}})
	require.NoError(t, err, "a row of a call that does not end it is no span")
	sent := noon.Add(21 * time.Second)
	queued := domain.Delivery{WebhookID: "wh_1", EventID: eventID, EventType: "call.ended", Subject: callID, State: domain.DeliveryQueued}
	tried := queued
	tried.State, tried.Attempts, tried.LastAttemptAt, tried.ResponseStatus, tried.ResponseTimeMs = domain.DeliveryRetrying, 1, &sent, 500, 40
	other := tried
	other.Subject, other.State, other.Attempts = "camp_1", domain.DeliveryDelivered, 2
	_, err = store.Apply(t.Context(), commit.Change{Puts: []domain.Record{&queued, &tried, &other}})
	require.NoError(t, err)
	n, lost := counts()
	assert.Equal(t, []uint64{8, 0}, []uint64{n, lost})
	all := c.spans(t)
	var names, faults []string
	for _, s := range all {
		names = append(names, s.Name)
		if s.Status != nil {
			assert.Equal(t, 2, s.Status.Code)
			faults = append(faults, s.Name+": "+s.Status.Message)
		}
		if s.Name != "webhook call.ended" || s.Status != nil {
			assert.Equal(t, all[0].Trace, s.Trace, s.Name)
		} else {
			assert.NotEqual(t, all[0].Trace, s.Trace, "of no call")
			assert.Empty(t, s.Parent)
		}
		if s.Name != "call outbound" && s.Trace == all[0].Trace {
			assert.Equal(t, all[0].ID, s.Parent, s.Name)
		}
	}
	assert.Equal(t, []string{"call outbound", "leg", "leg", "ringing", "talk", "turn", "webhook call.ended", "webhook call.ended"}, names)
	assert.Equal(t, []string{"leg: 503 Service Unavailable", "webhook call.ended: it answered 500"}, faults)
	assert.Equal(t, []string{"1894708800010000000", "1894708820000000000"}, []string{all[0].From, all[0].To})
	assert.Equal(t, []string{"1894708807000000000", "1894708807900000000"}, []string{all[5].From, all[5].To}, "a turn lies where it was in the talk")
	assert.NotEqual(t, all[1].ID, all[2].ID)
	assert.Empty(t, all[0].Parent)
	assert.Equal(t, ulid.MustParse(strings.TrimPrefix(callID, "call_")).Bytes(), must(hex.DecodeString(all[0].Trace)))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, secret := range []string{"2025550", "Ada"} {
		assert.NotContains(t, strings.Join(c.bodies, ""), secret)
	}
}

func must(b []byte, _ error) []byte { return b }

func TestOnlyWhatIsStoredIsTold(t *testing.T) {
	t.Parallel()
	c := newCollector(t, fine)
	store, counts := sender(t, c.URL, 1, errors.New("no"))
	_, change := aCall(callID)
	_, err := store.Apply(t.Context(), change)
	require.Error(t, err)
	_, change = aCall("call_of_another_shape")
	_, _ = store.Apply(t.Context(), change)
	n, lost := counts()
	assert.Equal(t, []uint64{0, 0, 0}, []uint64{n, lost, uint64(c.asked.Load())})
}

func TestAShareOfTracesIsKeptEachWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	c := newCollector(t, fine)
	store, counts := sender(t, c.URL, 0.25, nil)
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	calls := 0
	for _, a := range alphabet {
		for _, b := range alphabet[:4] { // behind the first 16 random bits
			_, change := aCall("call_01JZ3Y8Q5S6T7" + string(a) + string(b) + "8W9X0Y1Z2A3")
			_, err := store.Apply(t.Context(), change)
			require.NoError(t, err)
			calls++
		}
	}
	counts()
	whole := make(map[string]int)
	for _, s := range c.spans(t) {
		whole[s.Trace]++
	}
	assert.InDelta(t, float64(calls)/4, len(whole), float64(calls)/10)
	for trace, n := range whole {
		assert.Equal(t, 6, n, trace)
	}
}

func TestACollectorThatRefusesLosesSpansAndNothingElse(t *testing.T) {
	t.Parallel()
	c := newCollector(t, func(int64) int { return http.StatusBadRequest })
	store, counts := sender(t, c.URL, 1, nil)
	for range 2000 { // more than wait
		_, change := aCall(callID)
		_, err := store.Apply(t.Context(), change)
		require.NoError(t, err)
	}
	sent, lost := counts()
	assert.Equal(t, []uint64{0, 12000}, []uint64{sent, lost}, "each is counted")
}
