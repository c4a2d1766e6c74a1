package spans_test

import (
	"context"
	"encoding/hex"
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
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/cmd/callboard/spans"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

var noon = time.Date(2030, 1, 15, 12, 0, 0, 0, time.UTC)

// fakeStore returns err for each commit.
type fakeStore struct {
	storecache.Backend
	err error
}

func (f fakeStore) Apply(context.Context, commit.Change) ([]event.Event, error) { return nil, f.err }

// collector is an OTLP collector that stores the export requests that it accepts.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	bodies   []string
	requests atomic.Int64
}

// newCollector starts a collector that answers the first request with the first handler, the second with the second,
// and so on. The last handler answers all further requests.
func newCollector(t *testing.T, handlers ...http.HandlerFunc) *collector {
	t.Helper()
	c := new(collector)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := min(int(c.requests.Add(1)), len(handlers))
		handlers[n-1](w, r)
		if n == len(handlers) && r.URL.Path == "/tenant/v1/traces" && r.Header.Get("Authorization") == "Bearer x" && r.Header.Get("Content-Type") == "application/x-protobuf" {
			c.mu.Lock()
			c.bodies = append(c.bodies, string(body))
			c.mu.Unlock()
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func accept(http.ResponseWriter, *http.Request) {}

func open(t *testing.T, url string, share float64) *spans.Recorder {
	t.Helper()
	r, err := spans.New(t.Context(), spans.Config{
		URL: url + "/tenant", Header: http.Header{"Authorization": {"Bearer x"}}, Share: share, Version: "1.2.3", Node: "one", Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return r
}

// record returns a store that creates spans and whose commits return err. The returned function closes the recorder
// and returns its span counts.
func record(t *testing.T, url string, share float64, err error) (storecache.Backend, func() (sent, lost uint64)) {
	t.Helper()
	r := open(t, url, share)
	return r.Store(fakeStore{err: err}), func() (uint64, uint64) {
		r.Close()
		return r.Counts()
	}
}

// endedCall returns a call for which six spans are expected, and the commit that ends the call.
func endedCall(id string) (*domain.Call, commit.Change) {
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

func (c *collector) spans(t *testing.T) (all []*tracepb.Span) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, body := range c.bodies {
		var r collectorpb.ExportTraceServiceRequest
		require.NoError(t, proto.Unmarshal([]byte(body), &r))
		for _, rs := range r.GetResourceSpans() {
			resource := make(map[string]string)
			for _, a := range rs.GetResource().GetAttributes() {
				resource[a.GetKey()] = a.GetValue().GetStringValue()
			}
			require.Equal(t, map[string]string{"service.name": "callboard", "service.version": "1.2.3", "service.instance.id": "one"}, resource)
			for _, ss := range rs.GetScopeSpans() {
				require.Equal(t, "callboard", ss.GetScope().GetName())
				all = append(all, ss.GetSpans()...)
			}
		}
	}
	return all
}

// attributes returns the attributes of a span by name.
func attributes(s *tracepb.Span) map[string]any {
	all := make(map[string]any)
	for _, a := range s.GetAttributes() {
		if a.GetValue().GetStringValue() != "" {
			all[a.GetKey()] = a.GetValue().GetStringValue()
		} else {
			all[a.GetKey()] = a.GetValue().GetIntValue()
		}
	}
	return all
}

func TestCallAndDeliveryOfItsEventAreOneTrace(t *testing.T) {
	t.Parallel()
	c := newCollector(t, accept)
	store, closed := record(t, c.URL, 1, nil)
	call, change := endedCall(callID)
	_, err := store.Apply(t.Context(), change)
	require.NoError(t, err)
	running := *call
	_, err = store.Apply(t.Context(), commit.Change{Puts: []domain.Record{&running}})
	require.NoError(t, err, "a call row without the end of the call is no span")
	attempted := noon.Add(21 * time.Second)
	queued := domain.Delivery{WebhookID: "wh_1", EventID: eventID, EventType: "call.ended", Subject: callID, State: domain.DeliveryQueued}
	failed := queued
	failed.State, failed.Attempts, failed.LastAttemptAt, failed.ResponseStatus, failed.ResponseTimeMs = domain.DeliveryRetrying, 1, &attempted, 500, 40
	other := failed
	other.Subject, other.State, other.Attempts = "camp_1", domain.DeliveryDelivered, 2
	_, err = store.Apply(t.Context(), commit.Change{Puts: []domain.Record{&queued, &failed, &other}})
	require.NoError(t, err)
	sent, lost := closed()
	assert.Equal(t, []uint64{8, 0}, []uint64{sent, lost})
	all := c.spans(t)
	require.Len(t, all, 8)
	var names, failures, kinds []string
	for _, s := range all[:7] {
		names, kinds = append(names, s.GetName()), append(kinds, strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_"))
		assert.Equal(t, hex.EncodeToString(all[0].GetTraceId()), hex.EncodeToString(s.GetTraceId()), s.GetName())
		if s != all[0] {
			assert.Equal(t, hex.EncodeToString(all[0].GetSpanId()), hex.EncodeToString(s.GetParentSpanId()), s.GetName())
		}
		if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			failures = append(failures, s.GetName()+": "+s.GetStatus().GetMessage())
		}
	}
	assert.Equal(t, []string{"call outbound", "leg", "leg", "ringing", "talk", "turn", "webhook call.ended"}, names)
	assert.Equal(t, []string{"CLIENT", "CLIENT", "CLIENT", "INTERNAL", "INTERNAL", "INTERNAL", "CLIENT"}, kinds)
	assert.Equal(t, []string{"leg: 503 Service Unavailable", "webhook call.ended: the receiver answered 500"}, failures)
	assert.Equal(t, ulid.MustParse(strings.TrimPrefix(callID, "call_")).Bytes(), all[0].GetTraceId())
	assert.Empty(t, all[0].GetParentSpanId())
	assert.Equal(t, []uint64{1894708800010000000, 1894708820000000000}, []uint64{all[0].GetStartTimeUnixNano(), all[0].GetEndTimeUnixNano()})
	assert.Equal(t, []uint64{1894708807000000000, 1894708807900000000}, []uint64{all[5].GetStartTimeUnixNano(), all[5].GetEndTimeUnixNano()}, "turns are children of the conversation")
	assert.NotEqual(t, all[1].GetSpanId(), all[2].GetSpanId())
	assert.NotEqual(t, all[0].GetTraceId(), all[7].GetTraceId(), "the event is not about a call")
	assert.Empty(t, all[7].GetParentSpanId())
	assert.Equal(t, map[string]any{
		"callboard.trunk_id": "trunk_b", "network.peer.address": "192.0.2.2:5060;udp", "sip.status_code": int64(200), "callboard.pdd_ms": int64(140),
	}, attributes(all[2]))
	assert.Equal(t, map[string]any{"callboard.codec": "PCMU", "callboard.mos": "4.31"}, attributes(all[4]))
	assert.Equal(t, map[string]any{
		"callboard.call_id": callID, "callboard.workspace_id": "ws_1", "callboard.environment": "live",
		"callboard.disposition": "confirmed", "callboard.ended_reason": "completed",
	}, attributes(all[0]))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, secret := range []string{"2025550", "Ada"} {
		assert.NotContains(t, strings.Join(c.bodies, ""), secret)
	}
}

func TestCallOfATracedRequestIsAChildOfItsSpan(t *testing.T) {
	t.Parallel()
	const trace, caller = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for flags, traces := range map[string]int{"00": 0, "01": 1} {
		for _, share := range []float64{0, 1} { // the sampled flag of the request decides
			c := newCollector(t, accept)
			store, closed := record(t, c.URL, share, nil)
			call, change := endedCall(callID)
			call.TraceParent = "00-" + trace + "-" + caller + "-" + flags
			attempted := noon
			change.Puts = append(change.Puts,
				&domain.Delivery{WebhookID: "wh_1", EventID: eventID, EventType: "call.ended", Subject: callID, LastAttemptAt: &attempted, TraceParent: call.TraceParent},
				&domain.Delivery{WebhookID: "wh_1", EventID: eventID, EventType: "sms.sent", Subject: "msg_1", LastAttemptAt: &attempted, TraceParent: call.TraceParent})
			_, err := store.Apply(t.Context(), change)
			require.NoError(t, err)
			closed()
			all := c.spans(t)
			require.Len(t, all, 8*traces, "%s %v", flags, share)
			for _, s := range all {
				assert.Equal(t, trace, hex.EncodeToString(s.GetTraceId()))
				parent := hex.EncodeToString(all[0].GetSpanId())
				if s == all[0] || s == all[7] { // the call and the delivery of a message event
					parent = caller
				}
				assert.Equal(t, parent, hex.EncodeToString(s.GetParentSpanId()), s.GetName())
			}
		}
	}
}

func TestSpanIDsAreDeterministic(t *testing.T) {
	t.Parallel()
	var ids []string
	for range 2 {
		c := newCollector(t, accept)
		store, closed := record(t, c.URL, 1, nil)
		_, change := endedCall(callID)
		_, err := store.Apply(t.Context(), change)
		require.NoError(t, err)
		closed()
		for _, s := range c.spans(t) {
			ids = append(ids, hex.EncodeToString(s.GetSpanId()))
		}
	}
	require.Len(t, ids, 12)
	assert.Equal(t, ids[:6], ids[6:])
	assert.Equal(t, []string{"f7507d7171be40cf", "af3c1eabb1b69793", "af38b8abb1b3b46a", "c717a37eefe35567", "99fd00917691e685", "03fe40130bb68b74"}, ids[:6])
}

func TestOnlyCommittedCallsHaveSpans(t *testing.T) {
	t.Parallel()
	c := newCollector(t, accept)
	store, closed := record(t, c.URL, 1, errors.New("no"))
	_, change := endedCall(callID)
	_, err := store.Apply(t.Context(), change)
	require.Error(t, err)
	_, change = endedCall("call_of_another_shape")
	_, _ = store.Apply(t.Context(), change)
	sent, lost := closed()
	assert.Equal(t, []uint64{0, 0, 0}, []uint64{sent, lost, uint64(c.requests.Load())})
}

func TestShareKeepsWholeTraces(t *testing.T) {
	t.Parallel()
	c := newCollector(t, accept)
	store, closed := record(t, c.URL, 0.25, nil)
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	attempted, calls := noon, 0
	for _, a := range alphabet {
		for _, b := range alphabet[:4] { // after the first 16 random bits
			id := "call_01JZ3Y8Q5S6T7" + string(a) + string(b) + "8W9X0Y1Z2A3"
			_, change := endedCall(id)
			change.Puts = append(change.Puts, &domain.Delivery{WebhookID: "wh_1", EventID: eventID, EventType: "call.ended", Subject: id, State: domain.DeliveryDelivered, LastAttemptAt: &attempted})
			_, err := store.Apply(t.Context(), change)
			require.NoError(t, err)
			calls++
		}
	}
	closed()
	perTrace := make(map[string]int)
	for _, s := range c.spans(t) {
		perTrace[hex.EncodeToString(s.GetTraceId())]++
	}
	assert.InDelta(t, float64(calls)/4, len(perTrace), float64(calls)/10)
	for id, n := range perTrace {
		assert.Equal(t, 7, n, id)
	}
}

func TestSpansThatTheCollectorRefusesAreCounted(t *testing.T) {
	t.Parallel()
	c := newCollector(t, status(http.StatusBadRequest))
	store, closed := record(t, c.URL, 1, nil)
	for range 2000 { // more than the queue holds
		_, change := endedCall(callID)
		_, err := store.Apply(t.Context(), change)
		require.NoError(t, err)
	}
	sent, lost := closed()
	assert.Equal(t, []uint64{0, 12000}, []uint64{sent, lost}, "each span is counted")
}

func TestExportIsRetried(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{
		"429": status(http.StatusTooManyRequests), "500": status(http.StatusInternalServerError), "503": status(http.StatusServiceUnavailable),
		"connection closed": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t, fail, accept)
			store, closed := record(t, c.URL, 1, nil)
			_, change := endedCall(callID)
			_, err := store.Apply(t.Context(), change)
			require.NoError(t, err)
			sent, lost := closed()
			assert.Equal(t, []uint64{6, 0}, []uint64{sent, lost})
			assert.Len(t, c.spans(t), 6)
		})
	}
}

func TestRedirectOfTheCollectorIsNotFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	t.Cleanup(other.Close)
	c := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(c.Close)
	store, closed := record(t, c.URL, 1, nil)
	_, change := endedCall(callID)
	_, err := store.Apply(t.Context(), change)
	require.NoError(t, err)
	sent, lost := closed()
	assert.Equal(t, []uint64{0, 6}, []uint64{sent, lost})
	assert.Zero(t, followed.Load())
}

// A collector that accepts connections but never answers must not delay a commit. It must delay the shutdown by at most
// the time limit of Close.
func TestHangingCollectorDelaysNoCommit(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(release) })
	r := open(t, hanging.URL, 1)
	store := r.Store(fakeStore{})
	committed := make(chan struct{})
	go func() {
		defer close(committed)
		for range 2000 {
			_, change := endedCall(callID)
			_, _ = store.Apply(t.Context(), change)
		}
	}()
	select {
	case <-committed:
	case <-time.After(8 * time.Second): // less than the limit of one request
		t.Fatal("a commit waits for the collector")
	}
	_, lost := r.Counts()
	assert.Equal(t, uint64(12000-4096), lost, "the queue is full")
	begun := time.Now()
	r.Close()
	sent, lost := r.Counts()
	assert.Less(t, time.Since(begun), 20*time.Second)
	assert.Equal(t, []uint64{0, 12000}, []uint64{sent, lost}, "each span is counted")
}
