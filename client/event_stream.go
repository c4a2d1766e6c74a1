package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"
)

const (
	maxEventSize      = 4 << 20 // bytes
	minReconnectDelay = 500 * time.Millisecond
	maxReconnectDelay = 30 * time.Second
)

// Events returns events as they occur, each once and in order. If the stream ends or the service cannot be reached,
// the method reconnects and continues after the last event. It ends when ctx ends. A permanent error response also
// ends it and is the last value.
//
// q.After is the id of the last received event. "" starts with the oldest stored event, "now" with the next event.
func (c *Client) Events(ctx context.Context, q StreamEventsQuery) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		after := q
		pause := minReconnectDelay
		for ctx.Err() == nil {
			read, err := c.follow(ctx, &after, yield)
			var refusal *Error
			switch {
			case errors.Is(err, errStopped):
				return
			case errors.Is(err, errInvalidStream), errors.As(err, &refusal) && !refusal.isTemporary():
				yield(Event{}, err)
				return
			case read:
				pause = minReconnectDelay
			}
			if refusal != nil {
				pause = max(pause, refusal.RetryAfter)
			}
			if wait(ctx, pause) != nil {
				return
			}
			pause = min(2*pause, maxReconnectDelay)
		}
	}
}

var (
	// errStopped means that the caller has stopped the iteration over the events.
	errStopped = errors.New("callboard: the reader has stopped")
	// errInvalidStream means that the response is not an event stream. There is no reconnect, because a new connection
	// would get the same response.
	errInvalidStream = errors.New("callboard: the response is not a valid event stream")
)

// follow reads the events of one connection until it ends. read reports whether at least one event was received.
func (c *Client) follow(ctx context.Context, q *StreamEventsQuery, yield func(Event, error) bool) (read bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unlimited := *c // without a timeout, because the response lasts as long as the stream
	if c.HTTP != nil && c.HTTP.Timeout > 0 {
		h := *c.HTTP
		h.Timeout = 0
		unlimited.HTTP = &h
	}
	resp, err := unlimited.StreamEvents(ctx, *q, WithHeader("Accept", "text/event-stream"))
	if err != nil {
		return false, err
	}
	defer func() { _ = resp.Body.Close() }()
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		return false, fmt.Errorf("%w: %s of type %q", errInvalidStream, resp.Status, kind)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxEventSize)
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		if text, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			data = append(data[:0], text...)
		}
		if len(line) > 0 || len(data) == 0 {
			continue // an empty line ends an event
		}
		var e Event
		if err = json.Unmarshal(data, &e); err != nil {
			return read, fmt.Errorf("%w: %w", errInvalidStream, err)
		}
		data, read, q.After = data[:0], true, e.ID // the data also has the id
		if !yield(e, nil) {
			return read, errStopped
		}
	}
	if err = lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("%w: %w", errInvalidStream, err)
	}
	return read, err
}
