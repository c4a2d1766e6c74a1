package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/live"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

// fakeListeners is the fake service for the audio of live calls. It records the audio that the listener sends.
type fakeListeners struct {
	mu         sync.Mutex
	full       bool
	out        func([]byte)
	mode       calls.ListenMode
	audio      []byte
	leaveCount int
	paused     map[string]bool
}

func (f *fakeServices) ListenCall(_ context.Context, _ domain.Principal, id string, mode calls.ListenMode, out func([]byte)) (calls.LiveAudio, error) {
	if _, err := f.calls.get(id); err != nil {
		return calls.LiveAudio{}, err
	}
	s := &f.listeners
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return calls.LiveAudio{}, domain.Errorf(domain.CodeConcurrentLimit, "Full.")
	}
	s.out, s.mode = out, mode
	return calls.LiveAudio{
		Say: func(mu []byte) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.audio = append(s.audio, mu...)
		},
		Leave: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.leaveCount++
		},
	}, nil
}

// sendFrame sends an audio frame to the listener. Without bytes it reports the end of the call.
func (s *fakeListeners) sendFrame(b ...byte) {
	s.mu.Lock()
	out := s.out
	s.mu.Unlock()
	if len(b) == 0 {
		out(nil)
		return
	}
	out(bytes.Repeat(b, calls.ListenFrame))
}

func (s *fakeListeners) leaves() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaveCount
}

func (s *fakeListeners) receivedAudio() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.audio)
}

func (f *fakeServices) SetRecordingPaused(_ context.Context, _ domain.Principal, id string, paused bool) error {
	if _, err := f.calls.get(id); err != nil {
		return err
	}
	f.listeners.mu.Lock()
	defer f.listeners.mu.Unlock()
	f.listeners.paused = map[string]bool{id: paused}
	return nil
}

type bytesReadCloser struct{ *bytes.Reader }

func (bytesReadCloser) Close() error { return nil }

func (f *fakeServices) Recording(_ context.Context, _ domain.Principal, id string) (record.Download, error) {
	c, err := f.calls.get(id)
	if err != nil {
		return record.Download{}, err
	}
	if c.Processing {
		return record.Download{}, domain.Errorf(domain.CodeProcessing, "Still to come.")
	}
	return record.Download{Size: int64(len(f.wav)), Body: bytesReadCloser{bytes.NewReader(f.wav)}}, nil
}

func (f *fakeServices) CreateRecordingLink(_ context.Context, _ domain.Principal, id string, until time.Time) (string, error) {
	c, err := f.calls.get(id)
	if err == nil && c.Processing {
		err = domain.Errorf(domain.CodeProcessing, "Still to come.")
	}
	return "good&" + until.Format(time.RFC3339), err
}

func (f *fakeServices) AuthenticateRecordingLink(_ context.Context, id, token string) (domain.Principal, error) {
	if _, err := f.calls.get(id); err != nil {
		return domain.Principal{}, err
	}
	if !strings.HasPrefix(token, "good&") {
		return domain.Principal{}, domain.Errorf(domain.CodeInvalidLink, "Bad.")
	}
	return domain.Principal{WorkspaceID: f.workspace.ID, Environment: domain.Live}, nil
}

func (d *testServer) createCall() string {
	return d.create("/v1/calls/outbound", m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)})
}

// openSocket opens a WebSocket. status is the status of the HTTP response. headers are pairs of names and values.
func (d *testServer) openSocket(path, key string, headers ...string) (ws *websocket.Conn, status int, err error) {
	d.t.Helper()
	h := http.Header{}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	ws, res, err := websocket.Dial(ctx, "ws://"+d.addr+path, &websocket.DialOptions{HTTPHeader: h}) //nolint:bodyclose // ws owns the connection
	if err == nil {
		d.t.Cleanup(func() { _ = ws.CloseNow() })
	}
	if res != nil {
		status = res.StatusCode
	}
	return ws, status, err
}

// nextMessage reads the next WebSocket message. It fails the test if there is none.
func nextMessage(t *testing.T, ws *websocket.Conn) (websocket.MessageType, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	kind, b, err := ws.Read(ctx)
	require.NoError(t, err)
	return kind, b
}

