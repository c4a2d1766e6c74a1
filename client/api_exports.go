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

// ListExportsQuery holds the query parameters of ListExports. Zero values are not sent.
type ListExportsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllExports iterates over all pages of ListExports. It ends after the first error.
func (c *Client) AllExports(ctx context.Context, q ListExportsQuery, options ...Option) iter.Seq2[Export, error] {
	return pages(&q.Cursor, func() ([]Export, *string, error) {
		l, err := c.ListExports(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateExport: Create an export file.
//
// POST /v1/exports
//
// Ten per hour. The file is written in the background, oldest rows first, and stored for seven days. CSV cells are escaped so that spreadsheets do not run formulas.
func (c *Client) CreateExport(ctx context.Context, body *NewExport, options ...Option) (*Export, error) {
	return send[Export](ctx, c, "POST", "/v1/exports", nil, asJSON(body), options)
}

// GetExport: Get an export.
//
// GET /v1/exports/{id}
func (c *Client) GetExport(ctx context.Context, id string, options ...Option) (*Export, error) {
	return send[Export](ctx, c, "GET", "/v1/exports/"+url.PathEscape(id), nil, nil, options)
}

// DownloadExport: Download the file.
//
// GET /v1/exports/{id}/download
//
// Supports Range. 202 while the file is written, 410 export_expired after its deletion.
//
// The caller reads the body and closes it.
func (c *Client) DownloadExport(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/exports/"+url.PathEscape(id)+"/download", nil, nil, options)
}

// Export is part of a response.
type Export struct {
	// When the file was ready.
	CompletedAt *time.Time `json:"completed_at"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// URL of the file, while it exists.
	DownloadURL string `json:"download_url,omitzero"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// When the file is deleted.
	ExpiresAt *time.Time `json:"expires_at"`
	// Selection of records.
	Filters ExportFilters `json:"filters"`
	// csv or jsonl.
	Format string `json:"format"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// The type of the resource.
	Object string `json:"object"`
	// Why the export failed.
	Reason string `json:"reason,omitzero"`
	// Number of rows.
	Rows int64 `json:"rows"`
	// Size of the file in bytes.
	Size int64 `json:"size"`
	// queued, running, completed, failed, or expired (the file was deleted). One of queued, running, completed, failed, expired.
	Status string `json:"status"`
	// Kind of records. One of calls, legs, transcripts, campaign_results, contacts, events, usage, audit_logs.
	Type string `json:"type"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// ExportFilters is part of a response.
type ExportFilters struct {
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id,omitzero"`
	// Only records created after this time.
	CreatedAfter *time.Time `json:"created_after,omitempty"`
	// Only records created before this time.
	CreatedBefore *time.Time `json:"created_before,omitempty"`
	// Filters calls or contacts by status.
	Status string `json:"status,omitzero"`
	// Filters events by type.
	Types []string `json:"types,omitzero"`
}

// ListExport is part of a response.
type ListExport struct {
	// The resources of this page.
	Data []Export `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewExport is part of a request.
type NewExport struct {
	// Selection of records. Default: all.
	Filters *NewExportFilters `json:"filters,omitempty"`
	// csv, or jsonl with one JSON object per line. One of csv, jsonl.
	Format *string `json:"format,omitempty"`
	// The kind of records. The credential must have the permission to read them. One of calls, legs, transcripts, campaign_results, contacts, events, usage, audit_logs.
	Type string `json:"type"`
}

// NewExportFilters is part of a request.
type NewExportFilters struct {
	// Filters calls, legs and transcripts by campaign. Required for campaign_results and contacts.
	CampaignID *string `json:"campaign_id,omitempty"`
	// Only records created after this time. For usage: the first day.
	CreatedAfter *time.Time `json:"created_after,omitempty"`
	// Only records created before this time. For usage: the last day.
	CreatedBefore *time.Time `json:"created_before,omitempty"`
	// Filters calls or contacts by status.
	Status *string `json:"status,omitempty"`
	// Filters events by type or wildcard. Default: all types that the credential may read.
	Types []string `json:"types,omitzero"`
}
