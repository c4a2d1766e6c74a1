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

// ListExportsQuery is what ListExports can be asked; what is zero is left out.
type ListExportsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListExportsQuery) values() url.Values {
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

// ListExports: List exports.
//
// GET /v1/exports
func (c *Client) ListExports(ctx context.Context, q ListExportsQuery, options ...Option) (*ListExport, error) {
	return send[ListExport](ctx, c, "GET", "/v1/exports", q.values(), nil, options)
}

// AllExports walks the pages of ListExports to their end; an error is the last that comes.
func (c *Client) AllExports(ctx context.Context, q ListExportsQuery, options ...Option) iter.Seq2[Export, error] {
	return pages(&q.Cursor, func() ([]Export, *string, error) {
		l, err := c.ListExports(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateExport: Order a file of many rows.
//
// POST /v1/exports
//
// Ten per hour. The file is written in the background, oldest rows first, and kept for seven days. In CSV no cell is taken for a formula.
func (c *Client) CreateExport(ctx context.Context, body *NewExport, options ...Option) (*Export, error) {
	return send[Export](ctx, c, "POST", "/v1/exports", nil, asJSON(body), options)
}

// GetExport: See whether a file is ready.
//
// GET /v1/exports/{id}
func (c *Client) GetExport(ctx context.Context, id string, options ...Option) (*Export, error) {
	return send[Export](ctx, c, "GET", "/v1/exports/"+url.PathEscape(id), nil, nil, options)
}

// DownloadExport: Download the file.
//
// GET /v1/exports/{id}/download
//
// Takes Range. 202 while the file is made, 410 export_expired once it is deleted.
//
// The caller reads the body and closes it.
func (c *Client) DownloadExport(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/exports/"+url.PathEscape(id)+"/download", nil, nil, options)
}

// Export is an answer of the service, or a part of one.
type Export struct {
	// When the file was ready.
	CompletedAt *time.Time `json:"completed_at"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// Where the file is, while there is one.
	DownloadURL string `json:"download_url,omitzero"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// When the file is deleted.
	ExpiresAt *time.Time `json:"expires_at"`
	// Which rows are wanted.
	Filters ExportFilters `json:"filters"`
	// csv or jsonl.
	Format string `json:"format"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Why it failed.
	Reason string `json:"reason,omitzero"`
	// How many rows the file has.
	Rows int64 `json:"rows"`
	// Of the file, in bytes.
	Size int64 `json:"size"`
	// queued, running, completed, failed or expired: its file was deleted. One of queued, running, completed, failed, expired.
	Status string `json:"status"`
	// What the rows are. One of calls, legs, transcripts, campaign_results, contacts, events, usage, audit_logs.
	Type string `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ExportFilters is an answer of the service, or a part of one.
type ExportFilters struct {
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// Only what was created after this time.
	CreatedAfter *time.Time `json:"created_after,omitempty"`
	// Only what was created before this time.
	CreatedBefore *time.Time `json:"created_before,omitempty"`
	// Only calls or contacts in this state.
	Status string `json:"status,omitzero"`
	// Only events of these names.
	Types []string `json:"types,omitzero"`
}

// ListExport is an answer of the service, or a part of one.
type ListExport struct {
	// The rows of this page.
	Data []Export `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewExport is sent to the service.
type NewExport struct {
	// Which rows are wanted; without any all.
	Filters *NewExportFilters `json:"filters,omitempty"`
	// csv, or one JSON object per line. One of csv, jsonl.
	Format *string `json:"format,omitempty"`
	// What the rows are. The credential must be allowed to read it. One of calls, legs, transcripts, campaign_results, contacts, events, usage, audit_logs.
	Type string `json:"type"`
}

// NewExportFilters is sent to the service.
type NewExportFilters struct {
	// Of calls, legs and transcripts; required for campaign_results and contacts.
	CampaignID *string `json:"campaign_id,omitempty"`
	// Only what was created after this time; of usage: the first day.
	CreatedAfter *time.Time `json:"created_after,omitempty"`
	// Only what was created before this time; of usage: the last day.
	CreatedBefore *time.Time `json:"created_before,omitempty"`
	// Only calls or contacts in this state.
	Status *string `json:"status,omitempty"`
	// Only events of these names or wildcards. All that the credential may read where there are none.
	Types []string `json:"types,omitzero"`
}
