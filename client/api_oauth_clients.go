// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListClientsQuery is what ListClients can be asked; what is zero is left out.
type ListClientsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListClientsQuery) values() url.Values {
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

// ListClients: List OAuth clients.
//
// GET /v1/oauth/clients
func (c *Client) ListClients(ctx context.Context, q ListClientsQuery, options ...Option) (*ListOAuthClient, error) {
	return send[ListOAuthClient](ctx, c, "GET", "/v1/oauth/clients", q.values(), nil, options)
}

// AllClients walks the pages of ListClients to their end; an error is the last that comes.
func (c *Client) AllClients(ctx context.Context, q ListClientsQuery, options ...Option) iter.Seq2[OAuthClient, error] {
	return pages(&q.Cursor, func() ([]OAuthClient, *string, error) {
		l, err := c.ListClients(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateClient: Create an OAuth client.
//
// POST /v1/oauth/clients
//
// Needs an API key or a dashboard session. 403 plan_required below the plan enterprise. The answer holds client_secret, this once: for another secret create another client.
func (c *Client) CreateClient(ctx context.Context, body *NewOAuthClient, options ...Option) (*OAuthClient, error) {
	return send[OAuthClient](ctx, c, "POST", "/v1/oauth/clients", nil, asJSON(body), options)
}

// DeleteClient: Delete an OAuth client and refuse its tokens at once.
//
// DELETE /v1/oauth/clients/{id}
//
// Needs an API key or a dashboard session. On every plan: what was given can always be taken away.
func (c *Client) DeleteClient(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/oauth/clients/"+url.PathEscape(id), nil, nil, options)
}

// GetClient: Get an OAuth client.
//
// GET /v1/oauth/clients/{id}
func (c *Client) GetClient(ctx context.Context, id string, options ...Option) (*OAuthClient, error) {
	return send[OAuthClient](ctx, c, "GET", "/v1/oauth/clients/"+url.PathEscape(id), nil, nil, options)
}

// OAuthClient is an answer of the service, or a part of one.
type OAuthClient struct {
	// Where it gets and uses tokens; empty: everywhere.
	AllowedIPs []string `json:"allowed_ips"`
	// The id, under the name that OAuth has for it.
	ClientID string `json:"client_id"`
	// The secret itself, only in the answer to its creation.
	ClientSecret string `json:"client_secret,omitzero"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// How it gets tokens.
	GrantTypes []string `json:"grant_types"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// It has no secret.
	Public bool `json:"public"`
	// Where users are sent back to.
	RedirectURIs []string `json:"redirect_uris"`
	// The most that it can be given.
	Scopes []string `json:"scopes"`
	// The end of the secret.
	SecretHint string `json:"secret_hint,omitzero"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ListOAuthClient is an answer of the service, or a part of one.
type ListOAuthClient struct {
	// The rows of this page.
	Data []OAuthClient `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewOAuthClient is sent to the service.
type NewOAuthClient struct {
	// Addresses or CIDRs from which the client gets and uses tokens, within those of the key that creates it. Default: those of the key. []: from everywhere.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// authorization_code and refresh_token where there is a redirect URI, else client_credentials, unless said.
	GrantTypes []string `json:"grant_types,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What its users see when they are asked.
	Name string `json:"name"`
	// It can keep no secret (a page, a program on a phone): it gets none, and PKCE is required of it.
	Public *bool `json:"public,omitempty"`
	// Where users are sent back to, compared letter by letter. https, or http on 127.0.0.1, [::1] and localhost.
	RedirectURIs []string `json:"redirect_uris,omitzero"`
	// The most that it can be given: permissions, not more than the key holds that makes it.
	Scopes []string `json:"scopes"`
}
