package httpapi_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/events"
)

// fakeEventStream is an event log to which tests append. Streams end after the last event unless live is true.
type fakeEventStream struct {
	mu        sync.Mutex
	rows      []event.Event
	live      bool
	more      chan struct{}
	lastAfter string // the query parameter after of the last reader
	readCount int    // number of events read
}

func oneEvent(n int) event.Event {
	return someEvent(n, event.CallEnded, "call_x")
}

// someEvent returns an event of a type with a sample payload.
func someEvent(n int, t event.Type, subject string) event.Event {
	data, _ := json.Marshal(webhook.SamplePayload(t, &domain.Webhook{}, time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC)))
	return event.Event{ID: "evt_" + ulidOf(n), Type: t, Subject: subject, Sequence: uint64(n), Data: data}
}

// keepOpen makes streams wait for new events instead of ending after the last event.
func (t *fakeEventStream) keepOpen() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live, t.more = true, make(chan struct{})
}

// commit appends events to the log and wakes the waiting streams.
func (t *fakeEventStream) commit(events ...event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, events...)
	close(t.more)
	t.more = make(chan struct{})
}

// progress returns the number of events that streams have read, and the query parameter after of the last stream.
func (t *fakeEventStream) progress() (given int, after string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readCount, t.lastAfter
}

func (f *fakeServices) FollowEvents(_ context.Context, _ domain.Principal, q events.Query) (func(context.Context) ([]event.Event, error), error) {
	if q.After == "evt_"+ulidOf(9) {
		return nil, domain.Errorf(domain.CodeCursorExpired, "The event is no longer kept.")
	}
	t := &f.eventStream
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastAfter = q.After
	at := 0
	return func(ctx context.Context) ([]event.Event, error) {
		for {
			t.mu.Lock()
			var out []event.Event
			for ; at < len(t.rows) && len(out) < 100; at++ {
				if _, ok := event.MatchSubscription(q.Types, t.rows[at].Type); ok {
					out = append(out, t.rows[at])
				}
			}
			t.readCount += len(out)
			more, live := t.more, t.live
			t.mu.Unlock()
			switch {
			case len(out) > 0:
				return out, nil
			case !live:
				return nil, io.EOF
			}
			select {
			case <-more:
			case <-ctx.Done():
				return nil, nil
			}
		}
	}, nil
}

func (f *fakeServices) Event(_ context.Context, _ domain.Principal, id string) (event.Event, error) {
	if e := oneEvent(1); id == e.ID {
		return e, nil
	}
	return event.Event{}, domain.Errorf(domain.CodeNotFound, "There is no such event.")
}

// revoke removes an API key. It may be called while requests run.
func (f *fakeServices) revoke(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, key)
}

// longEvent returns an event whose payload has about size bytes.
func longEvent(n, size int) event.Event {
	e := oneEvent(n)
	e.Data = json.RawMessage(`{"call_id":"` + strings.Repeat("x", size) + `"}`)
	return e
}
