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

// ListDataSubjectRequestsQuery is what ListDataSubjectRequests can be asked; what is zero is left out.
type ListDataSubjectRequestsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListDataSubjectRequestsQuery) values() url.Values {
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

// ListDataSubjectRequests: List data requests.
//
// GET /v1/data-requests
func (c *Client) ListDataSubjectRequests(ctx context.Context, q ListDataSubjectRequestsQuery, options ...Option) (*ListDataRequest, error) {
	return send[ListDataRequest](ctx, c, "GET", "/v1/data-requests", q.values(), nil, options)
}

// AllDataSubjectRequests walks the pages of ListDataSubjectRequests to their end; an error is the last that comes.
func (c *Client) AllDataSubjectRequests(ctx context.Context, q ListDataSubjectRequestsQuery, options ...Option) iter.Seq2[DataRequest, error] {
	return pages(&q.Cursor, func() ([]DataRequest, *string, error) {
		l, err := c.ListDataSubjectRequests(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateDataSubjectRequest: Export or erase what is known of a person.
//
// POST /v1/data-requests
//
// Needs an API key or a dashboard session. The person is known by a telephone number. The request is carried out in the background, in the environment of the credential, and goes on after a restart. export writes a zip of JSON lines with the recordings, kept for seven days. erase takes the person out of running campaigns, waits for live calls, and removes calls, recordings, transcripts, messages, appointments, contacts, events and exports; in what is about others the number is blanked. Do-not-call entries stay as a keyed hash, so that the number is still not called. Logs of decisions can still be verified. An erasure cannot be undone.
func (c *Client) CreateDataSubjectRequest(ctx context.Context, body *NewDataRequest, options ...Option) (*DataRequest, error) {
	return send[DataRequest](ctx, c, "POST", "/v1/data-requests", nil, asJSON(body), options)
}

// GetDataSubjectRequest: See how far a data request is.
//
// GET /v1/data-requests/{id}
func (c *Client) GetDataSubjectRequest(ctx context.Context, id string, options ...Option) (*DataRequest, error) {
	return send[DataRequest](ctx, c, "GET", "/v1/data-requests/"+url.PathEscape(id), nil, nil, options)
}

// DownloadDataSubjectRequest: Download the file of an export.
//
// GET /v1/data-requests/{id}/download
//
// A zip: one file of JSON lines for each kind, and recordings. Takes Range. 202 while the file is written, 409 invalid_state of an erasure, 410 export_expired once it is deleted.
//
// The caller reads the body and closes it.
func (c *Client) DownloadDataSubjectRequest(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/data-requests/"+url.PathEscape(id)+"/download", nil, nil, options)
}

// DataRequest is an answer of the service, or a part of one.
type DataRequest struct {
	// When everything was done.
	CompletedAt *time.Time `json:"completed_at"`
	// How many items were exported, deleted or blanked, by kind.
	Counts map[string]int64 `json:"counts"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// Where the file is, while there is one.
	DownloadURL string `json:"download_url,omitzero"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// When the file is deleted.
	ExpiresAt *time.Time `json:"expires_at"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// The number in E.164. It goes with the end of an erasure and with the file of an export.
	Phone string `json:"phone,omitzero"`
	// Keyed hash of the number in this workspace. Requests about the same number have the same hash.
	PhoneHash string `json:"phone_hash"`
	// Settings of the workspace that contain the number and that an erasure leaves as they are; 100 at most.
	Remaining []ResourceRef `json:"remaining"`
	// Of the file, in bytes.
	Size int64 `json:"size"`
	// queued, running, waiting, completed, or expired: its file was deleted. One of queued, running, waiting, completed, expired.
	Status string `json:"status"`
	// What is done: export or erase. One of export, erase.
	Type string `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What a waiting request waits for: live calls, messages on their way, exports that are being written; 100 at most.
	WaitingFor []ResourceRef `json:"waiting_for"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ListDataRequest is an answer of the service, or a part of one.
type ListDataRequest struct {
	// The rows of this page.
	Data []DataRequest `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewDataRequest is sent to the service.
type NewDataRequest struct {
	// The number of the person, as it would be dialled; without a country code it is read as one of the workspace's default country.
	Phone string `json:"phone"`
	// export writes a file of what is known of the person. erase removes it; it cannot be undone. One of export, erase.
	Type string `json:"type"`
}
