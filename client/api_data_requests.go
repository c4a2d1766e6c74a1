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

// ListDataSubjectRequestsQuery holds the query parameters of ListDataSubjectRequests. Zero values are not sent.
type ListDataSubjectRequestsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllDataSubjectRequests iterates over all pages of ListDataSubjectRequests. It ends after the first error.
func (c *Client) AllDataSubjectRequests(ctx context.Context, q ListDataSubjectRequestsQuery, options ...Option) iter.Seq2[DataRequest, error] {
	return pages(&q.Cursor, func() ([]DataRequest, *string, error) {
		l, err := c.ListDataSubjectRequests(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateDataSubjectRequest: Export or erase the data of a person.
//
// POST /v1/data-requests
//
// Needs an API key or a dashboard session. A telephone number identifies the person. The request runs in the background, in the environment of the credential, and continues after a restart. export writes a zip file with JSON lines and recordings, which is stored for seven days. erase removes the person from running campaigns, waits for live calls, and deletes calls, recordings, transcripts, messages, appointments, contacts, events and exports. In records about other people the number is blanked. Do-not-call entries remain as a keyed hash, so that the number is still not called. Decision logs can still be verified. An erasure cannot be undone.
func (c *Client) CreateDataSubjectRequest(ctx context.Context, body *NewDataRequest, options ...Option) (*DataRequest, error) {
	return send[DataRequest](ctx, c, "POST", "/v1/data-requests", nil, asJSON(body), options)
}

// GetDataSubjectRequest: Get a data request.
//
// GET /v1/data-requests/{id}
func (c *Client) GetDataSubjectRequest(ctx context.Context, id string, options ...Option) (*DataRequest, error) {
	return send[DataRequest](ctx, c, "GET", "/v1/data-requests/"+url.PathEscape(id), nil, nil, options)
}

// DownloadDataSubjectRequest: Download the file of an export.
//
// GET /v1/data-requests/{id}/download
//
// A zip file with a JSON lines file for each kind of record, and the recordings. Supports Range. 202 while the file is written, 409 invalid_state for an erasure, 410 export_expired after its deletion.
//
// The caller reads the body and closes it.
func (c *Client) DownloadDataSubjectRequest(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/data-requests/"+url.PathEscape(id)+"/download", nil, nil, options)
}

// DataRequest is part of a response.
type DataRequest struct {
	// When the request was completed.
	CompletedAt *time.Time `json:"completed_at"`
	// Number of exported, deleted or blanked items by kind.
	Counts map[string]int64 `json:"counts"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// URL of the file, while it exists.
	DownloadURL string `json:"download_url,omitzero"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// When the file is deleted.
	ExpiresAt *time.Time `json:"expires_at"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// The type of the resource.
	Object string `json:"object"`
	// The number in E.164. It is removed at the end of an erasure and with the file of an export.
	Phone string `json:"phone,omitzero"`
	// Keyed hash of the number in this workspace. Requests about the same number have the same hash.
	PhoneHash string `json:"phone_hash"`
	// Settings of the workspace that contain the number and that an erasure does not change; at most 100.
	Remaining []ResourceRef `json:"remaining"`
	// Size of the file in bytes.
	Size int64 `json:"size"`
	// queued, running, waiting, completed, or expired (the file was deleted). One of queued, running, waiting, completed, expired.
	Status string `json:"status"`
	// export or erase. One of export, erase.
	Type string `json:"type"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What a waiting request waits for: live calls, messages in delivery, exports in progress; at most 100.
	WaitingFor []ResourceRef `json:"waiting_for"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// ListDataRequest is part of a response.
type ListDataRequest struct {
	// The resources of this page.
	Data []DataRequest `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewDataRequest is part of a request.
type NewDataRequest struct {
	// The number of the person. A number without a country code belongs to default_country of the workspace.
	Phone string `json:"phone"`
	// export writes a file with the data of the person. erase deletes the data and cannot be undone. One of export, erase.
	Type string `json:"type"`
}
