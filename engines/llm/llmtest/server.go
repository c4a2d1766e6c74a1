// Package llmtest is a language model server for tests. It implements the chat completions protocol, sends scripted
// responses in order, and simulates faults.
package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Reply is one scripted response of the model.
type Reply struct {
	Say    []string // chunks of text
	Calls  []Call
	Status int    // status instead of 200
	Raw    string // complete stream as it is sent
	Kind   string // content type instead of text/event-stream
	Hang   bool   // sends nothing until the client leaves
	Stall  bool   // sends nothing after the chunks until the client leaves
	Drop   bool   // closes the connection after the chunks
	// Late delays the last chunk until the channel is closed, even if the client has left. If it is nil, there is no delay.
	Late <-chan struct{}
}

// Call is a tool call in a scripted response.
type Call struct{ ID, Name, Arguments string }

// Request is a request that the client sent.
type Request struct {
	Authorization string    `json:"-"`
	Model         string    `json:"model"`
	Stream        bool      `json:"stream"`
	Messages      []Message `json:"messages"`
	Tools         []struct {
		Type     string `json:"type"`
		Function struct {
			Name       string         `json:"name"`
			Parameters map[string]any `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Temperature *float64       `json:"temperature"`
	MaxTokens   int            `json:"max_tokens"`
	Format      map[string]any `json:"response_format"`
}

// Message is one message of the conversation in a Request.
type Message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// Names returns the names of the tools that the request offers.
func (r *Request) Names() []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Function.Name)
	}
	return names
}

// Last returns the text of the last message in the request.
func (r *Request) Last() string { return r.Messages[len(r.Messages)-1].Content }

// Server is an HTTP server that simulates a language model.
type Server struct {
	URL string // with /v1
	mu  sync.Mutex
	// answer returns the response to a request. It is called under a lock.
	answer func(n int, r *Request) Reply
	asked  []Request
	gone   chan struct{} // receives an entry for each client that left early
}

// New starts a server whose function answer returns the response to request n, from 0.
func New(t testing.TB, answer func(n int, r *Request) Reply) *Server {
	t.Helper()
	s := &Server{answer: answer, gone: make(chan struct{}, 100)}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.URL = web.URL + "/v1"
	return s
}

// Replies returns a function for New that returns the replies in order and repeats the last reply.
func Replies(all ...Reply) func(int, *Request) Reply {
	return func(n int, _ *Request) Reply { return all[min(n, len(all)-1)] }
}

// Requests returns the requests that the server has received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.asked...)
}

// Disconnects receives an entry for each client that left before the end of a delayed response.
func (s *Server) Disconnects() <-chan struct{} { return s.gone }

// ServeHTTP answers a chat completions request with the scripted response.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in Request
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || json.NewDecoder(r.Body).Decode(&in) != nil {
		http.Error(w, "no", http.StatusNotFound)
		return
	}
	in.Authorization = r.Header.Get("Authorization")
	s.mu.Lock()
	reply := s.answer(len(s.asked), &in)
	s.asked = append(s.asked, in)
	s.mu.Unlock()
	s.write(w, r, &reply)
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, reply *Reply) {
	kind := reply.Kind
	if kind == "" {
		kind = "text/event-stream; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	if reply.Status != 0 {
		http.Error(w, `{"error":{"message":"the key sk-secret is wrong"}}`, reply.Status)
		return
	}
	flush := func() {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
	wait := func() {
		flush()
		<-r.Context().Done()
		s.gone <- struct{}{}
	}
	if reply.Hang {
		wait()
		return
	}
	if reply.Raw != "" {
		_, _ = fmt.Fprint(w, reply.Raw)
		return
	}
	event := func(delta map[string]any, finish any) {
		b, _ := json.Marshal(map[string]any{"object": "chat.completion.chunk", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", b)
		flush()
	}
	for i, piece := range reply.Say {
		if reply.Late != nil && i == len(reply.Say)-1 {
			<-reply.Late
		}
		event(map[string]any{"content": piece}, nil)
	}
	switch {
	case reply.Stall:
		wait()
		return
	case reply.Drop:
		panic(http.ErrAbortHandler)
	}
	for i, c := range reply.Calls {
		event(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments},
		}}}, nil)
	}
	finish := "stop"
	if len(reply.Calls) > 0 {
		finish = "tool_calls"
	}
	event(map[string]any{}, finish)
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

// ChunkedReply returns a Reply with a text in chunks of a few letters.
func ChunkedReply(text string) Reply {
	var pieces []string
	for part := range strings.SplitAfterSeq(text, " ") {
		pieces = append(pieces, part)
	}
	return Reply{Say: pieces}
}
