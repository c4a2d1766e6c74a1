// Package llm is a client of language models with the OpenAI-compatible API /v1/chat/completions, streamed by
// server-sent events. Messages and tools go in; whole sentences and tool calls come out. The package has no
// knowledge of calls or pathways.
package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Engine is one model of one server. Its key never appears in an error.
type Engine struct {
	Name   string // name in the operator's configuration
	URL    string // address of the API, up to and with /v1
	Key    string // secret; "": no key is sent
	Model  string
	Tenant bool // a tenant named the address, so the egress filter applies
	// First is the longest wait for the first word, Stall the longest pause between two chunks, Total the longest
	// response. Zero: 5 s, 5 s, 60 s.
	First, Stall, Total time.Duration
}

// Roles of a message.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	ToolRole  = "tool"
)

// Message is one message of a conversation.
type Message struct {
	Role  string
	Text  string
	Calls []Call // of the assistant
	ID    string // id of the tool call that a tool message answers
}

// Call is a tool call of the model.
type Call struct {
	ID        string
	Name      string
	Arguments string // JSON as the model wrote it, not checked
}

// Tool is a tool that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  map[string]any // JSON Schema
}

// Request is a request to a model.
type Request struct {
	Messages    []Message
	Tools       []Tool
	Temperature *float64
	MaxTokens   int            // of the response; 0: the engine's default
	Format      map[string]any // JSON Schema of the response; nil: free text
}

// Answer is the response of a model.
type Answer struct {
	Text       string
	Calls      []Call
	FirstToken time.Duration // from the request to the first chunk
	Engine     string        // name of the engine that answered
	Cut        bool          // ended early by MaxTokens or a filter
}

// Fault is the failure of an engine, without secrets.
type Fault struct { //nolint:errname // what agent.error calls it
	Engine  string
	Code    string // timeout | stalled | unreachable | refused | rejected | overloaded | garbage | dropped | too_long | empty
	Message string
	Spoke   bool // pieces of an answer were returned before the failure
}

// Error tells it in words.
func (f *Fault) Error() string { return fmt.Sprintf("llm: engine %s: %s", f.Engine, f.Message) }

// Bounds of an answer.
const (
	maxAnswer    = 1 << 20  // bytes of a stream
	maxLine      = 64 << 10 // bytes of one event
	maxText      = 32 << 10 // bytes of words
	maxCalls     = 16
	maxArguments = 32 << 10
	stdFirst     = 5 * time.Second
	stdStall     = 5 * time.Second
	stdTotal     = time.Minute
)

// Client asks engines. Free reaches what the operator has configured, Guarded
// what tenants may name; neither follows redirects.
type Client struct {
	Free    *http.Client
	Guarded *http.Client
	resting engineHealth
}

// Ask has the first engine that can answer do so, in the order given, and tells
// each sentence as soon as it is whole. One that failed three times in a row is
// asked last for ten seconds, later for up to a minute. lost is called for each engine that fails.
// One that has spoken is not replaced: what was said cannot be taken back.
func (c *Client) Ask(ctx context.Context, engines []Engine, r Request, sentence func(text string, first time.Duration), lost func(*Fault)) (Answer, error) {
	last := error(&Fault{Code: "refused", Message: "no engine is configured"})
	engines = c.resting.sort(engines, time.Now())
	for i := range engines {
		a, err := c.askEngine(ctx, &engines[i], r, sentence)
		if err == nil {
			c.resting.record(&engines[i], nil, time.Now())
			return a, nil
		}
		if ctx.Err() != nil {
			return a, err
		}
		last = err
		f, ok := errors.AsType[*Fault](err)
		if ok {
			c.resting.record(&engines[i], f, time.Now())
		}
		if ok && lost != nil {
			lost(f)
		}
		if ok && f.Spoke {
			return a, err
		}
	}
	return Answer{}, last
}

func orElse(d, std time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return std
}
