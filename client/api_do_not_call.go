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

// ListDNCListsQuery is what ListDNCLists can be asked; what is zero is left out.
type ListDNCListsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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
// The default list takes the opt-outs; every call is checked against it.
func (c *Client) ListDNCLists(ctx context.Context, q ListDNCListsQuery, options ...Option) (*ListDNCList, error) {
	return send[ListDNCList](ctx, c, "GET", "/v1/dnc-lists", q.values(), nil, options)
}

// AllDNCLists walks the pages of ListDNCLists to their end; an error is the last that comes.
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
// 409 invalid_state for the default list, and while an open campaign names it.
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

// ListDNCEntriesQuery is what ListDNCEntries can be asked; what is zero is left out.
type ListDNCEntriesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// ListDNCEntries: List the numbers of a do-not-call list, in an order of its own.
//
// GET /v1/dnc-lists/{id}/entries
//
// With created_after or created_before a page looks through a bounded part of the list: it may hold fewer than limit, or none, while next_cursor goes on.
func (c *Client) ListDNCEntries(ctx context.Context, id string, q ListDNCEntriesQuery, options ...Option) (*ListDNCEntry, error) {
	return send[ListDNCEntry](ctx, c, "GET", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries", q.values(), nil, options)
}

// AllDNCEntries walks the pages of ListDNCEntries to their end; an error is the last that comes.
func (c *Client) AllDNCEntries(ctx context.Context, id string, q ListDNCEntriesQuery, options ...Option) iter.Seq2[DNCEntry, error] {
	return pages(&q.Cursor, func() ([]DNCEntry, *string, error) {
		l, err := c.ListDNCEntries(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// ImportDNCEntries: Put numbers onto a do-not-call list.
//
// POST /v1/dnc-lists/{id}/entries
//
// Takes JSON, or text/csv with a header row and a column phone, or text/plain with one number per line; these may be streamed and hold 10 million numbers. Rows that cannot be used are counted and the first 100 of them told. The numbers are added after the whole body was read: a body that is incomplete is 400 and adds none. Each number holds from its import on, also for attempts that are queued.
func (c *Client) ImportDNCEntries(ctx context.Context, id string, body *DNCNumbers, options ...Option) (*DNCImport, error) {
	return send[DNCImport](ctx, c, "POST", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries", nil, asJSON(body), options)
}

// ImportDNCEntriesFrom sends the body as it is read, of a media type that the operation takes.
func (c *Client) ImportDNCEntriesFrom(ctx context.Context, id string, mediaType string, body io.Reader, options ...Option) (*DNCImport, error) {
	return send[DNCImport](ctx, c, "POST", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries", nil, stream{mediaType, body}, options)
}

// DeleteDNCEntry: Take a number off a do-not-call list.
//
// DELETE /v1/dnc-lists/{id}/entries/{phone}
func (c *Client) DeleteDNCEntry(ctx context.Context, id string, phone string, options ...Option) (*DNCEntryDeleted, error) {
	return send[DNCEntryDeleted](ctx, c, "DELETE", "/v1/dnc-lists/"+url.PathEscape(id)+"/entries/"+url.PathEscape(phone), nil, nil, options)
}

// CheckDNCQuery is what CheckDNC can be asked; what is zero is left out.
type CheckDNCQuery struct {
	// Best in E.164.
	Phone string
}

func (q *CheckDNCQuery) values() url.Values {
	v := make(url.Values)
	if q.Phone != "" {
		v.Set("phone", q.Phone)
	}
	return v
}

// CheckDNC: Ask whether a number is on a do-not-call list.
//
// GET /v1/dnc/check
//
// Looks into every list of the workspace.
func (c *Client) CheckDNC(ctx context.Context, q CheckDNCQuery, options ...Option) (*DNCCheck, error) {
	return send[DNCCheck](ctx, c, "GET", "/v1/dnc/check", q.values(), nil, options)
}

// DNCCheck is an answer of the service, or a part of one.
type DNCCheck struct {
	// Whether it is on any list.
	Listed bool `json:"listed"`
	// Where it is listed.
	Lists []DNCFound `json:"lists"`
	// E.164.
	Phone string `json:"phone"`
}

// DNCEntry is an answer of the service, or a part of one.
type DNCEntry struct {
	// The call in which its owner opted out.
	CallID string `json:"call_id,omitzero"`
	// When it came onto the list.
	CreatedAt time.Time `json:"created_at"`
	// The message that opted out.
	MessageID string `json:"message_id,omitzero"`
	// E.164.
	Phone string `json:"phone"`
	// import, api or opt_out. One of import, api, opt_out.
	Source string `json:"source"`
}

// DNCEntryDeleted is an answer of the service, or a part of one.
type DNCEntryDeleted struct {
	// True.
	Deleted bool `json:"deleted"`
	// What kind of resource this is. One of dnc_entry.
	Object string `json:"object"`
	// E.164.
	Phone string `json:"phone"`
}

// DNCFound is an answer of the service, or a part of one.
type DNCFound struct {
	// The call in which its owner opted out.
	CallID string `json:"call_id,omitzero"`
	// When it came onto the list.
	CreatedAt time.Time `json:"created_at"`
	// Whether it is the default list.
	Default bool `json:"default"`
	// The list.
	DNCListID string `json:"dnc_list_id"`
	// The message that opted out.
	MessageID string `json:"message_id,omitzero"`
	// Its name.
	Name string `json:"name"`
	// E.164.
	Phone string `json:"phone"`
	// import, api or opt_out. One of import, api, opt_out.
	Source string `json:"source"`
}

// DNCImport is an answer of the service, or a part of one.
type DNCImport struct {
	// Numbers that are new on the list.
	Added int64 `json:"added"`
	// The list.
	DNCListID string `json:"dnc_list_id"`
	// Numbers that were on it already, or came twice.
	Duplicates int64 `json:"duplicates"`
	// The first 100 of these.
	Errors []ContactError `json:"errors"`
	// Rows that are no telephone number.
	Invalid int64 `json:"invalid"`
	// Rows that came.
	Received int64 `json:"received"`
}

// DNCList is an answer of the service, or a part of one.
type DNCList struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// It takes the opt-outs, and every call is checked against it.
	Default bool `json:"default"`
	// Numbers on it.
	Entries int64 `json:"entries"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Yours.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// DNCListUpdate is sent to the service.
type DNCListUpdate struct {
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Yours.
	Name *string `json:"name,omitempty"`
}

// DNCNumbers is sent to the service.
type DNCNumbers struct {
	// Numbers; instead of an object its phone alone may stand as a text.
	Entries []string `json:"entries"`
}

// ListDNCEntry is an answer of the service, or a part of one.
type ListDNCEntry struct {
	// The rows of this page.
	Data []DNCEntry `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListDNCList is an answer of the service, or a part of one.
type ListDNCList struct {
	// The rows of this page.
	Data []DNCList `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewDNCList is sent to the service.
type NewDNCList struct {
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Yours.
	Name string `json:"name"`
}
