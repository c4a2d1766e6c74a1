package mediastreams_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/mediastreams"
	"github.com/callboard/callboard/media/speech"
)

// testSignature is an Engine.Sign that puts the stream ID and the URL into headers without a signature.
func testSignature(id string, _ time.Time, url string) http.Header {
	return http.Header{"Webhook-Id": {id}, "X-Url": {url}}
}

// startScriptedServer starts a server that follows the script in a file. A line with ">" is a message that the server expects, a line
// with "<" is a message that it sends, and "close" closes the connection. STREAM stands for the stream ID.
func startScriptedServer(t *testing.T, path string) (url string, over <-chan struct{}) {
	t.Helper()
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		id := r.Header.Get("Webhook-Id")
		assert.Regexp(t, "^MZ[0-9a-f]{32}$", id)
		conn, err := websocket.Accept(w, r, nil)
		if !assert.NoError(t, err) {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		lines := bufio.NewScanner(strings.NewReader(strings.ReplaceAll(string(file), "STREAM", id)))
		for lines.Scan() {
			switch what, line, _ := strings.Cut(lines.Text(), " "); what {
			case "<":
				assert.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte(line)))
			case ">":
				_, b, err := conn.Read(t.Context())
				if !assert.NoError(t, err, line) || !assert.JSONEq(t, line, string(b)) {
					return
				}
			case "close":
				_ = conn.Close(websocket.StatusNormalClosure, "")
			}
		}
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http", "ws", 1) + "/media?for=clinic", done
}

func openSession(t *testing.T, url string, first time.Duration) (speech.RealtimeSession, <-chan speech.RealtimeEvent) {
	t.Helper()
	told := make(chan speech.RealtimeEvent, 256)
	e := &mediastreams.Engine{URL: url, Sign: testSignature, ConnectTimeout: first, Client: http.DefaultClient}
	l := e.OpenSession(speech.RealtimeRequest{CallParameters: map[string]string{"call_id": "call_1", "workspace_id": "ws_1", "from": "+12025550100", "order": "7"}}, func(e speech.RealtimeEvent) { told <- e })
	t.Cleanup(l.Close)
	return l, told
}

func until(t *testing.T, told <-chan speech.RealtimeEvent, kind speech.RealtimeEventKind) speech.RealtimeEvent {
	t.Helper()
	for {
		select {
		case e := <-told:
			if e.Kind == kind {
				return e
			}
			require.NotEqual(t, speech.RealtimeFailed, e.Kind, "%v", e.Err)
		case <-t.Context().Done():
			t.FailNow()
		}
	}
}

func TestStreamFollowsTwilioDocumentation(t *testing.T) {
	t.Parallel()
	url, over := startScriptedServer(t, "testdata/stream.txt")
	l, told := openSession(t, url, time.Minute)
	until(t, told, speech.RealtimeReady)
	l.Write(bytes.Repeat([]byte{0x7F}, 100))
	l.Write(bytes.Repeat([]byte{0x7F}, 220)) // two pieces of 20 ms
	sounds := until(t, told, speech.RealtimeAudioStarted)
	assert.Equal(t, "1", sounds.Item)
	until(t, told, speech.RealtimeAudioCleared)
	assert.Equal(t, 4, sounds.Feed.Len())
	l.SendKey('5')
	again := until(t, told, speech.RealtimeAudioStarted)
	assert.Equal(t, "2", again.Item)
	until(t, told, speech.RealtimeEnded)
	assert.Equal(t, 4, again.Feed.Len())
	<-over
}

func TestCloseSendsStop(t *testing.T) {
	t.Parallel()
	url, over := startScriptedServer(t, "testdata/stop.txt")
	l, told := openSession(t, url, time.Minute)
	until(t, told, speech.RealtimeReady)
	l.RequestResponse("") // only reports RealtimeIdle
	until(t, told, speech.RealtimeIdle)
	l.Close()
	<-over
	select {
	case e := <-told:
		assert.Fail(t, "nobody wants to hear any more", "%v", e)
	default:
	}
}

// startServer starts a server that passes its WebSocket connection to a function of the test.
func startServer(t *testing.T, with func(conn *websocket.Conn)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		with(conn)
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http", "ws", 1)
}

func waitForFailure(t *testing.T, told <-chan speech.RealtimeEvent) string {
	t.Helper()
	for e := range told {
		if e.Kind == speech.RealtimeFailed {
			return speech.ErrorCode(e.Err)
		}
		require.NotEqual(t, speech.RealtimeEnded, e.Kind)
	}
	return ""
}

func TestFaultsOfServerEndTheStream(t *testing.T) {
	t.Parallel()
	sends := func(all ...string) func(*websocket.Conn) {
		return func(conn *websocket.Conn) {
			for _, text := range all {
				_ = conn.Write(t.Context(), websocket.MessageText, []byte(text))
			}
			for {
				if _, _, err := conn.Read(t.Context()); err != nil {
					return
				}
			}
		}
	}
	loud, _ := json.Marshal(map[string]any{"event": "media", "media": map[string]any{"payload": base64.StdEncoding.EncodeToString(make([]byte, 700_000))}})
	for code, with := range map[string]func(*websocket.Conn){
		"engine_unreachable": func(*websocket.Conn) {},
		"engine_garbage":     sends("<html>"),
		"engine_garbage ":    sends(`{"event":"media"}`),
		"engine_garbage  ":   sends(`{"event":"mark","mark":{"name":"` + strings.Repeat("x", 300) + `"}}`),
		"engine_garbage   ":  sends(string(loud), string(loud), string(loud), string(loud)),
	} {
		_, told := openSession(t, startServer(t, with), time.Minute)
		assert.Equal(t, strings.TrimSpace(code), waitForFailure(t, told), code)
	}
	refuses := httptest.NewServer(http.NotFoundHandler())
	defer refuses.Close()
	_, told := openSession(t, strings.Replace(refuses.URL, "http", "ws", 1), time.Minute)
	assert.Equal(t, "engine_refused", waitForFailure(t, told))
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hangs.Close()
	defer close(release)
	_, told = openSession(t, strings.Replace(hangs.URL, "http", "ws", 1), 100*time.Millisecond)
	assert.Equal(t, "engine_slow", waitForFailure(t, told))
}

func TestServerThatAcceptsNoAudioIsDisconnected(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	l, told := openSession(t, startServer(t, func(*websocket.Conn) { <-release }), time.Minute)
	defer close(release)
	until(t, told, speech.RealtimeReady)
	piece := make([]byte, 16000)
	for {
		select {
		case e := <-told:
			if e.Kind != speech.RealtimeFailed {
				continue
			}
			assert.Equal(t, "engine_stalled", speech.ErrorCode(e.Err))
			return
		default:
			l.Write(piece)
		}
	}
}
