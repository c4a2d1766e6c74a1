// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListUsersQuery holds the query parameters of ListUsers. Zero values are not sent.
type ListUsersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListUsersQuery) values() url.Values {
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

// ListUsers: List users.
//
// GET /v1/users
func (c *Client) ListUsers(ctx context.Context, q ListUsersQuery, options ...Option) (*ListUser, error) {
	return send[ListUser](ctx, c, "GET", "/v1/users", q.values(), nil, options)
}

// AllUsers iterates over all pages of ListUsers. It ends after the first error.
func (c *Client) AllUsers(ctx context.Context, q ListUsersQuery, options ...Option) iter.Seq2[User, error] {
	return pages(&q.Cursor, func() ([]User, *string, error) {
		l, err := c.ListUsers(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateUser: Create a user.
//
// POST /v1/users
//
// Needs an API key or a dashboard session.
func (c *Client) CreateUser(ctx context.Context, body *NewUser, options ...Option) (*User, error) {
	return send[User](ctx, c, "POST", "/v1/users", nil, asJSON(body), options)
}

// DeleteUser: Delete a user and end all sessions and consents at once.
//
// DELETE /v1/users/{id}
//
// Needs an API key or a dashboard session.
func (c *Client) DeleteUser(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/users/"+url.PathEscape(id), nil, nil, options)
}

// GetUser: Get a user.
//
// GET /v1/users/{id}
func (c *Client) GetUser(ctx context.Context, id string, options ...Option) (*User, error) {
	return send[User](ctx, c, "GET", "/v1/users/"+url.PathEscape(id), nil, nil, options)
}

// UpdateUser: Change a user.
//
// PATCH /v1/users/{id}
//
// Needs an API key or a dashboard session.
func (c *Client) UpdateUser(ctx context.Context, id string, body *UserUpdate, options ...Option) (*User, error) {
	return send[User](ctx, c, "PATCH", "/v1/users/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListSessionsQuery holds the query parameters of ListSessions. Zero values are not sent.
type ListSessionsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListSessionsQuery) values() url.Values {
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

// ListSessions: List the browser sessions of a user.
//
// GET /v1/users/{id}/sessions
func (c *Client) ListSessions(ctx context.Context, id string, q ListSessionsQuery, options ...Option) (*ListSession, error) {
	return send[ListSession](ctx, c, "GET", "/v1/users/"+url.PathEscape(id)+"/sessions", q.values(), nil, options)
}

// AllSessions iterates over all pages of ListSessions. It ends after the first error.
func (c *Client) AllSessions(ctx context.Context, id string, q ListSessionsQuery, options ...Option) iter.Seq2[Session, error] {
	return pages(&q.Cursor, func() ([]Session, *string, error) {
		l, err := c.ListSessions(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// EndSession: End a browser session of a user.
//
// DELETE /v1/users/{id}/sessions/{session_id}
//
// Needs an API key or a dashboard session.
func (c *Client) EndSession(ctx context.Context, id string, sessionID string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/users/"+url.PathEscape(id)+"/sessions/"+url.PathEscape(sessionID), nil, nil, options)
}

// CreateSignInLink: Create a sign-in link for a user.
//
// POST /v1/users/{id}/sign-in-link
//
// Needs an API key or a dashboard session. The link can be used once, within five minutes.
func (c *Client) CreateSignInLink(ctx context.Context, id string, options ...Option) (*SignInLink, error) {
	return send[SignInLink](ctx, c, "POST", "/v1/users/"+url.PathEscape(id)+"/sign-in-link", nil, nil, options)
}

// ListSession is part of a response.
type ListSession struct {
	// The resources of this page.
	Data []Session `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListUser is part of a response.
type ListUser struct {
	// The resources of this page.
	Data []User `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewUser is part of a request.
type NewUser struct {
	// Addresses or CIDRs from which the user signs in, within those of the key that creates the user. Default: those of the key. []: from everywhere.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// true: the dashboard shows all workspaces to the user. An admin can also stop all dialing, drain nodes and change alert rules. Set by operators only, for a viewer or an admin of the live environment.
	Operator *bool `json:"operator,omitempty"`
	// viewer reads, agent also places calls, manager also changes agents and campaigns, admin may do everything. At most the permissions of the key that creates the user. One of viewer, agent, manager, admin.
	Role string `json:"role"`
}

// Session is part of a response.
type Session struct {
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Time of expiry.
	ExpiresAt time.Time `json:"expires_at"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// The address of the last request.
	IP string `json:"ip"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// The type of the resource.
	Object string `json:"object"`
	// Time of the last request, with a precision of five minutes.
	SeenAt time.Time `json:"seen_at"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The User-Agent header of the browser.
	UserAgent string `json:"user_agent"`
	// The signed-in user.
	UserID string `json:"user_id"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// SignInLink is part of a response.
type SignInLink struct {
	// Time of expiry.
	ExpiresAt time.Time `json:"expires_at"`
	// The link signs in the first person who opens it, so share it securely.
	URL string `json:"url"`
	// The user that the link signs in.
	UserID string `json:"user_id"`
}

// User is part of a response.
type User struct {
	// Addresses from which the user signs in; empty: from everywhere.
	AllowedIPs []string `json:"allowed_ips"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// true: the dashboard shows all workspaces to the user, and an admin can control nodes.
	Operator bool `json:"operator"`
	// When the user became an operator. Earlier sessions have no operator rights.
	OperatorSince *time.Time `json:"operator_since,omitempty"`
	// viewer reads, agent also places calls, manager also changes agents and campaigns, admin may do everything. One of viewer, agent, manager, admin.
	Role string `json:"role"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// UserUpdate is part of a request.
type UserUpdate struct {
	// Addresses or CIDRs from which the user signs in, within those of the key that creates the user. Default: those of the key. []: from everywhere.
	AllowedIPs Optional[[]string] `json:"allowed_ips,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name for people.
	Name *string `json:"name,omitempty"`
	// true: the dashboard shows all workspaces to the user. An admin can also stop all dialing, drain nodes and change alert rules. Set by operators only, for a viewer or an admin of the live environment.
	Operator Optional[bool] `json:"operator,omitzero"`
	// viewer reads, agent also places calls, manager also changes agents and campaigns, admin may do everything. At most the permissions of the key that creates the user. One of viewer, agent, manager, admin.
	Role *string `json:"role,omitempty"`
}
