package client_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/client"
)

// testService is a client together with the test server that it uses. The server records the requests.
type testService struct {
	*client.Client
	mu       sync.Mutex
	requests []string // method, URL and body of each request
}

// newTestService starts a test server. respond answers the n-th request; the first request has n 1.
func newTestService(t *testing.T, respond func(n int, w http.ResponseWriter, r *http.Request)) *testService {
	t.Helper()
	f := &testService{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		f.mu.Lock()
		f.requests = append(f.requests, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+string(body)))
		n := len(f.requests)
		f.mu.Unlock()
		respond(n, w, r)
	}))
	t.Cleanup(server.Close)
	f.Client = &client.Client{URL: server.URL + "/", Key: "svc_sk_test_x", HTTP: server.Client()}
	return f
}

// respondJSON sends a JSON response.
func respondJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func TestRequestHasCredentialAndResponseIsDecoded(t *testing.T) {
	f := newTestService(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer svc_sk_test_x", r.Header.Get("Authorization"))
		respondJSON(w, 200, `{"id":"call_1","answered_at":null,"started_at":"2026-03-01T12:00:00Z","duration_seconds":7,"new_of_tomorrow":1}`)
	})
	c, err := f.GetCall(t.Context(), "call_1/../x?y")
	require.NoError(t, err)
	assert.Equal(t, []any{"call_1", int64(7), true}, []any{c.ID, c.DurationSeconds, c.AnsweredAt == nil})
	assert.Equal(t, []string{"GET /v1/calls/call_1%2F..%2Fx%3Fy"}, f.requests, "an id is one path segment")
}

func TestNilFieldsAreOmittedAndZeroValuesAreSent(t *testing.T) {
	f := newTestService(t, func(_ int, w http.ResponseWriter, _ *http.Request) { respondJSON(w, 201, `{}`) })
	_, err := f.CreateCampaign(t.Context(), &client.NewCampaign{Name: "c", AutoComplete: new(false), Metadata: map[string]string{}})
	require.NoError(t, err)
	_, err = f.UpdateKey(t.Context(), "key_1", &client.KeyChange{AllowedIPs: []string{}})
	require.NoError(t, err)
	_, err = f.CancelCampaign(t.Context(), "campaign_1", nil)
	require.NoError(t, err)
	_, err = f.ListCalls(t.Context(), client.ListCallsQuery{Limit: 5, CreatedAfter: time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC), CampaignID: "c&d"})
	require.NoError(t, err)
	assert.Equal(t, []string{
		`POST /v1/campaigns {"auto_complete":false,"metadata":{},"name":"c"}`,
		`PUT /v1/api-keys/key_1 {"allowed_ips":[]}`,
		`POST /v1/campaigns/campaign_1/cancel`,
		`GET /v1/calls?campaign_id=c%26d&created_after=2026-03-01T12%3A00%3A00.005Z&limit=5`,
	}, f.requests)
}

func TestErrorResponseIsErrorWithFieldAndRequestID(t *testing.T) {
	const body = `{"success":false,"error":{"code":"validation_error","message":"Two things.","param":"to","details":[{"param":"to","code":"validation_error","message":"is not a number"}],"request_id":"req_1"}}`
	f := newTestService(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			w.Header().Set("X-Request-Id", "req_2")
			http.Error(w, "an error of a proxy", http.StatusBadGateway)
			return
		}
		respondJSON(w, 422, body)
	})
	_, err := f.PlaceCall(t.Context(), &client.NewCallRequest{To: "x"})
	var refusal *client.Error
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, client.Error{
		Status: 422, Code: "validation_error", Message: "Two things.", Param: "to", RequestID: "req_1", Body: []byte(body),
		Details: []client.Detail{{Param: "to", Code: "validation_error", Message: "is not a number"}},
	}, *refusal)
	require.EqualError(t, err, "callboard: 422 validation_error: Two things.; to: is not a number (req_1)")
	_, err = f.GetCall(t.Context(), "call_1")
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, []any{502, "req_2"}, []any{refusal.Status, refusal.RequestID})
}

