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

// fakeListeners are the live calls of the fake and their listeners.
type fakeListeners struct {
	mu     sync.Mutex
	full   bool
	out    func([]byte)
	mode   calls.ListenMode
	said   []byte
	left   int
	paused map[string]bool
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
			s.said = append(s.said, mu...)
		},
		Leave: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.left++
		},
	}, nil
}

// play lets who listens hear a frame of one byte; nil ends the call.
func (s *fakeListeners) play(b ...byte) {
	s.mu.Lock()
	out := s.out
	s.mu.Unlock()
	if len(b) == 0 {
		out(nil)
		return
	}
	out(bytes.Repeat(b, calls.ListenFrame))
}

func (s *fakeListeners) gone() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

func (s *fakeListeners) heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.said)
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

type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func (f *fakeServices) Recording(_ context.Context, _ domain.Principal, id string) (record.Download, error) {
	c, err := f.calls.get(id)
	if err != nil {
		return record.Download{}, err
	}
	if c.Processing {
		return record.Download{}, domain.Errorf(domain.CodeProcessing, "Still to come.")
	}
	return record.Download{Size: int64(len(f.wav)), Body: memory{bytes.NewReader(f.wav)}}, nil
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

func (d *testServer) call() string {
	return d.make("/v1/calls/outbound", m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)})
}

// socket opens a WebSocket and tells the status of the answer; headers are
// pairs.
func (d *testServer) socket(path, key string, headers ...string) (ws *websocket.Conn, status int, err error) {
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
	ws, res, err := websocket.Dial(ctx, "ws://"+d.addr+path, &websocket.DialOptions{HTTPHeader: h}) //nolint:bodyclose // it is the socket
	if err == nil {
		d.t.Cleanup(func() { _ = ws.CloseNow() })
	}
	if res != nil {
		status = res.StatusCode
	}
	return ws, status, err
}

// next reads a message.
func next(t *testing.T, ws *websocket.Conn) (websocket.MessageType, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	kind, b, err := ws.Read(ctx)
	require.NoError(t, err)
	return kind, b
}

func TestWhoListensIsGreetedHearsAndIsHeard(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.call()
	d.noted()
	ws, status, err := d.socket("/v1/calls/"+id+"/listen?mode=whisper", "operator")
	require.NoError(t, err)
	assert.Equal(t, http.StatusSwitchingProtocols, status)
	kind, hello := next(t, ws)
	assert.Equal(t, websocket.MessageText, kind)
	var got live.ListenHello
	require.NoError(t, json.Unmarshal(hello, &got))
	assert.Equal(t, live.ListenHello{
		Type: "hello", CallID: id, Mode: calls.Whisper, Format: live.ListenFormat{Encoding: "mulaw", Rate: 8000, Channels: 1, FrameMs: 20},
	}, got)
	assert.Equal(t, calls.Whisper, d.listeners.mode)
	for i := range byte(20) {
		d.listeners.play('a' + i)
	}
	for i := range byte(20) {
		kind, b := next(t, ws)
		assert.Equal(t, websocket.MessageBinary, kind)
		assert.Equal(t, bytes.Repeat([]byte{'a' + i}, 160), b)
	}
	require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte("no sound")))
	require.NoError(t, ws.Write(t.Context(), websocket.MessageBinary, []byte("psst")))
	require.Eventually(t, func() bool { return d.listeners.heard() == "psst" }, time.Minute, time.Millisecond)
	d.listeners.play('z')
	d.listeners.play()
	_, last := next(t, ws)
	assert.Equal(t, byte('z'), last[0])
	kind, ended := next(t, ws)
	assert.Equal(t, websocket.MessageText, kind)
	assert.JSONEq(t, `{"type":"ended"}`, string(ended))
	_, _, err = ws.Read(t.Context())
	assert.Equal(t, websocket.StatusNormalClosure, websocket.CloseStatus(err))
	require.Eventually(t, func() bool { return d.listeners.gone() == 1 }, time.Minute, time.Millisecond)
	assert.Equal(t, []string{"auth api_key.used key_operator  false ", "admin call.listened key_operator " + id + " false "}, d.noted())
}

