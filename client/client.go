// Package client speaks the HTTP API of Callboard. Its types and methods are
// generated from the service's OpenAPI document (api.go); this file holds what
// they share. It needs nothing but the standard library.
//
//	c := &client.Client{URL: "https://calls.example.com", Key: os.Getenv("CALLBOARD_KEY")}
//	call, err := c.PlaceCall(ctx, &client.NewCallRequest{To: "+12025550123", AgentID: new("agent_…")})
//
// A *Client may be used by many goroutines at once.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client is one credential at one service.
type Client struct {
	URL  string // of the service, such as https://calls.example.com
	Key  string // an API key or a token
	HTTP *http.Client
	// Retries is how often a request that was refused for now (429, 503) is sent
	// again, as soon as the answer says; a POST then carries an Idempotency-Key, so
	// that it takes effect once. Bodies that are streamed are sent once.
	Retries int
}

// Option changes one request.
type Option func(*http.Request)

// WithHeader sets a header, such as Range.
func WithHeader(name, value string) Option {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// WithIdempotencyKey lets a POST that is sent again within a day take effect
// once.
func WithIdempotencyKey(key string) Option { return WithHeader(idempotencyKey, key) }

const idempotencyKey = "Idempotency-Key"

// Error is a refusal by the service.
type Error struct {
	Status     int           `json:"-"`
	RetryAfter time.Duration `json:"-"` // 0: unknown
	Code       string        `json:"code"`
	Message    string        `json:"message"`
	Param      string        `json:"param"` // the field that is at fault, where it is one
	Details    []Detail      `json:"details"`
	RequestID  string        `json:"request_id"`
	// Body is the whole answer: some errors have fields of their own.
	Body []byte `json:"-"`
}

// Error is the message with what helps to find its cause.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "callboard: %d %s: %s", e.Status, cmp.Or(e.Code, "unknown"), e.Message)
	for _, d := range e.Details {
		fmt.Fprintf(&b, "; %s: %s", d.Param, d.Message)
	}
	if e.RequestID != "" {
		b.WriteString(" (" + e.RequestID + ")")
	}
	return b.String()
}

const (
	errorMost  = 1 << 20 // bytes that are read of a refusal
	retryMost  = time.Minute
	retryLeast = 100 * time.Millisecond
)

// stream is a body that is sent as it is read.
type stream struct {
	mediaType string
	body      io.Reader
}

// asJSON is a body, or none.
func asJSON[T any](body *T) any {
	if body == nil {
		return nil
	}
	return body
}

// send sends a request and reads the JSON that it answers.
func send[T any](ctx context.Context, c *Client, method, path string, query url.Values, body any, options []Option) (*T, error) {
	resp, err := c.open(ctx, method, path, query, body, options)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	out := new(T)
	if err = decodeJSON(resp.Body, out); err != nil {
		return nil, fmt.Errorf("callboard: %s %s: %w", method, path, err)
	}
	return out, nil
}

// decodeJSON reads one JSON text. Numbers of free members, such as those of
// Context, become json.Number: a float64 cannot hold each of them.
func decodeJSON(r io.Reader, into any) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	return d.Decode(into)
}

// open sends a request, again where it was refused for now. What comes back
// succeeded, and its body is the caller's to close.
func (c *Client) open(ctx context.Context, method, path string, query url.Values, body any, options []Option) (*http.Response, error) {
	var text []byte
	whole, streamed := body.(stream)
	if !streamed && body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("callboard: %w", err)
		}
	}
	if c.Retries > 0 && method == http.MethodPost && !streamed {
		options = append([]Option{WithIdempotencyKey(rand.Text())}, options...)
	}
	at := strings.TrimRight(c.URL, "/") + path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	for tries := 0; ; tries++ {
		from, kind := whole.body, whole.mediaType
		if text != nil {
			from, kind = bytes.NewReader(text), "application/json"
		}
		req, err := c.request(ctx, method, at, kind, from, options)
		if err != nil {
			return nil, err
		}
		resp, err := cmp.Or(c.HTTP, http.DefaultClient).Do(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < http.StatusMultipleChoices {
			return resp, nil
		}
		refusal := refused(resp)
		if tries >= c.Retries || streamed || !refusal.passing() {
			return nil, refusal
		}
		if err = wait(ctx, min(max(refusal.RetryAfter, retryLeast), retryMost)); err != nil {
			return nil, refusal
		}
	}
}

func (c *Client) request(ctx context.Context, method, at, kind string, body io.Reader, options []Option) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, at, body)
	if err != nil {
		return nil, fmt.Errorf("callboard: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	for _, o := range options {
		o(req)
	}
	return req, nil
}

// passing says whether the same request may succeed later.
func (e *Error) passing() bool {
	return e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refused reads a refusal.
func refused(resp *http.Response) *Error {
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, errorMost))
	var envelope struct {
		Error *Error `json:"error"`
	}
	if err != nil || json.Unmarshal(text, &envelope) != nil || envelope.Error == nil {
		envelope.Error = &Error{Message: resp.Status, RequestID: resp.Header.Get("X-Request-Id")}
	}
	e := envelope.Error
	e.Status, e.Body = resp.StatusCode, text
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// pages walks pages: next reads the one at the cursor.
func pages[T any](cursor *string, next func() ([]T, *string, error)) iter.Seq2[T, error] {
	first := *cursor
	return func(yield func(T, error) bool) {
		for *cursor = first; ; {
			rows, more, err := next()
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if more == nil || *more == "" {
				return
			}
			*cursor = *more
		}
	}
}
