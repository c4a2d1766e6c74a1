// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListBulksQuery holds the query parameters of ListBulks. Zero values are not sent.
type ListBulksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllBulks iterates over all pages of ListBulks. It ends after the first error.
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
// Responds at once. The items run one after another, each exactly once, even if the service restarts. The error of an item has its index (from 0) and its field. This response lists up to 1,000 errors, …/items lists all. An invalid item is rejected and does not stop other items. Calls share concurrent calls and the plan's calls per minute fairly with campaigns. They wait and are never refused because of these limits. A call outside its compliance.calling_hours is `waiting` until they start, and does not delay other calls. Do-not-call lists are checked again right before the call is placed.
func (c *Client) BulkCalls(ctx context.Context, body *NewBulkOfNewCallRequestNewCallRequest, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/calls", nil, asJSON(body), options)
}

// BulkContacts: Add many contacts to a campaign.
//
// POST /v1/bulk/contacts
//
// Responds at once. The items run one after another, each exactly once, even if the service restarts. The error of an item has its index (from 0) and its field. This response lists up to 1,000 errors, …/items lists all. An invalid item is rejected and does not stop other items. Set the campaign in defaults.campaign_id.
func (c *Client) BulkContacts(ctx context.Context, body *NewBulkOfBulkContactDefaultsNewContact, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/contacts", nil, asJSON(body), options)
}

// BulkNumbers: Add many numbers to a do-not-call list.
//
// POST /v1/bulk/dnc
//
// Responds at once. The items run one after another, each exactly once, even if the service restarts. The error of an item has its index (from 0) and its field. This response lists up to 1,000 errors, …/items lists all. An invalid item is rejected and does not stop other items.
func (c *Client) BulkNumbers(ctx context.Context, body *NewBulkOfBulkNumberDefaultsDNCNumber, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/dnc", nil, asJSON(body), options)
}

// BulkSMS: Send many text messages.
//
// POST /v1/bulk/sms
//
// Responds at once. The items run one after another, each exactly once, even if the service restarts. The error of an item has its index (from 0) and its field. This response lists up to 1,000 errors, …/items lists all. An invalid item is rejected and does not stop other items. With a live key, 409 no_sms_route if no trunk or gateway carries messages.
func (c *Client) BulkSMS(ctx context.Context, body *NewBulkOfNewMessageNewMessage, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/sms", nil, asJSON(body), options)
}

// GetBulk: Get a bulk job.
//
// GET /v1/bulk/{id}
//
// A job is stored for 30 days after its end.
func (c *Client) GetBulk(ctx context.Context, id string, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "GET", "/v1/bulk/"+url.PathEscape(id), nil, nil, options)
}

// CancelBulk: Cancel the remaining items of a bulk job.
//
// POST /v1/bulk/{id}/cancel
//
// Finished items and live calls are not affected. Repeating it has no effect. 409 invalid_state for a completed job.
func (c *Client) CancelBulk(ctx context.Context, id string, options ...Option) (*Bulk, error) {
	return send[Bulk](ctx, c, "POST", "/v1/bulk/"+url.PathEscape(id)+"/cancel", nil, nil, options)
}

// ListBulkItemsQuery holds the query parameters of ListBulkItems. Zero values are not sent.
type ListBulkItemsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	// Filters by status.
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

// ListBulkItems: List the items of a bulk job in their order.
//
// GET /v1/bulk/{id}/items
func (c *Client) ListBulkItems(ctx context.Context, id string, q ListBulkItemsQuery, options ...Option) (*ListBulkItem, error) {
	return send[ListBulkItem](ctx, c, "GET", "/v1/bulk/"+url.PathEscape(id)+"/items", q.values(), nil, options)
}

