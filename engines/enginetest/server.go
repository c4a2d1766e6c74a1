// Package enginetest is a test server that speaks the protocols of all external speech engines. Its responses are
// deterministic, and it can simulate faults.
package enginetest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault is a fault that the server simulates.
type Fault string

// The faults that the server can simulate.
const (
	NoFault Fault = ""
	Hangs   Fault = "hangs"   // accepts the request and never answers
	Stalls  Fault = "stalls"  // sends the first 200 ms of audio or the first words, then nothing
	Garbage Fault = "garbage" // answers 200 with an invalid body
	Drops   Fault = "drops"   // closes the connection within the response
	Refuses Fault = "refuses" // answers 401 and repeats the key
	Late    Fault = "late"    // answers correctly, but only after Release
)

// Key is the API key that the server requires.
const Key = "test-engine-key"

// Server is a test server for all engine protocols. Its methods may be called from any goroutine.
type Server struct {
	*httptest.Server
	mu      sync.Mutex
	fault   map[string]Fault
	text    string
	rate    int
	heard   []Request
	release chan struct{}
	ended   chan struct{}
	answers func(n int, heard string) Answer
	told    []string // messages of realtime and media stream clients, without audio
}

// Request is a request that the server received.
type Request struct {
	Path  string
	Body  []byte
	Sound []byte // audio that was sent over a WebSocket
}

// New starts a server that is closed at the end of the test. It recognizes the text "yes please" in any audio, until
// SetTranscript sets another text.
func New(tb testing.TB) *Server {
	tb.Helper()
	return with(tb, httptest.NewServer)
}

// NewTLS starts a server like New, with TLS and the certificate of httptest.
func NewTLS(tb testing.TB) *Server {
	tb.Helper()
	return with(tb, httptest.NewTLSServer)
}

func with(tb testing.TB, start func(http.Handler) *httptest.Server) *Server {
	tb.Helper()
	s := &Server{fault: make(map[string]Fault), text: "yes please", rate: 24000, release: make(chan struct{}), ended: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/audio/speech", s.speech)
	mux.HandleFunc("POST /v1/audio/transcriptions", s.transcribe)
	mux.HandleFunc("POST /v1/text-to-speech/{voice}/stream/with-timestamps", s.elevenlabs)
	mux.HandleFunc("GET /v1/listen", s.deepgram)
	mux.HandleFunc("GET /v1/realtime", s.realtime)
	mux.HandleFunc("GET /v1/media", s.mediaStream)
	s.Server = start(mux)
	tb.Cleanup(func() {
		close(s.ended)
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// WS returns the base URL of the server for WebSockets.
func (s *Server) WS() string { return strings.Replace(s.URL, "http", "ws", 1) }

// SetFault sets the fault that one protocol simulates. The protocol is speech, transcriptions, elevenlabs, deepgram,
// realtime or media.
func (s *Server) SetFault(what string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault[what] = f
}

// SetTranscript sets the text that the server recognizes in any audio.
func (s *Server) SetTranscript(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

// Release sends the responses that the fault Late delays.
func (s *Server) Release() { close(s.release) }

// Requests returns all requests that the server has received.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.heard...)
}

func (s *Server) note(h Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, h)
}

func (s *Server) now(what string) (Fault, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault[what], s.text
}

// wait blocks until the client has closed the request or the test has ended.
func (s *Server) wait(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.ended:
	}
}

// faulty simulates a fault. It returns true if the request is finished, and false if the caller has to answer it.
func (s *Server) faulty(w http.ResponseWriter, r *http.Request, f Fault) bool {
	switch f {
	case Hangs:
		s.wait(r)
	case Garbage:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Welcome to the proxy</html>")
	case Refuses:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, Key)
	case Late:
		select {
		case <-s.release:
		case <-s.ended:
		}
		return false
	case NoFault, Stalls, Drops:
		return false
	}
	return true
}

// Length returns the length of the audio that the server synthesizes for a text: 60 ms for each byte.
func Length(text string) time.Duration { return time.Duration(len(text)) * 60 * time.Millisecond }

// tonePCM returns the audio that the server synthesizes for a text: a tone of 400 Hz as 16-bit little-endian PCM.
func tonePCM(text string, rate int) []byte {
	n := int(Length(text)) / int(time.Second/time.Duration(rate))
	out := make([]byte, 0, 2*n)
	for i := range n {
		v := int16(8000 * math.Sin(2*math.Pi*400*float64(i)/float64(rate)))
		out = binary.LittleEndian.AppendUint16(out, uint16(v))
	}
	return out
}

func (s *Server) speech(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.note(Request{Path: r.URL.Path, Body: body})
	f, _ := s.now("speech")
	if s.faulty(w, r, f) {
		return
	}
	var order struct{ Input string }
	if json.Unmarshal(body, &order) != nil || r.Header.Get("Authorization") != "Bearer "+Key {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "audio/pcm")
	s.stream(w, r, f, tonePCM(order.Input, s.rate), s.rate*2/5)
}

// stream sends the audio of a synthesis response. With the faults Stalls and Drops it sends only the first bytes.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f Fault, sound []byte, first int) {
	flush := http.NewResponseController(w)
	if f == NoFault || f == Late {
		_, _ = w.Write(sound)
		return
	}
	_, _ = w.Write(sound[:min(first, len(sound))])
	_ = flush.Flush()
	if f == Stalls {
		s.wait(r)
		return
	}
	panic(http.ErrAbortHandler)
}

func (s *Server) elevenlabs(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.note(Request{Path: r.URL.RequestURI(), Body: body})
	f, _ := s.now("elevenlabs")
	if s.faulty(w, r, f) {
		return
	}
	var order struct{ Text string }
	if json.Unmarshal(body, &order) != nil || r.Header.Get("Xi-Api-Key") != Key {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"detail":{"status":"invalid_api_key","message":"Invalid API key"}}`)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	lines := timedAudio(order.Text)
	s.stream(w, r, f, []byte(strings.Join(lines, "")), len(lines[0]))
}

// timedAudio returns the audio of a text in ElevenLabs' form: a JSON object per line, each with 240 ms of audio and the
// times of its four letters.
func timedAudio(text string) (lines []string) {
	const letters, letterSeconds = 4, 0.06
	all := MuLawAudio(text)
	for at := 0; at < len(text); at += letters {
		piece := text[at:min(at+letters, len(text))]
		var alignment struct {
			Characters []string  `json:"characters"`
			Starts     []float64 `json:"character_start_times_seconds"`
			Ends       []float64 `json:"character_end_times_seconds"`
		}
		for i, c := range piece {
			alignment.Characters = append(alignment.Characters, string(c))
			alignment.Starts = append(alignment.Starts, float64(at+i)*letterSeconds)
			alignment.Ends = append(alignment.Ends, float64(at+i+1)*letterSeconds)
		}
		samples := len(all) / len(text)
		line, _ := json.Marshal(map[string]any{"audio_base64": all[at*samples : (at+len(piece))*samples], "alignment": alignment, "normalized_alignment": alignment})
		lines = append(lines, string(line)+"\n")
	}
	return lines
}

func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.note(Request{Path: r.URL.Path, Body: body})
	f, text := s.now("transcriptions")
	if s.faulty(w, r, f) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer, _ := json.Marshal(map[string]any{"text": text})
	switch f { //nolint:exhaustive // the other faults do not concern this point
	case Stalls, Drops:
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(answer[:5])
		_ = http.NewResponseController(w).Flush()
		if f == Stalls {
			s.wait(r)
		}
		panic(http.ErrAbortHandler)
	default:
		_, _ = w.Write(answer)
	}
}
