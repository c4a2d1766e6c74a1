package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain/access"
)

// JSON messages of the chat completions API.
type (
	wireMessage struct {
		Role       string     `json:"role"`
		Content    *string    `json:"content"`
		ToolCalls  []wireCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}
	wireCall struct {
		Index    int    `json:"index,omitempty"`
		ID       string `json:"id,omitempty"`
		Type     string `json:"type,omitempty"`
		Function struct {
			Name      string `json:"name,omitempty"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	wireTool struct {
		Type     string       `json:"type"`
		Function wireFunction `json:"function"`
	}
	wireFunction struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitempty"`
		Parameters  map[string]any `json:"parameters"`
	}
	wireRequest struct {
		Model       string        `json:"model"`
		Messages    []wireMessage `json:"messages"`
		Stream      bool          `json:"stream"`
		Tools       []wireTool    `json:"tools,omitempty"`
		Temperature *float64      `json:"temperature,omitempty"`
		MaxTokens   int           `json:"max_tokens,omitempty"`
		Format      any           `json:"response_format,omitempty"`

		MaxCompletionTokens int    `json:"max_completion_tokens,omitempty"`
		ReasoningEffort     string `json:"reasoning_effort,omitempty"`
	}
	wireChunk struct {
		Choices []struct {
			Delta struct {
				Content   *string    `json:"content"`
				ToolCalls []wireCall `json:"tool_calls"`
			} `json:"delta"`
			FinishReason *string `json:"finish_reason"`
		} `json:"choices"`
		Error json.RawMessage `json:"error"`
	}
)

// newWireRequest returns the JSON body of a chat completions request.
func newWireRequest(e *Engine, r Request) wireRequest {
	w := wireRequest{Model: e.Model, Stream: true, Temperature: r.Temperature, MaxTokens: r.MaxTokens, ReasoningEffort: e.ReasoningEffort}
	if e.MaxCompletionTokens {
		w.MaxTokens, w.MaxCompletionTokens = 0, r.MaxTokens
	}
	for _, m := range r.Messages {
		one := wireMessage{Role: m.Role, ToolCallID: m.ID}
		if m.Text != "" || len(m.Calls) == 0 {
			one.Content = &m.Text
		}
		for _, c := range m.Calls {
			x := wireCall{ID: c.ID, Type: "function"}
			x.Function.Name, x.Function.Arguments = c.Name, c.Arguments
			if strings.TrimSpace(c.Arguments) == "" {
				x.Function.Arguments = "{}" // Ollama and vLLM refuse arguments that are not JSON
			}
			one.ToolCalls = append(one.ToolCalls, x)
		}
		w.Messages = append(w.Messages, one)
	}
	for _, t := range r.Tools {
		w.Tools = append(w.Tools, wireTool{"function", wireFunction(t)})
	}
	if r.Format != nil {
		w.Format = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": r.Format}}
	}
	return w
}

// askEngine sends a request to one engine and cancels the request at the time limits of the engine.
func (c *Client) askEngine(ctx context.Context, e *Engine, r Request, sentence func(string, time.Duration)) (Answer, error) {
	bound, end := context.WithCancelCause(ctx)
	defer end(nil)
	endAfter := func(d time.Duration, code, message string) *time.Timer {
		return time.AfterFunc(d, func() { end(&Fault{Engine: e.Name, Code: code, Message: message}) })
	}
	defer endAfter(orElse(e.Total, stdTotal), "timeout", "the response took too long").Stop()
	first := orElse(e.First, stdFirst)
	reader := answerReader{
		engine: e, begun: time.Now(), sentence: sentence, endAfter: endAfter, cutter: Sentences{Language: r.Language},
		silence: endAfter(first, "timeout", fmt.Sprintf("no answer within %s", first)),
	}
	defer func() { reader.silence.Stop() }()
	err := c.stream(bound, e, r, &reader)
	if err == nil {
		return reader.finish()
	}
	if ctx.Err() != nil { // the caller has cancelled the request
		return reader.answer, ctx.Err()
	}
	f, ok := errors.AsType[*Fault](context.Cause(bound))
	if !ok {
		f = faultOf(e, err)
	}
	f.Spoke = reader.spoke
	return reader.answer, f
}

func (c *Client) stream(ctx context.Context, e *Engine, r Request, to *answerReader) error {
	resp, err := c.post(ctx, e, "/chat/completions", "text/event-stream", newWireRequest(e, r))
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "text/event-stream" {
		return &Fault{Engine: e.Name, Code: "garbage", Message: "the response is not an event stream (text/event-stream)"}
	}
	return to.read(io.LimitReader(resp.Body, maxAnswer))
}

// post sends a POST request and returns the response if its status is 200. The caller closes its body.
func (c *Client) post(ctx context.Context, e *Engine, path, accept string, request any) (*http.Response, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(e.URL, "/")+path, bytes.NewReader(text))
	if err != nil {
		return nil, &Fault{Engine: e.Name, Code: "unreachable", Message: "the URL of the engine is not valid"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", "callboard")
	if e.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key)
	}
	web := c.Free
	if e.Tenant {
		web = c.Guarded
	}
	resp, err := web.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, refusal(e, resp.StatusCode)
	}
	return resp, nil
}

