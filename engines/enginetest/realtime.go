package enginetest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"github.com/callboard/callboard/media/g711"
)

// Answer is a response of the simulated realtime engine: text to speak and tool calls.
type Answer struct {
	Say   string
	Calls []Call
}

// Call is a tool call of the simulated realtime engine.
type Call struct{ ID, Name, Arguments string }

// SetResponses sets the function that returns the responses of the realtime engine. n is the number of the response in
// its conversation, from 0. heard is the text of SetTranscript. f is called under a lock.
func (s *Server) SetResponses(f func(n int, heard string) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = f
}

// SentMessages returns the JSON messages without audio that clients sent to the realtime engine and to the media
// stream, in order.
func (s *Server) SentMessages() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.told...)
}

const (
	loudSample  = 1500    // samples from this amplitude count as speech
	begunAfter  = 8 * 100 // samples of speech until a turn begins
	ceasedAfter = 8 * 500 // samples of silence until a turn ends
	deltaMost   = 1600
)

// realtime handles a connection of the realtime API. It detects speech by its amplitude and sends audio faster than
// real time.
func (s *Server) realtime(w http.ResponseWriter, r *http.Request) {
	f, _ := s.now("realtime")
	if r.Header.Get("Authorization") != "Bearer "+Key || f == Refuses {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s","type":"invalid_request_error","code":"invalid_api_key"}}`, Key)
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
	conn.SetReadLimit(1 << 20)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	go func() {
		<-s.ended
		cancel()
	}()
	one := &realtimeTalk{s: s, conn: conn, ctx: ctx, drop: cancel}
	one.send(map[string]any{"type": "session.created", "session": map[string]any{"type": "realtime"}})
	for {
		_, b, err := conn.Read(ctx)
		if err != nil {
			return
		}
		one.take(b)
	}
}

// realtimeTalk is the state of one realtime conversation.
type realtimeTalk struct {
	s      *Server
	conn   *websocket.Conn
	ctx    context.Context // of the connection
	drop   func()
	mu     sync.Mutex
	loud   int
	quiet  int
	speaks bool
	turns  int
	n      int // number of responses
	now    int // number of the response in progress; 0: none
}

func (t *realtimeTalk) send(v map[string]any) {
	v["event_id"] = "event_1"
	b, _ := json.Marshal(v)
	_ = t.conn.Write(t.ctx, websocket.MessageText, b)
}

func (t *realtimeTalk) take(b []byte) {
	var e struct{ Type, Audio string }
	if json.Unmarshal(b, &e) != nil {
		return
	}
	f, _ := t.s.now("realtime")
	if e.Type == "input_audio_buffer.append" {
		mu, _ := base64.StdEncoding.DecodeString(e.Audio)
		for _, v := range mu {
			t.hear(v)
		}
		return
	}
	t.s.mu.Lock()
	t.s.told = append(t.s.told, string(b))
	t.s.mu.Unlock()
	switch e.Type {
	case "session.update":
		if f == Garbage {
			_ = t.conn.Write(t.ctx, websocket.MessageText, []byte("<html>"))
			return
		}
		t.send(map[string]any{"type": "session.updated", "session": map[string]any{"type": "realtime"}})
	case "response.create":
		t.answer()
	case "conversation.item.truncate":
		t.send(map[string]any{"type": "conversation.item.truncated"})
	}
}

// hear processes one sample of the caller's audio and detects the start and the end of speech.
func (t *realtimeTalk) hear(mu byte) {
	v := g711.MuToLinear(mu)
	if v > loudSample || v < -loudSample {
		t.loud++
		t.quiet = 0
	} else {
		t.quiet++
	}
	item := fmt.Sprintf("item_user_%d", t.turns)
	switch {
	case !t.speaks && t.loud > begunAfter/2:
		t.speaks = true
		t.send(map[string]any{"type": "input_audio_buffer.speech_started", "audio_start_ms": 0, "item_id": item})
		t.mu.Lock()
		under := t.now
		t.now = 0
		t.mu.Unlock()
		if under != 0 {
			t.over(under, "cancelled", Answer{})
		}
	case t.speaks && t.quiet > ceasedAfter:
		t.speaks, t.loud = false, 0
		t.turns++
		t.send(map[string]any{"type": "input_audio_buffer.speech_stopped", "audio_end_ms": 0, "item_id": item})
		t.send(map[string]any{"type": "input_audio_buffer.committed", "item_id": item})
		_, text := t.s.now("realtime")
		t.send(map[string]any{"type": "conversation.item.input_audio_transcription.completed", "item_id": item, "content_index": 0, "transcript": text})
		t.answer()
	case !t.speaks && t.quiet > ceasedAfter:
		t.loud = 0
	}
}

func (t *realtimeTalk) over(n int, status string, a Answer) {
	var output []any
	for _, c := range a.Calls {
		output = append(output, map[string]any{"id": "item_call_" + c.ID, "object": "realtime.item", "type": "function_call", "status": "completed", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments})
	}
	t.send(map[string]any{"type": "response.done", "response": map[string]any{"id": fmt.Sprintf("resp_%d", n), "status": status, "output": output}})
}

// answer sends the next response of the realtime engine, with its audio and tool calls.
func (t *realtimeTalk) answer() {
	f, heard := t.s.now("realtime")
	if f == Late {
		select {
		case <-t.s.release:
		case <-t.ctx.Done():
			return
		}
	}
	t.s.mu.Lock()
	a := Answer{Say: "How can I help you?"}
	if t.s.answers != nil {
		a = t.s.answers(t.n, heard)
	}
	t.s.mu.Unlock()
	t.n++
	n := t.n
	t.mu.Lock()
	t.now = n
	t.mu.Unlock()
	item, response := fmt.Sprintf("item_agent_%d", n), fmt.Sprintf("resp_%d", n)
	t.send(map[string]any{"type": "response.created", "response": map[string]any{"id": response, "status": "in_progress", "output": []any{}}})
	if a.Say != "" {
		t.send(map[string]any{"type": "response.output_audio_transcript.delta", "response_id": response, "item_id": item, "delta": a.Say})
	}
	for sound := MuLawAudio(a.Say); len(sound) > 0; {
		piece := sound[:min(deltaMost, len(sound))]
		sound = sound[len(piece):]
		t.send(map[string]any{"type": "response.output_audio.delta", "response_id": response, "item_id": item, "content_index": 0, "delta": base64.StdEncoding.EncodeToString(piece)})
		switch f { //nolint:exhaustive // the other faults do not concern this point
		case Stalls:
			return
		case Drops:
			t.drop()
			return
		}
	}
	if a.Say != "" {
		t.send(map[string]any{"type": "response.output_audio.done", "response_id": response, "item_id": item})
		t.send(map[string]any{"type": "response.output_audio_transcript.done", "response_id": response, "item_id": item, "transcript": a.Say})
	}
	t.mu.Lock()
	mine := t.now == n
	if mine {
		t.now = 0
	}
	t.mu.Unlock()
	if mine {
		t.over(n, "completed", a)
	}
}
