// Package client is a Go client of the Callboard HTTP API. Its types and methods (api_*.go) are generated from the
// OpenAPI document of the service. The other files hold the code that the methods share. The package imports only the
// standard library.
//
//	c := &client.Client{URL: "https://calls.example.com", Key: os.Getenv("CALLBOARD_KEY")}
//	call, err := c.PlaceCall(ctx, &client.NewCallRequest{To: "+12025550123", AgentID: new("agent_…")})
//
// A *Client is safe for concurrent use.
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

// Client sends requests to one service with one API key or token.
type Client struct {
	URL  string       // address of the service, such as https://calls.example.com
	Key  string       // an API key or a token
	HTTP *http.Client // nil: http.DefaultClient
	// Retries is the number of times that a request is repeated after a response with status 429 or 503. The client
	// waits as Retry-After says. With Retries, every POST has an Idempotency-Key, so that it takes effect once.
	// Requests with a streamed body are not repeated.
	Retries int
}

// Option changes an HTTP request before the client sends it.
type Option func(*http.Request)

// WithHeader returns an Option that sets a header, such as Range.
func WithHeader(name, value string) Option {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// WithIdempotencyKey returns an Option that sets the idempotency key of a POST. Requests with the same key within a day
// take effect once.
func WithIdempotencyKey(key string) Option { return WithHeader(idempotencyKey, key) }

const idempotencyKey = "Idempotency-Key"

// Error is an error response of the service.
type Error struct {
	Status     int           `json:"-"`
	RetryAfter time.Duration `json:"-"` // 0: unknown
	Code       string        `json:"code"`
	Message    string        `json:"message"`
	Param      string        `json:"param"` // the invalid field, "" if the error is not about one field
	Details    []Detail      `json:"details"`
	RequestID  string        `json:"request_id"`
	// Body is the response body. Some errors have additional fields there.
	Body []byte `json:"-"`
}

// Error returns the status, the code, the message, the problems of single fields and the request id.
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
	maxErrorBody  = 1 << 20 // bytes
	maxRetryDelay = time.Minute
	minRetryDelay = 100 * time.Millisecond
)

// stream is a request body that is read while the request is sent.
type stream struct {
	mediaType string
	body      io.Reader
}

// asJSON returns body in the form in which open sends it as JSON. A nil pointer becomes nil, which means no body.
func asJSON[T any](body *T) any {
	if body == nil {
		return nil
	}
	return body
}

// send sends a request and decodes the JSON response.
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

// decodeJSON decodes one JSON text into a value. Numbers in fields of type any become json.Number, because a float64
// cannot represent every integer.
func decodeJSON(r io.Reader, into any) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	return d.Decode(into)
}

// open sends a request and returns its successful response. It repeats the request as Client.Retries allows. The
// caller closes the body of the response.
func (c *Client) open(ctx context.Context, method, path string, query url.Values, body any, options []Option) (*http.Response, error) {
	var text []byte
	upload, streamed := body.(stream)
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
	for attempt := 0; ; attempt++ {
		from, kind := upload.body, upload.mediaType
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
		refusal := readError(resp)
		if attempt >= c.Retries || streamed || !refusal.isTemporary() {
			return nil, refusal
		}
		if err = wait(ctx, min(max(refusal.RetryAfter, minRetryDelay), maxRetryDelay)); err != nil {
			return nil, refusal
		}
	}
}

// request returns an HTTP request with the API key, the media type kind and the options applied.
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

// isTemporary reports whether the same request may succeed later.
func (e *Error) isTemporary() bool {
	return e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests
}

// wait sleeps for d. It returns an error as soon as ctx ends.
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

// readError returns the error of a response and closes its body.
func readError(resp *http.Response) *Error {
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
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

// pages returns an iterator over the rows of all pages of a list. next returns the rows of the page at cursor, and the
// cursor of the next page.
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
