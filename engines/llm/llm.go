// Package llm is a client of language models with the OpenAI-compatible API /v1/chat/completions, streamed by
// server-sent events. A request has messages and tools, and the response is whole sentences and tool calls. The package
// has no knowledge of calls or pathways.
package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Engine is one language model on one server. Errors never contain its key.
type Engine struct {
	Name   string // name in the operator's configuration
	URL    string // address of the API, up to and with /v1
	Key    string // secret; "": no key is sent
	Model  string
	Tenant bool // a tenant named the address, so the egress filter applies
	// ReasoningEffort is sent as reasoning_effort; "": not sent.
	ReasoningEffort string
	// MaxCompletionTokens sends the limit of a response as max_completion_tokens instead of max_tokens.
	MaxCompletionTokens bool
	// First limits the wait for the first word, Stall the pause between two chunks, and Total the whole response. Defaults:
	// 5 s, 5 s, 60 s.
	First, Stall, Total time.Duration
}

// The values of Message.Role.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	ToolRole  = "tool"
)

// Message is one message of the conversation that a model receives.
type Message struct {
	Role  string
	Text  string
	Calls []Call // tool calls of an assistant message
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

// Request is a chat completion request to a language model.
type Request struct {
	Messages    []Message
	Tools       []Tool
	Temperature *float64
	MaxTokens   int            // of the response; 0: the engine's default
	Format      map[string]any // JSON Schema of the response; nil: free text
	Language    string         // BCP 47 tag of the language of the response, by which it is split into sentences
}

// Answer is the complete response of a language model.
type Answer struct {
	Text       string
	Calls      []Call
	FirstToken time.Duration // from the request to the first chunk
	Engine     string        // name of the engine that answered
	Cut        bool          // ended early by MaxTokens or a filter
}

// Fault is the failure of a request to an engine. It contains no secrets.
type Fault struct { //nolint:errname // what agent.error calls it
	Engine  string
	Code    string // timeout | stalled | unreachable | refused | rejected | overloaded | garbage | dropped | too_long | empty
	Message string
	Spoke   bool // pieces of an answer were returned before the failure
}

// Error returns the name of the engine and the message of the fault.
func (f *Fault) Error() string { return fmt.Sprintf("llm: engine %s: %s", f.Engine, f.Message) }

// Limits of the size of a response, and default time limits.
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

// Client sends requests to engines. Free is the HTTP client for engines that the
// operator configured. Guarded is the client for addresses that tenants name. Both
// must not follow redirects.
type Client struct {
	Free    *http.Client
	Guarded *http.Client
	health  engineHealth
}

// Ask sends a request to the engines, in the order given, until an engine answers. It
// calls sentence for each sentence as soon as the sentence is complete, and lost for
// each engine that fails. An engine that failed three times in a row is suspended for
// ten seconds, later for up to a minute: it is tried after all others. If an engine
// fails after its first sentence, the next engine continues the answer, because the
// caller may already have heard the sentence.
func (c *Client) Ask(ctx context.Context, engines []Engine, r Request, sentence func(text string, first time.Duration), lost func(*Fault)) (Answer, error) {
	last := error(&Fault{Code: "refused", Message: "no engine is configured"})
	engines = c.health.sort(engines, time.Now())
	var spoken []string // sentences of engines that failed afterwards
	report := func(text string, first time.Duration) {
		spoken = append(spoken, text)
		if sentence != nil {
			sentence(text, first)
		}
	}
	for i := range engines {
		begun := strings.Join(spoken, " ")
		a, err := c.askEngine(ctx, &engines[i], r.continuing(begun), report)
		a.Text = strings.TrimSpace(begun + " " + a.Text)
		if err == nil {
			c.health.record(&engines[i], nil, time.Now())
			return a, nil
		}
		if ctx.Err() != nil {
			return a, err
		}
		last = err
		f, ok := errors.AsType[*Fault](err)
		if ok {
			c.health.record(&engines[i], f, time.Now())
		}
		if ok && lost != nil {
			lost(f)
		}
	}
	if f, ok := errors.AsType[*Fault](last); ok {
		f.Spoke = len(spoken) > 0
	}
	return Answer{Text: strings.Join(spoken, " ")}, last
}

// continuing returns the request for the rest of an answer of which the caller has already heard the beginning.
func (r Request) continuing(begun string) Request {
	if begun != "" {
		r.Messages = append(slices.Clip(r.Messages), Message{Role: Assistant, Text: begun},
			Message{Role: User, Text: "(Your answer broke off here. Continue it with the next sentence. Do not repeat or mention anything.)"})
	}
	return r
}

func orElse(d, std time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return std
}
