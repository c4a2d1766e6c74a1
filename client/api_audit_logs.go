// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListAuditLogsQuery holds the query parameters of ListAuditLogs. Zero values are not sent.
type ListAuditLogsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	Type          string
	Action        string
	// Filters by the id of the actor: an API key, a user or an OAuth client.
	Actor string
}

func (q *ListAuditLogsQuery) values() url.Values {
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
	if q.Type != "" {
		v.Set("type", q.Type)
	}
	if q.Action != "" {
		v.Set("action", q.Action)
	}
	if q.Actor != "" {
		v.Set("actor", q.Actor)
	}
	return v
}

// ListAuditLogs: List audit log entries.
//
// GET /v1/audit-logs
//
// Uses of one API key from one address within a minute form one entry with a count.
func (c *Client) ListAuditLogs(ctx context.Context, q ListAuditLogsQuery, options ...Option) (*ListAuditEntry, error) {
	return send[ListAuditEntry](ctx, c, "GET", "/v1/audit-logs", q.values(), nil, options)
}

// AllAuditLogs iterates over all pages of ListAuditLogs. It ends after the first error.
func (c *Client) AllAuditLogs(ctx context.Context, q ListAuditLogsQuery, options ...Option) iter.Seq2[AuditEntry, error] {
	return pages(&q.Cursor, func() ([]AuditEntry, *string, error) {
		l, err := c.ListAuditLogs(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// AuditEntry is part of a response.
type AuditEntry struct {
	Action string `json:"action"`
	Actor  Actor  `json:"actor"`
	Count  int64  `json:"count"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	IP string `json:"ip"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// The type of the resource.
	Object   string   `json:"object"`
	Outcome  string   `json:"outcome"`
	Reason   string   `json:"reason,omitzero"`
	Resource Resource `json:"resource"`
	Type     string   `json:"type"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	UserAgent string    `json:"user_agent"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// ListAuditEntry is part of a response.
type ListAuditEntry struct {
	// The resources of this page.
	Data []AuditEntry `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// Resource is part of a response.
type Resource struct {
	// Unique id. It never changes and is never reused.
	ID   string `json:"id"`
	Type string `json:"type"`
}
