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

// ListEventsQuery is what ListEvents can be asked; what is zero is left out.
type ListEventsQuery struct {
	// The id of the last event seen; left out: from the oldest that is kept.
	After string
	// The same, under the name that lists give it.
	Cursor string
	// Event names, or a category such as call.*, parted by commas.
	Type  string
	Limit int64
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// ListEvents: Read events forwards, oldest first.
//
// GET /v1/events
//
// For the next page send the last id as after. Only events of resources that the credential may read are shown.
func (c *Client) ListEvents(ctx context.Context, q ListEventsQuery, options ...Option) (*ListEvent, error) {
	return send[ListEvent](ctx, c, "GET", "/v1/events", q.values(), nil, options)
}

// AllEvents walks the pages of ListEvents to their end; an error is the last that comes.
func (c *Client) AllEvents(ctx context.Context, q ListEventsQuery, options ...Option) iter.Seq2[Event, error] {
	return pages(&q.Cursor, func() ([]Event, *string, error) {
		l, err := c.ListEvents(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// StreamEventsQuery is what StreamEvents can be asked; what is zero is left out.
type StreamEventsQuery struct {
	// The id of the last event seen, or now.
	After string
	// Event names, or a category such as call.*, parted by commas.
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

// StreamEvents: Follow events as they happen.
//
// GET /v1/events/stream
//
// Server-sent events (EventSource), forwards in the order in which they happened: each with its id and, as data, an Event in one line. Begins after Last-Event-ID or after; at the oldest event that is kept without either; with after=now at the next that happens. A comment every 15 seconds shows that the line holds. Nothing is lost on a reader who is slow, nor on one who comes back with the last id. The stream ends with its credential, and when the service stops: come back then. Only events of resources that the credential may read are sent. A workspace may have 100 open. Browsers use a ticket, and another each time they come back.
//
// The caller reads the body and closes it.
func (c *Client) StreamEvents(ctx context.Context, q StreamEventsQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/events/stream", q.values(), nil, options)
}

// GetEvent: Read an event.
//
// GET /v1/events/{id}
//
// 403 where the credential may not read the resource that it is about.
func (c *Client) GetEvent(ctx context.Context, id string, options ...Option) (*Event, error) {
	return send[Event](ctx, c, "GET", "/v1/events/"+url.PathEscape(id), nil, nil, options)
}