func refusal(e *Engine, status int) *Fault {
	f := &Fault{Engine: e.Name, Code: "rejected", Message: fmt.Sprintf("the engine responded with status %d", status)}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Code = "refused"
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		f.Code = "overloaded"
	}
	return f
}

// answerReader assembles the answer from the events of a stream.
type answerReader struct {
	engine   *Engine
	begun    time.Time
	endAfter func(d time.Duration, code, message string) *time.Timer // ends the request with a fault
	silence  *time.Timer
	sentence func(string, time.Duration)
	filter   reasoningFilter
	cutter   Sentences
	answer   Answer
	calls    map[int]int // position in answer.Calls of the call with an index of the stream
	text     strings.Builder
	spoke    bool
	hasChunk bool // a chunk has arrived
	ended    bool // the stream has sent its end
}

// read parses the lines of server-sent events (HTML standard §9.2) until the end of the stream. It ignores all lines
// other than data.
func (r *answerReader) read(from io.Reader) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for lines.Scan() {
		r.restartPauseTimer()
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue // a comment, the name of an event or its end
		}
		data = strings.TrimSpace(data)
		if data == "[DONE]" {
			r.ended = true
			return nil
		}
		if err := r.chunk(data); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if !r.ended {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// restartPauseTimer restarts the timer that limits the pause between two chunks.
func (r *answerReader) restartPauseTimer() {
	if !r.hasChunk {
		return // a comment does not count as the first word
	}
	r.silence.Reset(orElse(r.engine.Stall, stdStall))
}

func (r *answerReader) chunk(data string) error {
	var c wireChunk
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		return &Fault{Engine: r.engine.Name, Code: "garbage", Message: "an event of the response is not JSON"}
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return &Fault{Engine: r.engine.Name, Code: "overloaded", Message: "the engine ended the response with an error"}
	}
	if len(c.Choices) == 0 {
		return nil // a chunk with usage figures only
	}
	d := &c.Choices[0]
	if piece := d.Delta.Content; piece != nil && *piece != "" {
		r.recordFirstChunk()
		if err := r.addText(*piece); err != nil {
			return err
		}
	}
	for i := range d.Delta.ToolCalls {
		r.recordFirstChunk()
		if err := r.addToolCall(&d.Delta.ToolCalls[i]); err != nil {
			return err
		}
	}
	if d.FinishReason != nil {
		r.ended = true
		r.answer.Cut = *d.FinishReason == "length" || *d.FinishReason == "content_filter"
	}
	return nil
}

// recordFirstChunk records the time of the first chunk. It then replaces the time limit for the first chunk with that
// for the pause between two chunks.
func (r *answerReader) recordFirstChunk() {
	if r.hasChunk {
		return
	}
	r.hasChunk = true
	r.answer.FirstToken = time.Since(r.begun)
	r.silence.Stop()
	stall := orElse(r.engine.Stall, stdStall)
	r.silence = r.endAfter(stall, "stalled", fmt.Sprintf("the response paused for %s", stall))
}