func TestListenSocketSendsHelloAndCarriesAudioBothWays(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.createCall()
	d.takeAuditEntries()
	ws, status, err := d.openSocket("/v1/calls/"+id+"/listen?mode=whisper", "operator")
	require.NoError(t, err)
	assert.Equal(t, http.StatusSwitchingProtocols, status)
	kind, hello := nextMessage(t, ws)
	assert.Equal(t, websocket.MessageText, kind)
	var got live.ListenHello
	require.NoError(t, json.Unmarshal(hello, &got))
	assert.Equal(t, live.ListenHello{
		Type: "hello", CallID: id, Mode: calls.Whisper, Format: live.ListenFormat{Encoding: "mulaw", Rate: 8000, Channels: 1, FrameMs: 20},
	}, got)
	assert.Equal(t, calls.Whisper, d.listeners.mode)
	for i := range byte(20) {
		d.listeners.sendFrame('a' + i)
	}
	for i := range byte(20) {
		kind, b := nextMessage(t, ws)
		assert.Equal(t, websocket.MessageBinary, kind)
		assert.Equal(t, bytes.Repeat([]byte{'a' + i}, 160), b)
	}
	require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte("no sound")))
	require.NoError(t, ws.Write(t.Context(), websocket.MessageBinary, []byte("psst")))
	require.Eventually(t, func() bool { return d.listeners.receivedAudio() == "psst" }, time.Minute, time.Millisecond)
	d.listeners.sendFrame('z')
	d.listeners.sendFrame()
	_, last := nextMessage(t, ws)
	assert.Equal(t, byte('z'), last[0])
	kind, ended := nextMessage(t, ws)
	assert.Equal(t, websocket.MessageText, kind)
	assert.JSONEq(t, `{"type":"ended"}`, string(ended))
	_, _, err = ws.Read(t.Context())
	assert.Equal(t, websocket.StatusNormalClosure, websocket.CloseStatus(err))
	require.Eventually(t, func() bool { return d.listeners.leaves() == 1 }, time.Minute, time.Millisecond)
	assert.Equal(t, []string{"auth api_key.used key_operator  false ", "admin call.listened key_operator " + id + " false "}, d.takeAuditEntries())
}

func TestListenWithoutPermissionIsRefusedBeforeUpgrade(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.createCall()
	path := "/v1/calls/" + id + "/listen"
	for name, c := range map[string]struct {
		path, key, header, value string
		status                   int
	}{
		"no key":                    {path, "", "", "", 401},
		"no permission":             {path, "calls:read", "", "", 403},
		"request of a browser page": {path, "operator", "Origin", "https://example.com", 403},
		"unknown call":              {"/v1/calls/call_01J9999999ZZZZZZZZZZZZZZZZ/listen", "operator", "", "", 404},
		"unknown mode":              {path + "?mode=shout", "operator", "", "", 422},
		"invalid ticket":            {path + "?ticket=AAAA", "", "", "", 401},
	} {
		headers := []string{}
		if c.header != "" {
			headers = append(headers, c.header, c.value)
		}
		_, status, err := d.openSocket(c.path, c.key, headers...)
		require.Error(t, err, name)
		assert.Equal(t, c.status, status, name)
	}
	d.listeners.full = true
	_, status, err := d.openSocket(path, "operator")
	require.Error(t, err)
	assert.Equal(t, http.StatusTooManyRequests, status)
	r := d.must(http.StatusUpgradeRequired, "GET", path, "operator", nil)
	assert.Equal(t, "websocket", r.Header.Get("Upgrade"))
	assert.Equal(t, "upgrade_required", r.failure(t)["code"])
}

func TestListenSocketEndsWhenCredentialIsRevoked(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	path := "/v1/calls/" + d.createCall() + "/listen?mode=whisper"
	token := d.userToken("ada", "calls:read", "calls:write")
	sockets := make(map[string]*websocket.Conn)
	for name, key := range map[string]string{"key": "all", "JWT": token, "other key": "calls:write"} {
		ws, _, err := d.openSocket(path, key)
		require.NoError(t, err, name)
		nextMessage(t, ws)
		sockets[name] = ws
	}
	d.revoke("all")
	d.mu.Lock()
	d.revokedKeys = map[string]bool{"key_operator": true} // revokes the key of the JWT
	d.mu.Unlock()
	for _, name := range []string{"key", "JWT"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, _, err := sockets[name].Read(ctx)
		assert.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err), name)
	}
	require.Eventually(t, func() bool { return d.listeners.leaves() == 2 }, time.Minute, time.Millisecond)
	require.NoError(t, sockets["other key"].Write(t.Context(), websocket.MessageBinary, []byte("on")))
	require.Eventually(t, func() bool { return d.listeners.receivedAudio() == "on" }, time.Minute, time.Millisecond)
}

