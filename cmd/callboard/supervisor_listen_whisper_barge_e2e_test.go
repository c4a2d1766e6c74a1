package main_test

import (
	"context"
	"math"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
)

// callListener listens to a call over a WebSocket.
type callListener struct {
	ws   *websocket.Conn
	done chan struct{}
	mu   sync.Mutex
	pcm  []float64
	text []string
}

// listenToCall requests a ticket for a call in a mode (listen, whisper or barge). It opens the WebSocket with the ticket, as
// a browser does.
func (s *service) listenToCall(callID, mode string) *callListener {
	s.t.Helper()
	ticket := s.api("POST", "/v1/tickets", object{"path": "/v1/calls/" + callID + "/listen?mode=" + mode})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	at := strings.Replace(ticket["url"].(string), "http://", "ws://", 1)
	ws, _, err := websocket.Dial(ctx, at, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://dashboard.example.com"}}}) //nolint:bodyclose // the connection is used after the call
	require.NoError(s.t, err)
	h := &callListener{ws: ws, done: make(chan struct{})}
	s.t.Cleanup(func() { _ = ws.CloseNow(); <-h.done })
	go func() {
		defer close(h.done)
		for {
			kind, b, err := ws.Read(context.Background())
			if err != nil {
				return
			}
			h.mu.Lock()
			if kind == websocket.MessageText {
				h.text = append(h.text, string(b))
			} else {
				for _, v := range g711.DecodeMu(b) {
					h.pcm = append(h.pcm, float64(v))
				}
			}
			h.mu.Unlock()
		}
	}()
	return h
}

func (h *callListener) seconds() float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return float64(len(h.pcm)) / sampleRate
}

// chirp returns a short tone with rising or falling frequency, which tests can find in a recording.
func chirp(from, to float64) []int16 {
	out := make([]int16, 2400)
	for i := range out {
		t := float64(i) / sampleRate
		out[i] = int16(14000 * math.Sin(2*math.Pi*(from*t+(to-from)/0.6*t*t)))
	}
	return out
}

// bestCorrelation returns the best correlation of sound with any part of the recording in.
func bestCorrelation(in []float64, sound []int16) (best float64) {
	part := make([]float64, len(sound))
	for i, v := range sound {
		part[i] = float64(v)
	}
	for at := 0; at+len(part) <= len(in); at++ {
		best = max(best, sampleCorrelation(part, in[at:at+len(part)], 11))
	}
	return best
}

func TestSupervisorListensWhispersAndBargesIn(t *testing.T) {
	t.Parallel()
	s := newService(t)
	agent := s.createAgent(object{
		"name": "patient", "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 30, "save_as": "key", "prompt": "Good morning. This is the clinic on the corner. Press any key."},
			{"id": "bye", "type": "end"},
		},
		"edges": []object{{"from": "ask", "to": "bye", "when": object{"type": "else"}}},
	})
	const number = "+12025550131"
	phone := startBaresip(t, number)
	s.trunkWith(number, phone.port, "udp", nil)
	id := s.placeCall(number, agent, nil)
	s.await("the answer", 20*time.Second, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["status"] == "in_progress" })

	ear, whisperer, barger := s.listenToCall(id, "listen"), s.listenToCall(id, "whisper"), s.listenToCall(id, "barge")
	s.await("sound", 20*time.Second, func() bool { return ear.seconds() > 1 })
	secret, loud := chirp(500, 900), chirp(2600, 2100)
	require.NoError(t, whisperer.ws.Write(t.Context(), websocket.MessageBinary, g711.EncodeMu(secret)))
	at := ear.seconds()
	s.await("the end of the agent's prompt", 20*time.Second, func() bool { return ear.seconds() > at+4 })
	require.NoError(t, barger.ws.Write(t.Context(), websocket.MessageBinary, g711.EncodeMu(loud)))
	at = ear.seconds()
	s.await("the end of the whisper", 20*time.Second, func() bool { return ear.seconds() > at+2 })
	s.api("POST", "/v1/calls/"+id+"/hangup", nil)
	call := s.awaitCallEnd(id, 60*time.Second)
	require.Equal(t, "completed", call["status"], "%v", call)
	<-ear.done
	require.Len(t, ear.text, 2)
	assert.Contains(t, ear.text[0], `"encoding":"mulaw"`)
	assert.JSONEq(t, `{"type":"ended"}`, ear.text[1])

	link := s.downloadByLink(id)
	left, right := readSamples(t, link, 1), readSamples(t, link, 2)
	both := make([]float64, len(left))
	for i := range both {
		both[i] = left[i] + right[i]
	}
	heard := ear.pcm[sampleRate/2:]
	from, best := 0, 0.0
	for i := 0; i+sampleRate <= min(len(both), 10*sampleRate); i++ {
		if c := sampleCorrelation(heard[:sampleRate], both[i:i+sampleRate], 7); c > best {
			from, best = i, c
		}
	}
	// The listener must hear what the recording contains. Listeners also hear a whisper, which must not be recorded.
	assert.Greater(t, audioSimilarity(heard[:len(heard)-sampleRate], both[from:]), 0.85, "the listener hears what the recording contains")
	callerHears := phone.recordedAudio("dec")
	assert.Greater(t, bestCorrelation(callerHears, loud), 0.8, "the caller hears the barged-in audio")
	assert.Less(t, bestCorrelation(callerHears, secret), 0.5, "the caller does not hear the whisper")
	assert.Greater(t, bestCorrelation(right, loud), 0.8, "the recording contains the barged-in audio")
	assert.Less(t, bestCorrelation(right, secret), 0.5)
}

// downloadByLink saves the recording of a call and returns the path. It also downloads the recording by a signed link
// without an API key, and compares the sizes.
func (s *service) downloadByLink(id string) string {
	s.t.Helper()
	path := s.saveRecording(id)
	link := s.api("POST", "/v1/calls/"+id+"/recording/link", object{"expires_in": 60})
	res, err := http.Get(link["url"].(string))
	require.NoError(s.t, err)
	require.NoError(s.t, res.Body.Close())
	require.Equal(s.t, http.StatusOK, res.StatusCode)
	info, err := os.Stat(path)
	require.NoError(s.t, err)
	assert.Equal(s.t, info.Size(), res.ContentLength)
	return path
}