// AllBulkItems iterates over all pages of ListBulkItems. It ends after the first error.
func (c *Client) AllBulkItems(ctx context.Context, id string, q ListBulkItemsQuery, options ...Option) iter.Seq2[BulkItem, error] {
	return pages(&q.Cursor, func() ([]BulkItem, *string, error) {
		l, err := c.ListBulkItems(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// Bulk is part of a response.
type Bulk struct {
	// Number of valid items: the sum of pending, done, failed and cancelled.
	Accepted int64 `json:"accepted"`
	// Number of items that were cancelled before they ran.
	Cancelled int64 `json:"cancelled"`
	// When the last item ended or the job was cancelled.
	CompletedAt *time.Time `json:"completed_at"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// Number of successful items.
	Done int64 `json:"done"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Errors of the first 1,000 items.
	Errors []BulkError `json:"errors"`
	// Number of items that failed when they ran.
	Failed int64 `json:"failed"`
	// Unique id. It never changes and is never reused.
	ID    string `json:"id"`
	KeyID string `json:"key_id,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	Next     int64             `json:"next,omitzero"`
	// The type of the resource.
	Object   string `json:"object"`
	Operator bool   `json:"operator,omitzero"`
	// Number of items that have not started.
	Pending int64 `json:"pending"`
	// Number of invalid items.
	Rejected int64 `json:"rejected"`
	// queued, running, completed or cancelled. One of queued, running, completed, cancelled.
	Status string `json:"status"`
	// The campaign that gets the contacts, or the list that gets the numbers.
	TargetID string `json:"target_id,omitzero"`
	// Number of items.
	Total int64 `json:"total"`
	// Kind of items: calls, sms, contacts or dnc. One of calls, sms, contacts, dnc.
	Type string `json:"type"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What the next call waits for: line or trunk; calling_hours if all remaining calls wait for them.
	Waiting string `json:"waiting,omitzero"`
	// When the first of these calling hours start.
	WaitingUntil *time.Time `json:"waiting_until,omitempty"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// BulkItem is part of a response.
type BulkItem struct {
	// The id of the job.
	BulkID string `json:"bulk_id"`
	// Error code of a rejected or failed item.
	Code string `json:"code,omitzero"`
	// Creation time of the job.
	CreatedAt time.Time `json:"created_at"`
	// Index of the item, from 0.
	Index int64 `json:"index"`
	// Error message of a rejected or failed item.
	Message string `json:"message,omitzero"`
	// The type of the resource. One of bulk_item.
	Object string `json:"object"`
	// The field with the error.
	Param string `json:"param,omitzero"`
	// Id of the created resource, e.g. a call.
	ResultID string `json:"result_id,omitzero"`
	// pending, done, failed, rejected or cancelled. One of pending, waiting, done, failed, rejected, cancelled.
	Status string `json:"status"`
	// When the calling hours of a waiting item start.
	Until *time.Time `json:"until,omitempty"`
}

// ListBulk is part of a response.
type ListBulk struct {
	// The resources of this page.
	Data []Bulk `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListBulkItem is part of a response.
type ListBulkItem struct {
	// The resources of this page.
	Data []BulkItem `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewBulkOfBulkContactDefaultsNewContact is part of a request.
type NewBulkOfBulkContactDefaultsNewContact struct {
	// Default members of every item.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []NewContact `json:"items"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
}

// NewBulkOfBulkNumberDefaultsDNCNumber is part of a request.
type NewBulkOfBulkNumberDefaultsDNCNumber struct {
	// Default members of every item.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []DNCNumber `json:"items"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
}

// NewBulkOfNewCallRequestNewCallRequest is part of a request.
type NewBulkOfNewCallRequestNewCallRequest struct {
	// Default members of every item.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []NewCallRequest `json:"items"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
}

// NewBulkOfNewMessageNewMessage is part of a request.
type NewBulkOfNewMessageNewMessage struct {
	// Default members of every item.
	Defaults map[string]any `json:"defaults,omitzero"`
	// At most 10,000.
	Items []NewMessage `json:"items"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
}
