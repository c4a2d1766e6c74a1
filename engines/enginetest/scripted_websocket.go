package enginetest

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
)

// MuLawAudio returns the audio that the server synthesizes for a text as 8 kHz µ-law.
func MuLawAudio(text string) []byte {
	pcm := tonePCM(text, 8000)
	out := make([]byte, len(pcm)/2)
	for i := range out {
		out[i] = g711.LinearToMu(int16(uint16(pcm[2*i]) | uint16(pcm[2*i+1])<<8))
	}
	return out
}

// deepgram handles a connection of Deepgram's streaming API. It sends an interim result at the first audio of a turn and
// the final result at the end of the turn.
func (s *Server) deepgram(w http.ResponseWriter, r *http.Request) {
	f, text := s.now("deepgram")
	if r.Header.Get("Authorization") != "Token "+Key || f == Refuses {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"err_code":"INVALID_AUTH","err_msg":"Invalid credentials.","request_id":"b0a4"}`))
		return
	}
	if f == Hangs {
		s.wait(r)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	go func() {
		<-s.ended
		cancel()
	}()
	say := func(words string, final bool) {
		b, _ := json.Marshal(map[string]any{
			"type": "Results", "is_final": final, "speech_final": final, "start": 0, "duration": 1.2, "channel_index": []int{0, 1},
			"channel": map[string]any{"alternatives": []any{map[string]any{"transcript": words, "confidence": 0.98, "words": []any{}}}},
		})
		_ = conn.Write(ctx, websocket.MessageText, b)
	}
	var sound []byte
	for {
		kind, b, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageBinary {
			if len(sound) == 0 {
				switch f { //nolint:exhaustive // the other faults do not concern this point
				case Garbage:
					_ = conn.Write(ctx, websocket.MessageText, []byte("<html>"))
				case Drops:
					return
				default:
					say(strings.Fields(text + " x")[0], false)
				}
			}
			sound = append(sound, b...)
			continue
		}
		if !strings.Contains(string(b), "CloseStream") || f == Stalls {
			continue
		}
		if f == Late {
			select {
			case <-s.release:
			case <-s.ended:
			}
		}
		s.note(Request{Path: r.URL.RequestURI(), Sound: sound})
		say(text, true)
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"Metadata","request_id":"b0a4","duration":1.2,"channels":1}`))
		_ = conn.Close(websocket.StatusNormalClosure, "")
		return
	}
}

// Transcript starts a WebSocket server that follows the script in a file, and returns its address. A line with "> " is
// a message that the client must send: equal JSON, or binary with its number of bytes. A line with "< " is a message of
// the server. The test fails if the client does not follow the script to its end.
func Transcript(t *testing.T, path string, request func(r *http.Request)) string {
	t.Helper()
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	var playing sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		playing.Add(1)
		defer playing.Done()
		request(r)
		conn, err := websocket.Accept(w, r, nil)
		if !assert.NoError(t, err) {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		lines := bufio.NewScanner(strings.NewReader(string(file)))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			what, line, _ := strings.Cut(lines.Text(), " ")
			switch what {
			case "<":
				assert.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte(line)))
			case ">":
				if !expect(t, conn, line) {
					return
				}
			}
		}
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}))
	t.Cleanup(func() { // closing the server does not wait for its WebSockets
		server.Close()
		playing.Wait()
	})
	return strings.Replace(server.URL, "http", "ws", 1)
}

// expect reads messages of the client until a message matches the line of the script.
func expect(t *testing.T, conn *websocket.Conn, line string) bool {
	t.Helper()
	var want struct {
		Binary int `json:"binary"`
	}
	require.NoError(t, json.Unmarshal([]byte(line), &want))
	got := 0
	for {
		kind, b, err := conn.Read(t.Context())
		if err != nil {
			assert.Fail(t, "nothing more came", "%s: %v", line, err) // called from the server's goroutine
			return false
		}
		if kind == websocket.MessageText {
			assert.JSONEq(t, line, string(b))
			return true
		}
		if got += len(b); got >= want.Binary {
			assert.Equal(t, want.Binary, got, line)
			return true
		}
	}
}