func TestListenerWithoutPermissionIsRefusedBeforeTheSocketOpens(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.call()
	path := "/v1/calls/" + id + "/listen"
	for name, c := range map[string]struct {
		path, key, header, value string
		status                   int
	}{
		"no key":       {path, "", "", "", 401},
		"no right":     {path, "calls:read", "", "", 403},
		"a browser":    {path, "operator", "Origin", "https://example.com", 403},
		"no such call": {"/v1/calls/call_01J9999999ZZZZZZZZZZZZZZZZ/listen", "operator", "", "", 404},
		"no such mode": {path + "?mode=shout", "operator", "", "", 422},
		"a bad ticket": {path + "?ticket=AAAA", "", "", "", 401},
	} {
		headers := []string{}
		if c.header != "" {
			headers = append(headers, c.header, c.value)
		}
		_, status, err := d.socket(c.path, c.key, headers...)
		require.Error(t, err, name)
		assert.Equal(t, c.status, status, name)
	}
	d.listeners.full = true
	_, status, err := d.socket(path, "operator")
	require.Error(t, err)
	assert.Equal(t, http.StatusTooManyRequests, status)
	r := d.must(http.StatusUpgradeRequired, "GET", path, "operator", nil)
	assert.Equal(t, "websocket", r.Header.Get("Upgrade"))
	assert.Equal(t, "upgrade_required", r.failure(t)["code"])
}

func TestASocketEndsWithItsCredential(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	path := "/v1/calls/" + d.call() + "/listen?mode=whisper"
	token := d.issued("ada", "calls:read", "calls:write")
	sockets := make(map[string]*websocket.Conn)
	for name, key := range map[string]string{"key": "all", "JWT": token, "other key": "calls:write"} {
		ws, _, err := d.socket(path, key)
		require.NoError(t, err, name)
		next(t, ws)
		sockets[name] = ws
	}
	d.revoke("all")
	d.mu.Lock()
	d.dead = map[string]bool{"key_operator": true} // the key behind the JWT
	d.mu.Unlock()
	for _, name := range []string{"key", "JWT"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, _, err := sockets[name].Read(ctx)
		assert.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err), name)
	}
	require.Eventually(t, func() bool { return d.listeners.gone() == 2 }, time.Minute, time.Millisecond)
	require.NoError(t, sockets["other key"].Write(t.Context(), websocket.MessageBinary, []byte("on")))
	require.Eventually(t, func() bool { return d.listeners.heard() == "on" }, time.Minute, time.Millisecond)
}

func TestATicketOpensOnePathOnceForABrowser(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: "https://calls.example.com"})
	id := d.call()
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
	ws, _, err := d.socket(at, "", "Origin", "https://dashboard.example.com")
	require.NoError(t, err)
	_, hello := next(t, ws)
	assert.Contains(t, string(hello), `"mode":"barge"`)
	_, status, err := d.socket(at, "")
	require.Error(t, err)
	assert.Equal(t, 401, status, "once")
	for _, other := range []string{
		strings.Replace(buy("operator"), "barge", "listen", 1),
		strings.Replace(buy("operator"), id, d.call(), 1),
		buy("operator") + "x",
	} {
		_, status, err = d.socket(other, "")
		require.Error(t, err)
		assert.Equal(t, 401, status, "for this path only")
	}
	_, status, err = d.socket(buy("analytics:read"), "")
	require.Error(t, err)
	assert.Equal(t, 403, status, "with the rights of its maker")
	at = buy("all")
	delete(d.keys, "all")
	_, status, err = d.socket(at, "")
	require.Error(t, err)
	assert.Equal(t, 401, status, "a key that is gone takes its tickets along")
	for _, bad := range []string{"", "/v1/calls", "/v1/calls/" + id + "/recording", "https://example.com/v1/calls/x/listen", "/v1/calls/x/listen#y"} {
		assert.Equal(t, "validation_error", d.must(422, "POST", "/v1/tickets", "operator", m{"path": bad}).failure(t)["code"])
	}
}

