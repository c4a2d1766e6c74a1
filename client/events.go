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
	eventMost    = 4 << 20 // bytes of one event
	eventBack    = 500 * time.Millisecond
	eventBackMax = 30 * time.Second
)

// Events follows events as they happen, each once and in their order, and comes
// back after the last one where the stream ends or the service cannot be
// reached. It ends with ctx, and with a refusal that will not pass, which is the
// last that comes.
//
// q.After is the id of the last event that was seen; "": the oldest that is
// kept; "now": only those that still come.
func (c *Client) Events(ctx context.Context, q StreamEventsQuery) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		after := q
		pause := eventBack
		for ctx.Err() == nil {
			read, err := c.follow(ctx, &after, yield)
			var refusal *Error
			switch {
			case errors.Is(err, errLeft):
				return
			case errors.Is(err, errBroken), errors.As(err, &refusal) && !refusal.passing():
				yield(Event{}, err)
				return
			case read:
				pause = eventBack
			}
			if refusal != nil {
				pause = max(pause, refusal.RetryAfter)
			}
			if wait(ctx, pause) != nil {
				return
			}
			pause = min(2*pause, eventBackMax)
		}
	}
}

var (
	// errLeft: whoever reads wants no more.
	errLeft = errors.New("callboard: left")
	// errBroken: coming back would bring the same again.
	errBroken = errors.New("callboard: the stream is no stream of events")
)

// follow reads one stream to its end; read: events came.
func (c *Client) follow(ctx context.Context, q *StreamEventsQuery, yield func(Event, error) bool) (read bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	endless := *c
	if c.HTTP != nil && c.HTTP.Timeout > 0 {
		patient := *c.HTTP
		patient.Timeout = 0
		endless.HTTP = &patient
	}
	resp, err := endless.StreamEvents(ctx, *q, WithHeader("Accept", "text/event-stream"))
	if err != nil {
		return false, err
	}
	defer func() { _ = resp.Body.Close() }()
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		return false, fmt.Errorf("%w: %s of type %q", errBroken, resp.Status, kind)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, eventMost)
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		if text, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			data = append(data[:0], text...)
		}
		if len(line) > 0 || len(data) == 0 {
			continue // an event is whole where a line is empty
		}
		var e Event
		if err = json.Unmarshal(data, &e); err != nil {
			return read, fmt.Errorf("%w: %w", errBroken, err)
		}
		data, read, q.After = data[:0], true, e.ID // the id stands in the data too
		if !yield(e, nil) {
			return read, errLeft
		}
	}
	if err = lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("%w: %w", errBroken, err)
	}
	return read, err
}
