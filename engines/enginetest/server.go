// Package enginetest is the far end of engines: one deterministic server that speaks the protocols of all, and misbehaves
// as it is told.
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

// Fault is how the server misbehaves.
type Fault string

// The ways.
const (
	Well    Fault = ""
	Hangs   Fault = "hangs"   // takes the request and never answers
	Stalls  Fault = "stalls"  // sends the first 200 ms of the sound, or the first words, and no more
	Garbage Fault = "garbage" // answers 200 with something else
	Drops   Fault = "drops"   // breaks the connection in the midst of the answer
	Refuses Fault = "refuses" // 401, and repeats the key
	Late    Fault = "late"    // answers rightly, but only after Release
)

// Key is what the server asks for.
const Key = "test-engine-key"

// Server is the far end. All methods may be called at any time.
type Server struct {
	*httptest.Server
	mu      sync.Mutex
	fault   map[string]Fault
	text    string
	rate    int
	heard   []Heard
	release chan struct{}
	ended   chan struct{}
	answers func(n int, heard string) Answer
	told    []string // what clients of realtime and media sent, but for sound
}

// Heard is a request that came in.
type Heard struct {
	Path  string
	Body  []byte
	Sound []byte // of a WebSocket: what was sent
}

// New starts one; it ends with the test. What it hears is text until Says.
func New(tb testing.TB) *Server {
	tb.Helper()
	return with(tb, httptest.NewServer)
}

// NewTLS starts one whose certificate is that of all servers of httptest.
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
	mux.HandleFunc("POST /v1/text-to-speech/{voice}/stream", s.elevenlabs)
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

// WS is its address for WebSockets.
func (s *Server) WS() string { return strings.Replace(s.URL, "http", "ws", 1) }

// Is sets how one protocol misbehaves: speech, transcriptions, elevenlabs, deepgram, realtime or media.
func (s *Server) Is(what string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault[what] = f
}

// Says sets what is heard in any turn.
func (s *Server) Says(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

// Release lets what is Late be answered.
func (s *Server) Release() { close(s.release) }

// Requests are all that came in.
func (s *Server) Requests() []Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Heard(nil), s.heard...)
}

func (s *Server) note(h Heard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, h)
}

func (s *Server) now(what string) (Fault, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault[what], s.text
}

// wait blocks until the client is gone or the test is over.
func (s *Server) wait(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.ended:
	}
}

// faulty answers a request that is not answered rightly.
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
	case Well, Stalls, Drops:
		return false
	}
	return true
}

// Length is how long a text sounds: 60 ms a byte.
func Length(text string) time.Duration { return time.Duration(len(text)) * 60 * time.Millisecond }

// hum is a text as 16-bit little-endian PCM: a tone of 400 Hz.
func hum(text string, rate int) []byte {
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
	s.note(Heard{Path: r.URL.Path, Body: body})
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
	s.stream(w, r, f, hum(order.Input, s.rate), s.rate*2/5)
}

// stream sends sound, of which first bytes are 200 ms.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f Fault, sound []byte, first int) {
	flush := http.NewResponseController(w)
	if f == Well || f == Late {
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
	s.note(Heard{Path: r.URL.RequestURI(), Body: body})
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
	w.Header().Set("Content-Type", "audio/basic")
	s.stream(w, r, f, Mu(order.Text), 1600)
}

func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.note(Heard{Path: r.URL.Path, Body: body})
	f, text := s.now("transcriptions")
	if s.faulty(w, r, f) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer, _ := json.Marshal(map[string]any{"text": text})
	switch f { //nolint:exhaustive // the others are well here
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
