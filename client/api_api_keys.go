// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListKeysQuery holds the query parameters of ListKeys. Zero values are not sent.
type ListKeysQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	// Filters by environment.
	Environment string
}

func (q *ListKeysQuery) values() url.Values {
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
	if q.Environment != "" {
		v.Set("environment", q.Environment)
	}
	return v
}

// ListKeys: List API keys.
//
// GET /v1/api-keys
//
// A live credential gets the live and test keys of the workspace, a test credential only the test keys.
func (c *Client) ListKeys(ctx context.Context, q ListKeysQuery, options ...Option) (*ListAPIKey, error) {
	return send[ListAPIKey](ctx, c, "GET", "/v1/api-keys", q.values(), nil, options)
}

// AllKeys iterates over all pages of ListKeys. It ends after the first error.
func (c *Client) AllKeys(ctx context.Context, q ListKeysQuery, options ...Option) iter.Seq2[APIKey, error] {
	return pages(&q.Cursor, func() ([]APIKey, *string, error) {
		l, err := c.ListKeys(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateKey: Create an API key.
//
// POST /v1/api-keys
//
// Needs an API key or a dashboard session. Only this response contains the key.
func (c *Client) CreateKey(ctx context.Context, body *NewKey, options ...Option) (*APIKey, error) {
	return send[APIKey](ctx, c, "POST", "/v1/api-keys", nil, asJSON(body), options)
}

// RevokeKeyQuery holds the query parameters of RevokeKey. Zero values are not sent.
type RevokeKeyQuery struct {
	// true also deletes the resources that the key created.
	Cascade bool
}

func (q *RevokeKeyQuery) values() url.Values {
	v := make(url.Values)
	if q.Cascade {
		v.Set("cascade", "true")
	}
	return v
}

// RevokeKey: Revoke an API key at once.
//
// DELETE /v1/api-keys/{id}
//
// Needs an API key or a dashboard session. Ends the key, its child keys, and the tokens, tickets, sign-in links, sessions and consents created with them. OAuth clients, users, webhooks and phones that the key created, directly or through other credentials, remain and are listed in remaining. With cascade=true they are deleted too. A revoked or expired key can be revoked again with cascade=true.
func (c *Client) RevokeKey(ctx context.Context, id string, q RevokeKeyQuery, options ...Option) (*RevokeKeyResult, error) {
	return send[RevokeKeyResult](ctx, c, "DELETE", "/v1/api-keys/"+url.PathEscape(id), q.values(), nil, options)
}

// GetKey: Get an API key.
//
// GET /v1/api-keys/{id}
func (c *Client) GetKey(ctx context.Context, id string, options ...Option) (*APIKey, error) {
	return send[APIKey](ctx, c, "GET", "/v1/api-keys/"+url.PathEscape(id), nil, nil, options)
}

// UpdateKey: Change the allowed addresses or the name of an API key, or remove its parent.
//
// PUT /v1/api-keys/{id}
//
// Needs an API key or a dashboard session.
func (c *Client) UpdateKey(ctx context.Context, id string, body *KeyChange, options ...Option) (*APIKey, error) {
	return send[APIKey](ctx, c, "PUT", "/v1/api-keys/"+url.PathEscape(id), nil, asJSON(body), options)
}

// APIKey is part of a response.
type APIKey struct {
	AllowedIPs []string `json:"allowed_ips"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Time of expiry.
	ExpiresAt *time.Time `json:"expires_at"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// The secret key. Only in the response to its creation.
	Key        string     `json:"key,omitzero"`
	KeyPrefix  string     `json:"key_prefix"`
	Last4      string     `json:"last4"`
	LastUsedAt *time.Time `json:"last_used_at"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object      string     `json:"object"`
	Operator    bool       `json:"operator"`
	ParentID    string     `json:"parent_id,omitzero"`
	Permissions []string   `json:"permissions"`
	RevokedAt   *time.Time `json:"revoked_at,omitempty"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// KeyChange is part of a request.
type KeyChange struct {
	// true removes the parent of the key, so that the key outlives the key that created it. Operator keys only. A key whose parent was revoked or has expired cannot be adopted, because it ended with its parent.
	Adopt *bool `json:"adopt,omitempty"`
	// Must be within the addresses of the requesting key and of the key's parents. []: from everywhere.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name *string `json:"name,omitempty"`
}

// ListAPIKey is part of a response.
type ListAPIKey struct {
	// The resources of this page.
	Data []APIKey `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewKey is part of a request.
type NewKey struct {
	// Addresses or CIDRs, within those of the key that creates it. Default: those of the key that creates it. []: from everywhere.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Default: the environment of the key that creates it. One of live, test.
	Environment *string `json:"environment,omitempty"`
	// Not later than the end of the key that creates it. Default: the end of that key.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// At most the permissions of the key that creates it.
	Permissions []string `json:"permissions"`
}

// RevokeKeyResult is part of a response.
type RevokeKeyResult struct {
	// Always true.
	Deleted bool `json:"deleted"`
	// Resources that the key created and that cascade=true has deleted.
	Ended []ResourceRef `json:"ended"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// The type of the resource.
	Object string `json:"object"`
	// Resources that the key created and that remain. With cascade=true: trunks, SMS gateways and tools, which calls may need, and users whom the requesting key may not delete.
	Remaining []ResourceRef `json:"remaining"`
}
