// Package llm speaks to language models over the OpenAI-compatible
// /v1/chat/completions, streamed by server-sent events. It knows no call and no
// pathway: it is handed messages and tools, and tells sentences as they come.
package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Engine is one model of one server. Its key never shows in an error.
type Engine struct {
	Name   string // as the operator calls it
	URL    string // of the API, up to and with /v1
	Key    string // secret; "": none is sent
	Model  string
	Tenant bool // its address was named by a tenant: only what tenants may reach is reached
	// First is how long the first word may take, Stall the longest pause between
	// two pieces, Total the whole answer. Zero: 5 s, 5 s, 60 s.
	First, Stall, Total time.Duration
}

// Roles of a message.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	ToolRole  = "tool"
)

// Message is one of a conversation.
type Message struct {
	Role  string
	Text  string
	Calls []Call // of the assistant
	ID    string // of the call that a tool answers
}

// Call is what a model wants to be done.
type Call struct {
	ID        string
	Name      string
	Arguments string // JSON as the model wrote it: to be judged
}

// Tool is what a model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  map[string]any // JSON Schema
}

// Request is one question to a model.
type Request struct {
	Messages    []Message
	Tools       []Tool
	Temperature *float64
	MaxTokens   int            // of the answer; 0: as the engine has it
	Format      map[string]any // JSON Schema that the answer must have; nil: words
}

// Answer is what a model said and wants.
type Answer struct {
	Text       string
	Calls      []Call
	FirstToken time.Duration // from the request to the first piece of it
	Engine     string        // which gave it
	Cut        bool          // it ended early: MaxTokens, a filter
}

// Fault is why an engine gave no answer, without anything secret.
type Fault struct { //nolint:errname // what agent.error calls it
	Engine  string
	Code    string // timeout | stalled | unreachable | refused | rejected | overloaded | garbage | dropped | too_long | empty
	Message string
	Spoke   bool // pieces of an answer were told before
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
	resting resting
}

// Ask has the first engine that can answer do so, in the order given, and tells
// each sentence as soon as it is whole. One that failed three times in a row is
// asked last for ten seconds, later for up to a minute. Each engine that fails is told to lost.
// One that has spoken is not replaced: what was said cannot be taken back.
func (c *Client) Ask(ctx context.Context, engines []Engine, r Request, sentence func(text string, first time.Duration), lost func(*Fault)) (Answer, error) {
	last := error(&Fault{Code: "refused", Message: "no engine is configured"})
	engines = c.resting.sort(engines, time.Now())
	for i := range engines {
		a, err := c.askEngine(ctx, &engines[i], r, sentence)
		if err == nil {
			c.resting.note(&engines[i], nil, time.Now())
			return a, nil
		}
		if ctx.Err() != nil {
			return a, err
		}
		last = err
		f, ok := errors.AsType[*Fault](err)
		if ok {
			c.resting.note(&engines[i], f, time.Now())
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