func TestTemporaryErrorIsRetriedWithSameIdempotencyKey(t *testing.T) {
	var keys []string
	f := newTestService(t, func(n int, w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if n < 3 {
			w.Header().Set("Retry-After", "0")
			respondJSON(w, 429, `{"error":{"code":"rate_limit_exceeded"}}`)
			return
		}
		respondJSON(w, 201, `{"id":"call_1"}`)
	})
	f.Retries = 2
	_, err := f.PlaceCall(t.Context(), &client.NewCallRequest{To: "+12025550123"})
	require.NoError(t, err)
	require.Len(t, keys, 3)
	assert.NotEmpty(t, keys[0])
	assert.Equal(t, []string{keys[0], keys[0], keys[0]}, keys)
	f.Retries = 0
	_, err = f.PlaceCall(t.Context(), &client.NewCallRequest{To: "+12025550123"}, client.WithIdempotencyKey("own key"))
	require.NoError(t, err)
	assert.Equal(t, "own key", keys[3])
}

func TestAllPagesAreReadByEachIteration(t *testing.T) {
	f := newTestService(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("cursor") {
		case "":
			respondJSON(w, 200, `{"data":[{"id":"call_1"},{"id":"call_2"}],"has_more":true,"next_cursor":"b"}`)
		case "b":
			respondJSON(w, 200, `{"data":[{"id":"call_3"}],"has_more":false,"next_cursor":null}`)
		}
	})
	all := f.AllCalls(t.Context(), client.ListCallsQuery{})
	for range 2 {
		var ids []string
		for c, err := range all {
			require.NoError(t, err)
			ids = append(ids, c.ID)
		}
		assert.Equal(t, []string{"call_1", "call_2", "call_3"}, ids)
	}
	for _, err := range all {
		require.NoError(t, err)
		break
	}
	assert.Len(t, f.requests, 5, "an iteration that stops requests no further page")
}

func TestUploadsAndDownloadsAreStreamed(t *testing.T) {
	f := newTestService(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			assert.Equal(t, "text/csv", r.Header.Get("Content-Type"))
			respondJSON(w, 200, `{"contacts_summary":{"accepted":1}}`)
			return
		}
		assert.Equal(t, "bytes=0-3", r.Header.Get("Range"))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = io.WriteString(w, "RIFF")
	})
	up, err := f.AddContactsFrom(t.Context(), "campaign_1", client.AddContactsQuery{PhoneColumn: "phone"}, "text/csv", strings.NewReader("phone\n+12025550123\n"))
	require.NoError(t, err)
	assert.Equal(t, int64(1), up.ContactsSummary.Accepted)
	resp, err := f.GetRecording(t.Context(), "call_1", client.WithHeader("Range", "bytes=0-3"))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "RIFF", string(text))
}

func TestEventsResumeWithoutDuplicatesAfterStreamEnds(t *testing.T) {
	writeEvents := func(w http.ResponseWriter, ids ...int) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "retry: 2000\n\n: heartbeat\n\n")
		for _, id := range ids {
			text, err := json.Marshal(client.Event{ID: fmt.Sprint("evt_", id), Type: "call.ended", Data: json.RawMessage(`{"n":1}`)})
			if err != nil {
				t.Error(err)
			}
			_, _ = fmt.Fprintf(w, "id: evt_%d\ndata: %s\n\n", id, text)
		}
	}
	f := newTestService(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 1:
			writeEvents(w, 1, 2)
		case 2:
			writeEvents(w, 3)
			_, _ = io.WriteString(w, "id: evt_4\ndata: {\"id\":") // cut off
		case 3:
			respondJSON(w, 503, `{"error":{"code":"unavailable"}}`)
		case 4:
			writeEvents(w, 4)
		default:
			respondJSON(w, 401, `{"error":{"code":"expired_api_key"}}`)
		}
	})
	f.HTTP.Timeout = time.Minute
	var ids []string
	var last error
	for e, err := range f.Events(t.Context(), client.StreamEventsQuery{Type: "call.*"}) {
		if last = err; err == nil {
			ids = append(ids, e.ID)
		}
	}
	assert.Equal(t, []string{"evt_1", "evt_2", "evt_3", "evt_4"}, ids)
	var refusal *client.Error
	require.ErrorAs(t, last, &refusal)
	assert.Equal(t, "expired_api_key", refusal.Code)
	stream := "GET /v1/events/stream?"
	assert.Equal(t, []string{
		stream + "type=call.%2A", stream + "after=evt_2&type=call.%2A", stream + "after=evt_3&type=call.%2A", stream + "after=evt_3&type=call.%2A", stream + "after=evt_4&type=call.%2A",
	}, f.requests)
}