func (r *answerReader) addText(piece string) error {
	return r.addSpoken(r.filter.Add(strings.ToValidUTF8(piece, "")))
}

// addSpoken adds text outside of reasoning blocks and reports the sentences that are complete now.
func (r *answerReader) addSpoken(text string) error {
	if r.text.Len()+len(text) > maxText {
		return &Fault{Engine: r.engine.Name, Code: "too_long", Message: fmt.Sprintf("the response has more than %d bytes of text", maxText)}
	}
	r.text.WriteString(text)
	for _, one := range r.cutter.Add(text) {
		r.reportSentence(one)
	}
	return nil
}

func (r *answerReader) reportSentence(sentence string) {
	r.spoke = true
	if r.sentence != nil {
		r.sentence(sentence, r.answer.FirstToken)
	}
}

// addToolCall adds a chunk to a tool call. The first chunk of a tool call has the ID and the name. Further chunks have
// parts of the arguments. Some servers repeat ID and name in each chunk. Ollama sends several calls whole, all with the
// index 0; their IDs tell them apart.
func (r *answerReader) addToolCall(piece *wireCall) error {
	if piece.Index < 0 || piece.Index >= maxCalls {
		return r.tooManyCalls()
	}
	at, known := r.calls[piece.Index]
	if known && piece.ID != "" && r.answer.Calls[at].ID != "" && piece.ID != r.answer.Calls[at].ID {
		known = false
	}
	if !known {
		if len(r.answer.Calls) == maxCalls {
			return r.tooManyCalls()
		}
		if r.calls == nil {
			r.calls = make(map[int]int)
		}
		at = len(r.answer.Calls)
		r.calls[piece.Index] = at
		r.answer.Calls = append(r.answer.Calls, Call{})
	}
	c := &r.answer.Calls[at]
	if piece.ID != "" {
		c.ID = piece.ID
	}
	if piece.Function.Name != c.Name {
		c.Name += piece.Function.Name
	}
	c.Arguments += piece.Function.Arguments
	if len(c.Arguments) > maxArguments || len(c.Name) > 256 || len(c.ID) > 256 {
		return &Fault{Engine: r.engine.Name, Code: "too_long", Message: "a tool call of the response is too long"}
	}
	return nil
}

func (r *answerReader) tooManyCalls() error {
	return &Fault{Engine: r.engine.Name, Code: "too_long", Message: fmt.Sprintf("the response has more than %d tool calls", maxCalls)}
}

// finish returns the complete answer at the end of the stream and reports its last sentence.
func (r *answerReader) finish() (Answer, error) {
	if err := r.addSpoken(r.filter.Rest()); err != nil {
		return r.answer, err
	}
	a := r.answer
	a.Engine, a.Text = r.engine.Name, strings.TrimSpace(r.text.String())
	for i := range a.Calls { // results are matched to calls by ID
		if id := a.Calls[i].ID; id == "" || slices.ContainsFunc(a.Calls[:i], func(c Call) bool { return c.ID == id }) {
			a.Calls[i].ID = fmt.Sprintf("call_%d", i)
		}
	}
	if a.Text == "" && len(a.Calls) == 0 {
		return a, &Fault{Engine: r.engine.Name, Code: "empty", Message: "the response is empty"}
	}
	if rest := r.cutter.Rest(); rest != "" {
		r.reportSentence(rest)
	}
	return a, nil
}

// faultOf converts an error to a Fault. The Fault contains no text of the engine.
func faultOf(e *Engine, err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	f := &Fault{Engine: e.Name, Code: "dropped", Message: "the connection ended before the response"}
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, access.ErrEgress):
		f.Code, f.Message = "unreachable", "its address may not be reached from here"
	case errors.Is(err, bufio.ErrTooLong):
		f.Code, f.Message = "garbage", fmt.Sprintf("an event has more than %d bytes", maxLine)
	case errors.Is(err, context.DeadlineExceeded):
		f.Code, f.Message = "timeout", "the response took too long"
	case errors.As(err, &dns), errors.As(err, &op) && op.Op == "dial":
		f.Code, f.Message = "unreachable", "it cannot be reached"
	}
	return f
}
