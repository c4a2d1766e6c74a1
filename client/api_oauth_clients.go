// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListClientsQuery holds the query parameters of ListClients. Zero values are not sent.
type ListClientsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllClients iterates over all pages of ListClients. It ends after the first error.
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
// Needs an API key or a dashboard session. Requires the enterprise plan, otherwise 403 plan_required. Only this response contains client_secret. For another secret create another client.
func (c *Client) CreateClient(ctx context.Context, body *NewOAuthClient, options ...Option) (*OAuthClient, error) {
	return send[OAuthClient](ctx, c, "POST", "/v1/oauth/clients", nil, asJSON(body), options)
}

// DeleteClient: Delete an OAuth client and refuse its tokens at once.
//
// DELETE /v1/oauth/clients/{id}
//
// Needs an API key or a dashboard session. Possible on every plan.
func (c *Client) DeleteClient(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/oauth/clients/"+url.PathEscape(id), nil, nil, options)
}

// GetClient: Get an OAuth client.
//
// GET /v1/oauth/clients/{id}
func (c *Client) GetClient(ctx context.Context, id string, options ...Option) (*OAuthClient, error) {
	return send[OAuthClient](ctx, c, "GET", "/v1/oauth/clients/"+url.PathEscape(id), nil, nil, options)
}

// OAuthClient is part of a response.
type OAuthClient struct {
	// Addresses or CIDRs from which the client gets and uses tokens. []: from everywhere.
	AllowedIPs []string `json:"allowed_ips"`
	// The id of the client, under its OAuth name.
	ClientID string `json:"client_id"`
	// The secret. Only in the response to its creation.
	ClientSecret string `json:"client_secret,omitzero"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Grant types that the client may use.
	GrantTypes []string `json:"grant_types"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// true: the client has no secret and must use PKCE.
	Public bool `json:"public"`
	// Redirect URIs, compared exactly.
	RedirectURIs []string `json:"redirect_uris"`
	// Permissions that the client can request.
	Scopes []string `json:"scopes"`
	// The last characters of the secret.
	SecretHint string `json:"secret_hint,omitzero"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// ListOAuthClient is part of a response.
type ListOAuthClient struct {
	// The resources of this page.
	Data []OAuthClient `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewOAuthClient is part of a request.
type NewOAuthClient struct {
	// Addresses or CIDRs from which the client gets and uses tokens, within those of the key that creates it. Default: those of the key. []: from everywhere.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Default: authorization_code and refresh_token with a redirect URI, otherwise client_credentials.
	GrantTypes []string `json:"grant_types,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// The name that the consent page shows.
	Name string `json:"name"`
	// true for a client that cannot keep a secret, such as a web page or a mobile app. The client gets no secret and must use PKCE.
	Public *bool `json:"public,omitempty"`
	// Redirect URIs, compared exactly. https, or http on 127.0.0.1, [::1] and localhost.
	RedirectURIs []string `json:"redirect_uris,omitzero"`
	// Permissions that the client can request, at most those of the key that creates it.
	Scopes []string `json:"scopes"`
}