func TestTicketOpensListenSocketOnceForItsPath(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: "https://calls.example.com"})
	id := d.createCall()
	path := "/v1/calls/" + id + "/listen?mode=barge"
	buy := func(key string) string {
		r := d.must(201, "POST", "/v1/tickets", key, m{"path": path}).json(t)
		until, err := time.Parse(time.RFC3339, r["expires_at"].(string))
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now().Add(time.Minute), until, 10*time.Second)
		at, ok := strings.CutPrefix(r["url"].(string), "https://calls.example.com")
		require.True(t, ok)
		return at
	}
	at := buy("operator")
	ws, _, err := d.openSocket(at, "", "Origin", "https://dashboard.example.com")
	require.NoError(t, err)
	_, hello := nextMessage(t, ws)
	assert.Contains(t, string(hello), `"mode":"barge"`)
	_, status, err := d.openSocket(at, "")
	require.Error(t, err)
	assert.Equal(t, 401, status, "once")
	for _, other := range []string{
		strings.Replace(buy("operator"), "barge", "listen", 1),
		strings.Replace(buy("operator"), id, d.createCall(), 1),
		buy("operator") + "x",
	} {
		_, status, err = d.openSocket(other, "")
		require.Error(t, err)
		assert.Equal(t, 401, status, "the ticket is for this path only")
	}
	_, status, err = d.openSocket(buy("analytics:read"), "")
	require.Error(t, err)
	assert.Equal(t, 403, status, "the ticket has the permissions of its creator")
	at = buy("all")
	delete(d.keys, "all")
	_, status, err = d.openSocket(at, "")
	require.Error(t, err)
	assert.Equal(t, 401, status, "the tickets of a revoked key are invalid")
	for _, bad := range []string{"", "/v1/calls", "/v1/calls/" + id + "/recording", "https://example.com/v1/calls/x/listen", "/v1/calls/x/listen#y"} {
		assert.Equal(t, "validation_error", d.must(422, "POST", "/v1/tickets", "operator", m{"path": bad}).failure(t)["code"])
	}
}

func TestSlowListenerIsDisconnected(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	ws, _, err := d.openSocket("/v1/calls/"+d.createCall()+"/listen", "operator")
	require.NoError(t, err)
	_, _ = nextMessage(t, ws)
	begun := time.Now()
	for range 200_000 { // an hour of audio that the client does not read
		d.listeners.sendFrame('x')
	}
	assert.Less(t, time.Since(begun), 30*time.Second, "the call does not wait for the listener")
	require.Eventually(t, func() bool { return d.listeners.leaves() == 1 }, time.Minute, time.Millisecond)
}

func TestListenerThatClosesOrSendsTooMuchIsDisconnected(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/calls/" + d.createCall() + "/listen?mode=barge"
	ws, _, err := d.openSocket(path, "operator")
	require.NoError(t, err)
	require.NoError(t, ws.CloseNow())
	require.Eventually(t, func() bool { return d.listeners.leaves() == 1 }, time.Minute, time.Millisecond)
	ws, _, err = d.openSocket(path, "operator")
	require.NoError(t, err)
	require.NoError(t, ws.Write(t.Context(), websocket.MessageBinary, make([]byte, 5000)))
	require.Eventually(t, func() bool { return d.listeners.leaves() == 2 }, time.Minute, time.Millisecond)
	assert.Empty(t, d.listeners.receivedAudio())
}