func TestAListenerWhoIsTooSlowIsDropped(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	ws, _, err := d.socket("/v1/calls/"+d.call()+"/listen", "operator")
	require.NoError(t, err)
	_, _ = next(t, ws)
	begun := time.Now()
	for range 200_000 { // an hour of sound, which the client does not take
		d.listeners.play('x')
	}
	assert.Less(t, time.Since(begun), 30*time.Second, "the call never waits")
	require.Eventually(t, func() bool { return d.listeners.gone() == 1 }, time.Minute, time.Millisecond)
}

func TestListenerThatLeavesOrSendsTooMuchIsDisconnected(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/calls/" + d.call() + "/listen?mode=barge"
	ws, _, err := d.socket(path, "operator")
	require.NoError(t, err)
	require.NoError(t, ws.CloseNow())
	require.Eventually(t, func() bool { return d.listeners.gone() == 1 }, time.Minute, time.Millisecond)
	ws, _, err = d.socket(path, "operator")
	require.NoError(t, err)
	require.NoError(t, ws.Write(t.Context(), websocket.MessageBinary, make([]byte, 5000)))
	require.Eventually(t, func() bool { return d.listeners.gone() == 2 }, time.Minute, time.Millisecond)
	assert.Empty(t, d.listeners.heard())
}

func TestListenersAreSentAwayWhenTheServiceStops(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	ws, _, err := d.socket("/v1/calls/"+d.call()+"/listen", "operator")
	require.NoError(t, err)
	_, _ = next(t, ws)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { _ = d.server.Shutdown(ctx) }()
	_, _, err = ws.Read(ctx)
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "at once")
	require.Eventually(t, func() bool { return d.listeners.gone() == 1 }, time.Minute, time.Millisecond)
}

func TestALinkFetchesTheRecordingWithoutACredential(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.call()
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
	assert.Equal(t, "invalid_api_key", d.must(401, "GET", at, "nobody's", nil).failure(t)["code"], "a credential that is shown counts")
	d.must(404, "GET", strings.Replace(at, id, "call_01J9999999ZZZZZZZZZZZZZZZZ", 1), "", nil)
	for _, bad := range []int{-1, 59, 86401} {
		d.must(422, "POST", "/v1/calls/"+id+"/recording/link", "operator", m{"expires_in": bad})
	}
	d.processing(id, true)
	assert.Equal(t, "invalid_state", d.must(409, "POST", "/v1/calls/"+id+"/recording/link", "operator", m{}).failure(t)["code"])
}

func TestGuessingLinksIsBounded(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.call()
	statuses := map[int]int{}
	for range 40 {
		statuses[d.do("GET", "/v1/calls/"+id+"/recording?token=x", "", nil).Status]++
	}
	assert.Equal(t, map[int]int{401: 30, 429: 10}, statuses)
}

func TestARecordingIsPausedAndResumed(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.call()
	r := d.must(200, "POST", "/v1/calls/"+id+"/recording/pause", "operator", nil).json(t)
	assert.Equal(t, map[string]any{"call_id": id, "status": "paused"}, r)
	assert.Equal(t, map[string]bool{id: true}, d.listeners.paused)
	r = d.must(200, "POST", "/v1/calls/"+id+"/recording/resume", "operator", nil).json(t)
	assert.Equal(t, map[string]any{"call_id": id, "status": "recording"}, r)
	assert.Equal(t, map[string]bool{id: false}, d.listeners.paused)
}

// tickets lets some buy tickets for a path at once, each so many, and tells how
// many they got. A slow machine has a minute for all, until the first are no
// longer good: none is held against the contract.
func (d *testServer) tickets(buyers, each int, path string) int64 {
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

func TestTheTicketsOfOneWorkspaceLeaveOthersTheirs(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/calls/" + d.call() + "/listen"
	d.keys["other"] = domain.Principal{
		KeyID: "key_other", WorkspaceID: "ws_" + ulidOf(2), Environment: domain.Live, Permissions: []domain.Permission{domain.CallsWrite},
	}
	assert.EqualValues(t, 1000, d.tickets(8, 125, path))
	r := d.must(503, "POST", "/v1/tickets", "operator", m{"path": path})
	assert.Equal(t, "unavailable", r.failure(t)["code"])
	assert.Equal(t, "60", r.Header.Get("Retry-After"))
	d.must(201, "POST", "/v1/tickets", "other", m{"path": path})
}
