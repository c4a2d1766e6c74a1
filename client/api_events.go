// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ListEventsQuery holds the query parameters of ListEvents. Zero values are not sent.
type ListEventsQuery struct {
	// The id of the last event seen. Default: start with the oldest stored event.
	After string
	// The same as after, under the name that other lists use.
	Cursor string
	// Event types, or categories such as call.*, separated by commas.
	Type  string
	Limit int64
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListEventsQuery) values() url.Values {
	v := make(url.Values)
	if q.After != "" {
		v.Set("after", q.After)
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if q.Type != "" {
		v.Set("type", q.Type)
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListEvents: List events, oldest first.
//
// GET /v1/events
//
// For the next page send the last id as after. The response contains only events of resources that the credential may read.
func (c *Client) ListEvents(ctx context.Context, q ListEventsQuery, options ...Option) (*ListEvent, error) {
	return send[ListEvent](ctx, c, "GET", "/v1/events", q.values(), nil, options)
}

// AllEvents iterates over all pages of ListEvents. It ends after the first error.
func (c *Client) AllEvents(ctx context.Context, q ListEventsQuery, options ...Option) iter.Seq2[Event, error] {
	return pages(&q.Cursor, func() ([]Event, *string, error) {
		l, err := c.ListEvents(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// StreamEventsQuery holds the query parameters of StreamEvents. Zero values are not sent.
type StreamEventsQuery struct {
	// The id of the last event seen, or now.
	After string
	// Event types, or categories such as call.*, separated by commas.
	Type string
}

func (q *StreamEventsQuery) values() url.Values {
	v := make(url.Values)
	if q.After != "" {
		v.Set("after", q.After)
	}
	if q.Type != "" {
		v.Set("type", q.Type)
	}
	return v
}

// StreamEvents: Stream events.
//
// GET /v1/events/stream
//
// Server-sent events (EventSource) in the order of commits, each with its id and an Event in one line as data. The stream starts after Last-Event-ID or after. Without either it starts with the oldest stored event, with after=now at the next event. A comment every 15 seconds shows that the connection works. A slow client, and a client that reconnects with the last id, loses no event. The stream ends with its credential, and when the service stops; reconnect then. It contains only events of resources that the credential may read. A workspace may have 100 open streams. Browsers use a ticket, and a new one for each connection.
//
// The caller reads the body and closes it.
func (c *Client) StreamEvents(ctx context.Context, q StreamEventsQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/events/stream", q.values(), nil, options)
}

// GetEvent: Read an event.
//
// GET /v1/events/{id}
//
// 403 if the credential may not read the resource of the event.
func (c *Client) GetEvent(ctx context.Context, id string, options ...Option) (*Event, error) {
	return send[Event](ctx, c, "GET", "/v1/events/"+url.PathEscape(id), nil, nil, options)
}
