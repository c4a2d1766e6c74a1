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

// far is a service that answers as it is told and remembers what it was asked.
type far struct {
	*client.Client
	mu    sync.Mutex
	asked []string
}

func answering(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *far {
	t.Helper()
	f := &far{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		f.mu.Lock()
		f.asked = append(f.asked, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+string(body)))
		n := len(f.asked)
		f.mu.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(server.Close)
	f.Client = &client.Client{URL: server.URL + "/", Key: "svc_sk_test_x", HTTP: server.Client()}
	return f
}

func says(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func TestARequestCarriesTheCredentialAndTheAnswerIsRead(t *testing.T) {
	f := answering(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer svc_sk_test_x", r.Header.Get("Authorization"))
		says(w, 200, `{"id":"call_1","answered_at":null,"started_at":"2026-03-01T12:00:00Z","duration_seconds":7,"new_of_tomorrow":1}`)
	})
	c, err := f.GetCall(t.Context(), "call_1/../x?y")
	require.NoError(t, err)
	assert.Equal(t, []any{"call_1", int64(7), true}, []any{c.ID, c.DurationSeconds, c.AnsweredAt == nil})
	assert.Equal(t, []string{"GET /v1/calls/call_1%2F..%2Fx%3Fy"}, f.asked, "an id stays one part of the path")
}

func TestWhatIsLeftOutIsNotSentAndWhatIsZeroIs(t *testing.T) {
	f := answering(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 201, `{}`) })
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
	}, f.asked)
}

func TestARefusalIsAnErrorThatNamesTheField(t *testing.T) {
	const body = `{"success":false,"error":{"code":"validation_error","message":"Two things.","param":"to","details":[{"param":"to","code":"validation_error","message":"is no number"}],"request_id":"req_1"}}`
	f := answering(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			w.Header().Set("X-Request-Id", "req_2")
			http.Error(w, "a proxy's words", http.StatusBadGateway)
			return
		}
		says(w, 422, body)
	})
	_, err := f.PlaceCall(t.Context(), &client.NewCallRequest{To: "x"})
	var refusal *client.Error
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, client.Error{
		Status: 422, Code: "validation_error", Message: "Two things.", Param: "to", RequestID: "req_1", Body: []byte(body),
		Details: []client.Detail{{Param: "to", Code: "validation_error", Message: "is no number"}},
	}, *refusal)
	require.EqualError(t, err, "callboard: 422 validation_error: Two things.; to: is no number (req_1)")
	_, err = f.GetCall(t.Context(), "call_1")
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, []any{502, "req_2"}, []any{refusal.Status, refusal.RequestID})
}

func TestWhatIsRefusedForNowIsSentAgainAndTakesEffectOnce(t *testing.T) {
	var keys []string
	f := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if n < 3 {
			w.Header().Set("Retry-After", "0")
			says(w, 429, `{"error":{"code":"rate_limit_exceeded"}}`)
			return
		}
		says(w, 201, `{"id":"call_1"}`)
	})
	f.Retries = 2
	_, err := f.PlaceCall(t.Context(), &client.NewCallRequest{To: "+12025550123"})
	require.NoError(t, err)
	require.Len(t, keys, 3)
	assert.NotEmpty(t, keys[0])
	assert.Equal(t, []string{keys[0], keys[0], keys[0]}, keys)
	f.Retries = 0
	_, err = f.PlaceCall(t.Context(), &client.NewCallRequest{To: "+12025550123"}, client.WithIdempotencyKey("mine"))
	require.NoError(t, err)
	assert.Equal(t, "mine", keys[3])
}

func TestPagesAreWalkedToTheirEndAsOftenAsOneLikes(t *testing.T) {
	f := answering(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("cursor") {
		case "":
			says(w, 200, `{"data":[{"id":"call_1"},{"id":"call_2"}],"has_more":true,"next_cursor":"b"}`)
		case "b":
			says(w, 200, `{"data":[{"id":"call_3"}],"has_more":false,"next_cursor":null}`)
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
	assert.Len(t, f.asked, 5, "who leaves asks for no other page")
}

func TestFilesAndBodiesAreStreamed(t *testing.T) {
	f := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			assert.Equal(t, "text/csv", r.Header.Get("Content-Type"))
			says(w, 200, `{"contacts_summary":{"accepted":1}}`)
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

func TestEachEventComesOnceThoughTheStreamBreaks(t *testing.T) {
	told := func(w http.ResponseWriter, ids ...int) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "retry: 2000\n\n: still here\n\n")
		for _, id := range ids {
			text, err := json.Marshal(client.Event{ID: fmt.Sprint("evt_", id), Type: "call.ended", Data: json.RawMessage(`{"n":1}`)})
			if err != nil {
				t.Error(err)
			}
			_, _ = fmt.Fprintf(w, "id: evt_%d\ndata: %s\n\n", id, text)
		}
	}
	f := answering(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 1:
			told(w, 1, 2)
		case 2:
			told(w, 3)
			_, _ = io.WriteString(w, "id: evt_4\ndata: {\"id\":") // cut off
		case 3:
			says(w, 503, `{"error":{"code":"unavailable"}}`)
		case 4:
			told(w, 4)
		default:
			says(w, 401, `{"error":{"code":"expired_api_key"}}`)
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
	}, f.asked)
}
