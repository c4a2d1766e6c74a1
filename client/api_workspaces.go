// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListWorkspacesQuery is what ListWorkspaces can be asked; what is zero is left out.
type ListWorkspacesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListWorkspacesQuery) values() url.Values {
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

// ListWorkspaces: List the workspaces of the install.
//
// GET /v1/workspaces
func (c *Client) ListWorkspaces(ctx context.Context, q ListWorkspacesQuery, options ...Option) (*ListWorkspace, error) {
	return send[ListWorkspace](ctx, c, "GET", "/v1/workspaces", q.values(), nil, options)
}

// AllWorkspaces walks the pages of ListWorkspaces to their end; an error is the last that comes.
func (c *Client) AllWorkspaces(ctx context.Context, q ListWorkspacesQuery, options ...Option) iter.Seq2[Workspace, error] {
	return pages(&q.Cursor, func() ([]Workspace, *string, error) {
		l, err := c.ListWorkspaces(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateWorkspace: Create a workspace.
//
// POST /v1/workspaces
//
// Needs an API key or a dashboard session. Operators only, as all of /v1/workspaces. Without a plan it is a starter.
func (c *Client) CreateWorkspace(ctx context.Context, body *WorkspaceChange, options ...Option) (*WorkspaceCreated, error) {
	return send[WorkspaceCreated](ctx, c, "POST", "/v1/workspaces", nil, asJSON(body), options)
}

// DeleteWorkspace: Delete a workspace with everything in it.
//
// DELETE /v1/workspaces/{id}
//
// Needs an API key or a dashboard session. Its keys are refused from the answer on and its calls hang up. Rows, events, recordings and exports go in the background, and its data key with them: what backups hold of its secrets and recordings does not open any more. 409 invalid_state for the workspace whose key asks.
func (c *Client) DeleteWorkspace(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/workspaces/"+url.PathEscape(id), nil, nil, options)
}

// GetAnyWorkspace: Get a workspace of the install.
//
// GET /v1/workspaces/{id}
func (c *Client) GetAnyWorkspace(ctx context.Context, id string, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "GET", "/v1/workspaces/"+url.PathEscape(id), nil, nil, options)
}

// UpdateAnyWorkspace: Change a workspace of the install.
//
// PATCH /v1/workspaces/{id}
//
// Needs an API key or a dashboard session. Plan, limits and rules hold from the answer on.
func (c *Client) UpdateAnyWorkspace(ctx context.Context, id string, body *WorkspaceChange, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "PATCH", "/v1/workspaces/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListAnyNumbersQuery is what ListAnyNumbers can be asked; what is zero is left out.
type ListAnyNumbersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// In this state only.
	Status string
}

func (q *ListAnyNumbersQuery) values() url.Values {
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

// ListAnyNumbers: List the numbers of a workspace of the install.
//
// GET /v1/workspaces/{id}/phone-numbers
//
// Operators only. Those of the live environment.
func (c *Client) ListAnyNumbers(ctx context.Context, id string, q ListAnyNumbersQuery, options ...Option) (*ListPhoneNumber, error) {
	return send[ListPhoneNumber](ctx, c, "GET", "/v1/workspaces/"+url.PathEscape(id)+"/phone-numbers", q.values(), nil, options)
}

// AllAnyNumbers walks the pages of ListAnyNumbers to their end; an error is the last that comes.
func (c *Client) AllAnyNumbers(ctx context.Context, id string, q ListAnyNumbersQuery, options ...Option) iter.Seq2[PhoneNumber, error] {
	return pages(&q.Cursor, func() ([]PhoneNumber, *string, error) {
		l, err := c.ListAnyNumbers(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// ApproveNumber: Let a number go live.
//
// POST /v1/workspaces/{id}/phone-numbers/{number_id}/approve
//
// Needs an API key or a dashboard session. Operators only. Where several workspaces share the install, a number that no operator created is pending until then: no call and no message reaches it or comes from it.
func (c *Client) ApproveNumber(ctx context.Context, id string, numberID string, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "POST", "/v1/workspaces/"+url.PathEscape(id)+"/phone-numbers/"+url.PathEscape(numberID)+"/approve", nil, nil, options)
}

// ListWorkspace is an answer of the service, or a part of one.
type ListWorkspace struct {
	// The rows of this page.
	Data []Workspace `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// WorkspaceCreated is an answer of the service, or a part of one.
type WorkspaceCreated struct {
	AllowedOrigins []string `json:"allowed_origins"`
	Calling        Calling  `json:"calling"`
	// When it was made.
	CreatedAt        time.Time `json:"created_at"`
	DefaultCountry   string    `json:"default_country"`
	DefaultDNCListID string    `json:"default_dnc_list_id"`
	// live or test; the two never see each other.
	Environment   string        `json:"environment"`
	FrequencyCaps FrequencyCaps `json:"frequency_caps"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Its text: live, may do everything but what takes an operator. Shown this once.
	Key string `json:"key"`
	// The first API key.
	KeyID  string `json:"key_id"`
	Limits Limits `json:"limits"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object             string    `json:"object"`
	Plan               string    `json:"plan"`
	Pricing            *Pricing  `json:"pricing,omitempty"`
	Redaction          Redaction `json:"redaction"`
	Retention          Retention `json:"retention"`
	SMSPricePerSegment *Money    `json:"sms_price_per_segment,omitempty"`
	Tariff             int64     `json:"tariff"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}
