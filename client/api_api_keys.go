// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListKeysQuery is what ListKeys can be asked; what is zero is left out.
type ListKeysQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// Only keys of this environment.
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
// A live credential sees the live and the test keys of the workspace, a test credential the test keys.
func (c *Client) ListKeys(ctx context.Context, q ListKeysQuery, options ...Option) (*ListAPIKey, error) {
	return send[ListAPIKey](ctx, c, "GET", "/v1/api-keys", q.values(), nil, options)
}

// AllKeys walks the pages of ListKeys to their end; an error is the last that comes.
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
// Needs an API key or a dashboard session. The answer holds the key, this once.
func (c *Client) CreateKey(ctx context.Context, body *NewKey, options ...Option) (*APIKey, error) {
	return send[APIKey](ctx, c, "POST", "/v1/api-keys", nil, asJSON(body), options)
}

// RevokeKeyQuery is what RevokeKey can be asked; what is zero is left out.
type RevokeKeyQuery struct {
	// true: end what the key created, too.
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
// Needs an API key or a dashboard session. Ends the key, its child keys, and the tokens, tickets, sign-in links, sessions and consents that came of them. OAuth clients, users, webhooks and phones that the key created, directly or through other credentials, go on and stand in remaining; with cascade=true they end, too. A key that was revoked before, or has expired, can be revoked again with cascade=true.
func (c *Client) RevokeKey(ctx context.Context, id string, q RevokeKeyQuery, options ...Option) (*RevokeKeyResult, error) {
	return send[RevokeKeyResult](ctx, c, "DELETE", "/v1/api-keys/"+url.PathEscape(id), q.values(), nil, options)
}

// GetKey: Get an API key.
//
// GET /v1/api-keys/{id}
func (c *Client) GetKey(ctx context.Context, id string, options ...Option) (*APIKey, error) {
	return send[APIKey](ctx, c, "GET", "/v1/api-keys/"+url.PathEscape(id), nil, nil, options)
}

// UpdateKey: Change the addresses or the name of an API key, or adopt it.
//
// PUT /v1/api-keys/{id}
//
// Needs an API key or a dashboard session.
func (c *Client) UpdateKey(ctx context.Context, id string, body *KeyChange, options ...Option) (*APIKey, error) {
	return send[APIKey](ctx, c, "PUT", "/v1/api-keys/"+url.PathEscape(id), nil, asJSON(body), options)
}

// APIKey is an answer of the service, or a part of one.
type APIKey struct {
	AllowedIPs []string `json:"allowed_ips"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// When it ends.
	ExpiresAt *time.Time `json:"expires_at"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// The key itself, only in the answer to its creation.
	Key        string     `json:"key,omitzero"`
	KeyPrefix  string     `json:"key_prefix"`
	Last4      string     `json:"last4"`
	LastUsedAt *time.Time `json:"last_used_at"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object      string     `json:"object"`
	Operator    bool       `json:"operator"`
	ParentID    string     `json:"parent_id,omitzero"`
	Permissions []string   `json:"permissions"`
	RevokedAt   *time.Time `json:"revoked_at,omitempty"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// KeyChange is sent to the service.
type KeyChange struct {
	// true, by an operator key: the key has no parent any more, and outlives the one that made it. A key whose parent is revoked or expired has died with it.
	Adopt *bool `json:"adopt,omitempty"`
	// [] lets every address in. Must lie within the addresses of the key that asks and of the key's parents.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
}

// ListAPIKey is an answer of the service, or a part of one.
type ListAPIKey struct {
	// The rows of this page.
	Data []APIKey `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewKey is sent to the service.
type NewKey struct {
	// Addresses or CIDRs, within those of the key that creates it. Default: those of the key that creates it. []: from everywhere.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// That of the key that makes it unless said. One of live, test.
	Environment *string `json:"environment,omitempty"`
	// Not later than the end of the key that creates it. Default: the end of that key.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Not more than the key holds that makes it.
	Permissions []string `json:"permissions"`
}

// RevokeKeyResult is an answer of the service, or a part of one.
type RevokeKeyResult struct {
	// Always true.
	Deleted bool `json:"deleted"`
	// What the key created and what cascade=true has ended.
	Ended []ResourceRef `json:"ended"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// What kind of resource this is.
	Object string `json:"object"`
	// What the key created and what goes on. With cascade=true: trunks, SMS gateways and tools, which calls may need, and users whom the caller may not delete.
	Remaining []ResourceRef `json:"remaining"`
}
