package httpapi_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/live"
	"github.com/callboard/callboard/service/calls"
)

// fakeCallers is the fake service for calls from a browser. It records the requests and the received audio.
type fakeCallers struct {
	mu         sync.Mutex
	request    calls.BrowserCallRequest
	events     calls.BrowserCallEvents
	audio      []byte
	pressed    string
	leaveCount int
	err        error
}

func (f *fakeServices) StartBrowserCall(_ context.Context, _ domain.Principal, o calls.BrowserCallRequest, events calls.BrowserCallEvents) (calls.BrowserCall, error) {
	b := &f.callers
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return calls.BrowserCall{}, b.err
	}
	b.request, b.events = o, events
	locked := func(do func()) {
		b.mu.Lock()
		defer b.mu.Unlock()
		do()
	}
	return calls.BrowserCall{
		CallID: "call_" + ulidOf(7), Say: func(mu []byte) { locked(func() { b.audio = append(b.audio, mu...) }) },
		Press: func(keys string) { locked(func() { b.pressed += keys }) }, Leave: func() { locked(func() { b.leaveCount++ }) },
	}, nil
}

func (b *fakeCallers) state() (said, pressed string, left int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.audio), b.pressed, b.leaveCount
}

func TestBrowserCallCarriesAudioTranscriptAndKeys(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	agent := d.create("/v1/agents", m{"name": "Reception", "first_message": "Hello."})
	d.takeAuditEntries()
	ws, _, err := d.openSocket("/v1/agents/"+agent+"/talk?from=+12025550177", "calls:write")
	require.NoError(t, err)
	assert.Equal(t, calls.BrowserCallRequest{AgentID: agent, From: "+12025550177"}, d.callers.request)
	_, hello := nextMessage(t, ws)
	assert.JSONEq(t, `{"type":"hello","call_id":"call_`+ulidOf(7)+`","format":{"encoding":"mulaw","rate":8000,"channels":1,"frame_ms":20}}`, string(hello))
	h := d.callers.events
	h.State(domain.CallInProgress)
	h.Segment(domain.Segment{Speaker: "agent", Text: "Hello.", Confidence: 1})
	h.Key('5')
	texts := []string{}
	for len(texts) < 3 {
		kind, b := nextMessage(t, ws)
		require.Equal(t, websocket.MessageText, kind)
		texts = append(texts, string(b))
	}
	assert.JSONEq(t, `{"type":"state","status":"in_progress"}`, texts[0])
	var note live.TalkNote
	require.NoError(t, json.Unmarshal([]byte(texts[1]), &note))
	assert.Equal(t, "transcript Hello.", note.Type+" "+note.Segment.Text)
	assert.JSONEq(t, `{"type":"dtmf","digits":"5"}`, texts[2])
	h.Sound([]byte(strings.Repeat("x", calls.ListenFrame)))
	kind, b := nextMessage(t, ws)
	assert.Equal(t, websocket.MessageBinary, kind)
	assert.Len(t, b, calls.ListenFrame)

	require.NoError(t, ws.Write(t.Context(), websocket.MessageBinary, []byte("hello")))
	require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"dtmf","digits":"12#"}`)))
	require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"hangup"}`)))
	require.Eventually(t, func() bool {
		said, pressed, left := d.callers.state()
		return said == "hello" && pressed == "12#" && left == 1
	}, time.Minute, time.Millisecond)
	h.Segment(domain.Segment{Index: 1, Speaker: "agent", Text: "Bye."})
	h.Sound(nil)
	_, b = nextMessage(t, ws)
	assert.Contains(t, string(b), "Bye.", "the last sentence arrives before the end")
	_, b = nextMessage(t, ws)
	assert.JSONEq(t, `{"type":"ended"}`, string(b))
	assert.Contains(t, d.takeAuditEntries(), "admin agent.talked_to key_calls:write "+agent+" false ")
}

func TestBrowserCallEndsOnInvalidMessages(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/agents/" + d.create("/v1/agents", m{"name": "Reception", "first_message": "Hello."}) + "/talk"
	for i, text := range []string{`[]`, `{`, `{"type":"shout"}`, `{"type":"dtmf"}`, `{"type":"dtmf","digits":"x"}`, `{"type":"dtmf","digits":"` + strings.Repeat("1", 33) + `"}`, strings.Repeat("x", 5000)} {
		ws, _, err := d.openSocket(path, "operator")
		require.NoError(t, err)
		_, _ = nextMessage(t, ws)
		require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte(text)))
		_, _, err = ws.Read(t.Context())
		want := websocket.StatusPolicyViolation
		if len(text) > 4096 {
			want = websocket.StatusMessageTooBig
		}
		assert.Equal(t, want, websocket.CloseStatus(err), text)
		require.Eventually(t, func() bool { _, _, left := d.callers.state(); return left == i+1 }, time.Minute, time.Millisecond, "the call ends when the socket closes")
	}
	ws, _, err := d.openSocket(path, "operator")
	require.NoError(t, err)
	_, _ = nextMessage(t, ws)
	for range 200_000 {
		d.callers.events.Key('1')
	}
	require.Eventually(t, func() bool { _, _, left := d.callers.state(); return left == 8 }, time.Minute, time.Millisecond, "a client that does not read is disconnected")

	for name, c := range map[string]struct {
		path, key string
		status    int
	}{
		"no key":   {path, "", 401},
		"no right": {path, "calls:read", 403},
		"no id":    {"/v1/agents/x/talk", "operator", 404},
		"no agent": {"/v1/agents/agent_01J9999999ZZZZZZZZZZZZZZZZ/talk", "operator", 404},
		"no phone": {path + "?from=me", "operator", 422},
	} {
		_, status, err := d.openSocket(c.path, c.key)
		require.Error(t, err, name)
		assert.Equal(t, c.status, status, name)
	}
	d.callers.err = domain.Errorf(domain.CodeConcurrentLimit, "Full.")
	_, status, err := d.openSocket(path, "operator")
	require.Error(t, err)
	assert.Equal(t, 429, status)
}

func TestTalkPageLoadsOnlyItsOwnScript(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: "https://calls.example.com"})
	page := d.must(200, "GET", "/talk", "", nil)
	policy := page.Header.Get("Content-Security-Policy")
	assert.Contains(t, policy, "default-src 'none'")
	assert.Contains(t, policy, "script-src 'self'; connect-src 'self'")
	assert.NotContains(t, policy, "unsafe")
	assert.NotContains(t, string(page.Body), "https://")
	assert.Equal(t, "text/javascript; charset=utf-8", d.must(200, "GET", "/talk.js", "", nil).Header.Get("Content-Type"))
	at := d.must(201, "POST", "/v1/tickets", "operator", m{"path": "/v1/agents/" + d.create("/v1/agents", m{"name": "Reception", "first_message": "Hello."}) + "/talk"}).json(t)["url"].(string)
	ws, _, err := d.openSocket(strings.TrimPrefix(at, "https://calls.example.com"), "", "Origin", "https://calls.example.com")
	require.NoError(t, err)
	_, hello := nextMessage(t, ws)
	assert.Contains(t, string(hello), `"hello"`)
}