func TestListenSocketsCloseOnShutdown(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	ws, _, err := d.openSocket("/v1/calls/"+d.createCall()+"/listen", "operator")
	require.NoError(t, err)
	_, _ = nextMessage(t, ws)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { _ = d.server.Shutdown(ctx) }()
	_, _, err = ws.Read(ctx)
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "the socket closes at once")
	require.Eventually(t, func() bool { return d.listeners.leaves() == 1 }, time.Minute, time.Millisecond)
}

func TestRecordingLinkNeedsNoCredential(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.createCall()
	r := d.must(201, "POST", "/v1/calls/"+id+"/recording/link", "calls:read", m{"expires_in": 3600}).json(t)
	at := r["url"].(string)
	until, err := time.Parse(time.RFC3339, r["expires_at"].(string))
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Hour), until, 10*time.Second)
	got := d.must(200, "GET", at, "", nil)
	assert.Equal(t, string(d.wav), string(got.Body))
	part := d.must(206, "GET", at, "", nil, "Range", "bytes=4-7")
	assert.Equal(t, string(d.wav[4:8]), string(part.Body))
	d.must(200, "GET", at, "", nil, "Origin", "https://example.com")
	assert.Equal(t, "invalid_link", d.must(401, "GET", "/v1/calls/"+id+"/recording?token=x", "", nil).failure(t)["code"])
	assert.Equal(t, "invalid_api_key", d.must(401, "GET", at, "nobody's", nil).failure(t)["code"], "an invalid credential is refused although the link is valid")
	d.must(404, "GET", strings.Replace(at, id, "call_01J9999999ZZZZZZZZZZZZZZZZ", 1), "", nil)
	for _, bad := range []int{-1, 59, 86401} {
		d.must(422, "POST", "/v1/calls/"+id+"/recording/link", "operator", m{"expires_in": bad})
	}
	d.setProcessing(id, true)
	assert.Equal(t, "invalid_state", d.must(409, "POST", "/v1/calls/"+id+"/recording/link", "operator", m{}).failure(t)["code"])
}

func TestRecordingLinkGuessesAreRateLimited(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.createCall()
	statuses := map[int]int{}
	for range 40 {
		statuses[d.do("GET", "/v1/calls/"+id+"/recording?token=x", "", nil).Status]++
	}
	assert.Equal(t, map[int]int{401: 30, 429: 10}, statuses)
}

func TestRecordingPauseAndResume(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.createCall()
	r := d.must(200, "POST", "/v1/calls/"+id+"/recording/pause", "operator", nil).json(t)
	assert.Equal(t, map[string]any{"call_id": id, "status": "paused"}, r)
	assert.Equal(t, map[string]bool{id: true}, d.listeners.paused)
	r = d.must(200, "POST", "/v1/calls/"+id+"/recording/resume", "operator", nil).json(t)
	assert.Equal(t, map[string]any{"call_id": id, "status": "recording"}, r)
	assert.Equal(t, map[string]bool{id: false}, d.listeners.paused)
}

// createTickets requests tickets for a path from several concurrent clients and returns the number of issued tickets.
func (d *testServer) createTickets(buyers, each int, path string) int64 {
	d.t.Helper()
	var all sync.WaitGroup
	var got atomic.Int64
	for range buyers {
		all.Go(func() {
			for range each {
				req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://"+d.addr+"/v1/tickets", strings.NewReader(`{"path":"`+path+`"}`))
				if err != nil {
					d.t.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer operator")
				req.Header.Set("Content-Type", "application/json")
				res, err := d.client.Do(req)
				if err != nil {
					d.t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if res.StatusCode == http.StatusCreated {
					got.Add(1)
				}
			}
		})
	}
	all.Wait()
	return got.Load()
}

func TestTicketLimitIsPerWorkspace(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/calls/" + d.createCall() + "/listen"
	d.keys["other"] = domain.Principal{
		KeyID: "key_other", WorkspaceID: "ws_" + ulidOf(2), Environment: domain.Live, Permissions: []domain.Permission{domain.CallsWrite},
	}
	assert.EqualValues(t, 1000, d.createTickets(8, 125, path))
	r := d.must(503, "POST", "/v1/tickets", "operator", m{"path": path})
	assert.Equal(t, "unavailable", r.failure(t)["code"])
	assert.Equal(t, "60", r.Header.Get("Retry-After"))
	d.must(201, "POST", "/v1/tickets", "other", m{"path": path})
}
