// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListBulksQuery is what ListBulks can be asked; what is zero is left out.
type ListBulksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListBulksQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListBulks: List bulk jobs.
//
// GET /v1/bulk
func (c *Client) ListBulks(ctx context.Context, q ListBulksQuery, options ...Option) (*ListBulk, error) {
	return send[ListBulk](ctx, c, "GET", "/v1/bulk", q.values(), nil, options)
}

// AllBulks walks the pages of ListBulks to their end; an error is the last that comes.
func (c *Client) AllBulks(ctx context.Context, q ListBulksQuery, options ...Option) iter.Seq2[Bulk, error] {
	return pages(&q.Cursor, func() ([]Bulk, *string, error) {
		l, err := c.ListBulks(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// BulkCalls: Place many calls.
//
// POST /v1/bulk/calls
//
// Answers at once. The items are done one after another, each exactly once, also where the service ends in between. What is wrong with an item is told with its index (from 0) and field, here for up to 1,000 of them and at …/items for all. An item that is invalid by itself is rejected and stops no other. Calls wait for lines and for the plan's calls per minute, in turns with the campaigns: they are never refused for want of one. A call outside its compliance.calling_hours is `waiting` until they open, and lets the others pass; do-not-call lists are asked again right before it is placed.
func (c *Client) BulkCalls(ctx context.Context, body *NewBulkOfNewCallRequestNewCallRequest, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/calls", nil, asJSON(body), options)
}

// BulkContacts: Add many contacts to a campaign.
//
// POST /v1/bulk/contacts
//
// Answers at once. The items are done one after another, each exactly once, also where the service ends in between. What is wrong with an item is told with its index (from 0) and field, here for up to 1,000 of them and at …/items for all. An item that is invalid by itself is rejected and stops no other. defaults.campaign_id names the campaign.
func (c *Client) BulkContacts(ctx context.Context, body *NewBulkOfBulkContactDefaultsNewContact, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/contacts", nil, asJSON(body), options)
}

// BulkNumbers: Put many numbers onto a do-not-call list.
//
// POST /v1/bulk/dnc
//
// Answers at once. The items are done one after another, each exactly once, also where the service ends in between. What is wrong with an item is told with its index (from 0) and field, here for up to 1,000 of them and at …/items for all. An item that is invalid by itself is rejected and stops no other.
func (c *Client) BulkNumbers(ctx context.Context, body *NewBulkOfBulkNumberDefaultsDNCNumber, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/dnc", nil, asJSON(body), options)
}

// BulkSMS: Send many text messages.
//
// POST /v1/bulk/sms
//
// Answers at once. The items are done one after another, each exactly once, also where the service ends in between. What is wrong with an item is told with its index (from 0) and field, here for up to 1,000 of them and at …/items for all. An item that is invalid by itself is rejected and stops no other. With a live key 409 no_sms_route while no trunk carries messages.
func (c *Client) BulkSMS(ctx context.Context, body *NewBulkOfNewMessageNewMessage, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/sms", nil, asJSON(body), options)
}

// GetBulk: See how far a bulk job is.
//
// GET /v1/bulk/{id}
//
// A job is kept for 30 days after its end.
func (c *Client) GetBulk(ctx context.Context, id string, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "GET", "/v1/bulk/"+url.PathEscape(id), nil, nil, options)
}

// CancelBulk: Cancel what a bulk job has not begun.
//
// POST /v1/bulk/{id}/cancel
//
// What was done stays; calls go on. Repeated it has no effect; 409 invalid_state where the job is completed.
func (c *Client) CancelBulk(ctx context.Context, id string, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/"+url.PathEscape(id)+"/cancel", nil, nil, options)
}

// ListBulkItemsQuery is what ListBulkItems can be asked; what is zero is left out.
type ListBulkItemsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// Only items in this state.
	Status string
}

func (q *ListBulkItemsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	if q.Status != "" {
		v.Set("status", q.Status)
	}
	return v
}

// ListBulkItems: See what became of the items of a bulk job, in their order.
//
// GET /v1/bulk/{id}/items
func (c *Client) ListBulkItems(ctx context.Context, id string, q ListBulkItemsQuery, options ...Option) (*ListBulkItem, error) {
	return send[ListBulkItem](ctx, c, "GET", "/v1/bulk/"+url.PathEscape(id)+"/items", q.values(), nil, options)
}

// AllBulkItems walks the pages of ListBulkItems to their end; an error is the last that comes.
func (c *Client) AllBulkItems(ctx context.Context, id string, q ListBulkItemsQuery, options ...Option) iter.Seq2[BulkItem, error] {
	return pages(&q.Cursor, func() ([]BulkItem, *string, error) {
		l, err := c.ListBulkItems(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// Bulk is an answer of the service, or a part of one.
type Bulk struct {
	// How many of them are carried out: the sum of pending, done, failed and cancelled.
	Accepted int64 `json:"accepted"`
	// How many were never begun.
	Cancelled int64 `json:"cancelled"`
	// When the last item was done, or the job cancelled.
	CompletedAt *time.Time `json:"completed_at"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// How many were carried out.
	Done int64 `json:"done"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// What was wrong with items, the first 1,000.
	Errors []BulkError `json:"errors"`
	// How many could not be carried out when their turn came.
	Failed int64 `json:"failed"`
	// Names it; never changes and is never given again.
	ID    string `json:"id"`
	KeyID string `json:"key_id,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	Next     int64             `json:"next,omitzero"`
	// What kind of resource this is.
	Object   string `json:"object"`
	Operator bool   `json:"operator,omitzero"`
	// How many are still to come.
	Pending int64 `json:"pending"`
	// How many of them were invalid by themselves.
	Rejected int64 `json:"rejected"`
	// queued, running, completed or cancelled. One of queued, running, completed, cancelled.
	Status string `json:"status"`
	// The campaign that takes the contacts, or the list that takes the numbers.
	TargetID string `json:"target_id,omitzero"`
	// How many items came.
	Total int64 `json:"total"`
	// What its items become: calls, sms, contacts or dnc. One of calls, sms, contacts, dnc.
	Type string `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What the next call waits for, if it waits: line or trunk; calling_hours where all that are left do.
	Waiting string `json:"waiting,omitzero"`
	// When the first of the calling hours opens that are waited for.
	WaitingUntil *time.Time `json:"waiting_until,omitempty"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// BulkItem is an answer of the service, or a part of one.
type BulkItem struct {
	// The job.
	BulkID string `json:"bulk_id"`
	// Why it was rejected or failed.
	Code string `json:"code,omitzero"`
	// The job's: its items are made with it.
	CreatedAt time.Time `json:"created_at"`
	// Its place among the items, from 0.
	Index int64 `json:"index"`
	// The same in words.
	Message string `json:"message,omitzero"`
	// What kind of resource this is. One of bulk_item.
	Object string `json:"object"`
	// The field to blame.
	Param string `json:"param,omitzero"`
	// What it became, e.g. a call.
	ResultID string `json:"result_id,omitzero"`
	// pending, done, failed, rejected or cancelled. One of pending, waiting, done, failed, rejected, cancelled.
	Status string `json:"status"`
	// When the calling hours of one that waits open.
	Until *time.Time `json:"until,omitempty"`
}

// ListBulk is an answer of the service, or a part of one.
type ListBulk struct {
	// The rows of this page.
	Data []Bulk `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListBulkItem is an answer of the service, or a part of one.
type ListBulkItem struct {
	// The rows of this page.
	Data []BulkItem `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewBulkOfBulkContactDefaultsNewContact is sent to the service.
type NewBulkOfBulkContactDefaultsNewContact struct {
	// What every item has unless it says otherwise.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []NewContact `json:"items"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
}

// NewBulkOfBulkNumberDefaultsDNCNumber is sent to the service.
type NewBulkOfBulkNumberDefaultsDNCNumber struct {
	// What every item has unless it says otherwise.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []DNCNumber `json:"items"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
}

// NewBulkOfNewCallRequestNewCallRequest is sent to the service.
type NewBulkOfNewCallRequestNewCallRequest struct {
	// What every item has unless it says otherwise.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []NewCallRequest `json:"items"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
}

// NewBulkOfNewMessageNewMessage is sent to the service.
type NewBulkOfNewMessageNewMessage struct {
	// What every item has unless it says otherwise.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []NewMessage `json:"items"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
}
