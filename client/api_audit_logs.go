// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListAuditLogsQuery is what ListAuditLogs can be asked; what is zero is left out.
type ListAuditLogsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	Type          string
	Action        string
	// The id of whoever did it.
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

// ListAuditLogs: Read who did what.
//
// GET /v1/audit-logs
//
// Uses of one key from one address within a minute are one entry with a count.
func (c *Client) ListAuditLogs(ctx context.Context, q ListAuditLogsQuery, options ...Option) (*ListAuditEntry, error) {
	return send[ListAuditEntry](ctx, c, "GET", "/v1/audit-logs", q.values(), nil, options)
}

// AllAuditLogs walks the pages of ListAuditLogs to their end; an error is the last that comes.
func (c *Client) AllAuditLogs(ctx context.Context, q ListAuditLogsQuery, options ...Option) iter.Seq2[AuditEntry, error] {
	return pages(&q.Cursor, func() ([]AuditEntry, *string, error) {
		l, err := c.ListAuditLogs(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// AuditEntry is an answer of the service, or a part of one.
type AuditEntry struct {
	Action string `json:"action"`
	Actor  Actor  `json:"actor"`
	Count  int64  `json:"count"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	IP string `json:"ip"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object   string   `json:"object"`
	Outcome  string   `json:"outcome"`
	Reason   string   `json:"reason,omitzero"`
	Resource Resource `json:"resource"`
	Type     string   `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	UserAgent string    `json:"user_agent"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ListAuditEntry is an answer of the service, or a part of one.
type ListAuditEntry struct {
	// The rows of this page.
	Data []AuditEntry `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// Resource is an answer of the service, or a part of one.
type Resource struct {
	// Names it; never changes and is never given again.
	ID   string `json:"id"`
	Type string `json:"type"`
}
