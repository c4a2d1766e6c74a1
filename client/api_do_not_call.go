// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"io"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListDNCListsQuery holds the query parameters of ListDNCLists. Zero values are not sent.
type ListDNCListsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListDNCListsQuery) values() url.Values {
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

// ListDNCLists: List the do-not-call lists.
//
// GET /v1/dnc-lists
//
// Opt-outs are added to the default list. Every call is checked against it.
func (c *Client) ListDNCLists(ctx context.Context, q ListDNCListsQuery, options ...Option) (*ListDNCList, error) {
	return send[ListDNCList](ctx, c, "GET", "/v1/dnc-lists", q.values(), nil, options)
}

// AllDNCLists iterates over all pages of ListDNCLists. It ends after the first error.
func (c *Client) AllDNCLists(ctx context.Context, q ListDNCListsQuery, options ...Option) iter.Seq2[DNCList, error] {
	return pages(&q.Cursor, func() ([]DNCList, *string, error) {
		l, err := c.ListDNCLists(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateDNCList: Create a do-not-call list.
//
// POST /v1/dnc-lists
func (c *Client) CreateDNCList(ctx context.Context, body *NewDNCList, options ...Option) (*DNCList, error) {
	return send[DNCList](ctx, c, "POST", "/v1/dnc-lists", nil, asJSON(body), options)
}

// DeleteDNCList: Delete a do-not-call list.
//
// DELETE /v1/dnc-lists/{id}
//
// 409 invalid_state for the default list, and while an open campaign uses the list.
func (c *Client) DeleteDNCList(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/dnc-lists/"+url.PathEscape(id), nil, nil, options)
}

// GetDNCList: Get a do-not-call list.
//
// GET /v1/dnc-lists/{id}
func (c *Client) GetDNCList(ctx context.Context, id string, options ...Option) (*DNCList, error) {
	return send[DNCList](ctx, c, "GET", "/v1/dnc-lists/"+url.PathEscape(id), nil, nil, options)
}

// UpdateDNCList: Change a do-not-call list.
//
// PATCH /v1/dnc-lists/{id}
func (c *Client) UpdateDNCList(ctx context.Context, id string, body *DNCListUpdate, options ...Option) (*DNCList, error) {
	return send[DNCList](ctx, c, "PATCH", "/v1/dnc-lists/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListDNCEntriesQuery holds the query parameters of ListDNCEntries. Zero values are not sent.
type ListDNCEntriesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListDNCEntriesQuery) values() url.Values {
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

// ListDNCEntries: List the numbers of a do-not-call list in internal order.
//
// GET /v1/dnc-lists/{id}/entries
//
// With created_after or created_before a page searches a bounded part of the list, so it may have fewer than limit numbers, or none, although next_cursor leads to more.
func (c *Client) ListDNCEntries(ctx context.Context, id string, q ListDNCEntriesQuery, options ...Option) (*ListDNCEntry, error) {
	return send[ListDNCEntry](ctx, c, "GET", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries", q.values(), nil, options)
}

// AllDNCEntries iterates over all pages of ListDNCEntries. It ends after the first error.
func (c *Client) AllDNCEntries(ctx context.Context, id string, q ListDNCEntriesQuery, options ...Option) iter.Seq2[DNCEntry, error] {
	return pages(&q.Cursor, func() ([]DNCEntry, *string, error) {
		l, err := c.ListDNCEntries(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// ImportDNCEntries: Add numbers to a do-not-call list.
//
// POST /v1/dnc-lists/{id}/entries
//
// Accepts JSON, text/csv with a header row and a column phone, or text/plain with one number per line. CSV and text may be streamed and contain 10 million numbers. Invalid rows are counted and the first 100 are listed. The numbers are added after the whole body is read: an incomplete body is 400 and adds no number. Each number takes effect at once, also for queued attempts.
func (c *Client) ImportDNCEntries(ctx context.Context, id string, body *DNCNumbers, options ...Option) (*DNCImport, error) {
	return send[DNCImport](ctx, c, "POST", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries", nil, asJSON(body), options)
}

// ImportDNCEntriesFrom streams a body of another media type that the operation accepts.
func (c *Client) ImportDNCEntriesFrom(ctx context.Context, id string, mediaType string, body io.Reader, options ...Option) (*DNCImport, error) {
	return send[DNCImport](ctx, c, "POST", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries", nil, stream{mediaType, body}, options)
}

// DeleteDNCEntry: Remove a number from a do-not-call list.
//
// DELETE /v1/dnc-lists/{id}/entries/{phone}
func (c *Client) DeleteDNCEntry(ctx context.Context, id string, phone string, options ...Option) (*DNCEntryDeleted, error) {
	return send[DNCEntryDeleted](ctx, c, "DELETE", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries/"+url.PathEscape(phone), nil, nil, options)
}

// CheckDNCQuery holds the query parameters of CheckDNC. Zero values are not sent.
type CheckDNCQuery struct {
	// The number, preferably in E.164.
	Phone string
}

func (q *CheckDNCQuery) values() url.Values {
	v := make(url.Values)
	if q.Phone != "" {
		v.Set("phone", q.Phone)
	}
	return v
}

// CheckDNC: Check whether a number is on a do-not-call list.
//
// GET /v1/dnc/check
//
// Checks every list of the workspace.
func (c *Client) CheckDNC(ctx context.Context, q CheckDNCQuery, options ...Option) (*DNCCheck, error) {
	return send[DNCCheck](ctx, c, "GET", "/v1/dnc/check", q.values(), nil, options)
}

// DNCCheck is part of a response.
type DNCCheck struct {
	// true if the number is on any list.
	Listed bool `json:"listed"`
	// Entries of the number.
	Lists []DNCFound `json:"lists"`
	// The number in E.164.
	Phone string `json:"phone"`
}

// DNCEntry is part of a response.
type DNCEntry struct {
	// The call in which the person opted out.
	CallID string `json:"call_id,omitzero"`
	// When the number was added to the list.
	CreatedAt time.Time `json:"created_at"`
	// The message with the opt-out.
	MessageID string `json:"message_id,omitzero"`
	// The number in E.164.
	Phone string `json:"phone"`
	// import, api or opt_out. One of import, api, opt_out.
	Source string `json:"source"`
}

// DNCEntryDeleted is part of a response.
type DNCEntryDeleted struct {
	// Always true.
	Deleted bool `json:"deleted"`
	// The type of the resource. One of dnc_entry.
	Object string `json:"object"`
	// The number in E.164.
	Phone string `json:"phone"`
}

// DNCFound is part of a response.
type DNCFound struct {
	// The call in which the person opted out.
	CallID string `json:"call_id,omitzero"`
	// When the number was added to the list.
	CreatedAt time.Time `json:"created_at"`
	// true for the default list.
	Default bool `json:"default"`
	// The id of the list.
	DNCListID string `json:"dnc_list_id"`
	// The message with the opt-out.
	MessageID string `json:"message_id,omitzero"`
	// Name of the list.
	Name string `json:"name"`
	// The number in E.164.
	Phone string `json:"phone"`
	// import, api or opt_out. One of import, api, opt_out.
	Source string `json:"source"`
}

// DNCImport is part of a response.
type DNCImport struct {
	// Numbers that were added to the list.
	Added int64 `json:"added"`
	// The id of the list.
	DNCListID string `json:"dnc_list_id"`
	// Numbers that were already on the list or are repeated.
	Duplicates int64 `json:"duplicates"`
	// Errors of the first 100 invalid rows.
	Errors []ContactError `json:"errors"`
	// Invalid rows.
	Invalid int64 `json:"invalid"`
	// Number of rows.
	Received int64 `json:"received"`
}

// DNCList is part of a response.
type DNCList struct {
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// true for the default list: opt-outs are added to it, and every call is checked against it.
	Default bool `json:"default"`
	// Number of entries.
	Entries int64 `json:"entries"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name of the list.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// DNCListUpdate is part of a request.
type DNCListUpdate struct {
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name of the list.
	Name *string `json:"name,omitempty"`
}

// DNCNumbers is part of a request.
type DNCNumbers struct {
	// Numbers. An entry is an object, or the phone as a string.
	Entries []string `json:"entries"`
}

// ListDNCEntry is part of a response.
type ListDNCEntry struct {
	// The resources of this page.
	Data []DNCEntry `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListDNCList is part of a response.
type ListDNCList struct {
	// The resources of this page.
	Data []DNCList `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewDNCList is part of a request.
type NewDNCList struct {
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name of the list.
	Name string `json:"name"`
}
