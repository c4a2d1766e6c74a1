// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListUsersQuery is what ListUsers can be asked; what is zero is left out.
type ListUsersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// AllUsers walks the pages of ListUsers to their end; an error is the last that comes.
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

// DeleteUser: Delete a user, with sessions and consents, at once.
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

// ListSessionsQuery is what ListSessions can be asked; what is zero is left out.
type ListSessionsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// ListSessions: List where a user is signed in.
//
// GET /v1/users/{id}/sessions
func (c *Client) ListSessions(ctx context.Context, id string, q ListSessionsQuery, options ...Option) (*ListSession, error) {
	return send[ListSession](ctx, c, "GET", "/v1/users/"+url.PathEscape(id)+"/sessions", q.values(), nil, options)
}

// AllSessions walks the pages of ListSessions to their end; an error is the last that comes.
func (c *Client) AllSessions(ctx context.Context, id string, q ListSessionsQuery, options ...Option) iter.Seq2[Session, error] {
	return pages(&q.Cursor, func() ([]Session, *string, error) {
		l, err := c.ListSessions(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// EndSession: Sign a user out in one browser.
//
// DELETE /v1/users/{id}/sessions/{session_id}
//
// Needs an API key or a dashboard session.
func (c *Client) EndSession(ctx context.Context, id string, sessionID string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/users/"+url.PathEscape(id)+"/sessions/"+url.PathEscape(sessionID), nil, nil, options)
}

// CreateSignInLink: Make a link that signs a user in.
//
// POST /v1/users/{id}/sign-in-link
//
// Needs an API key or a dashboard session. The link opens once, within five minutes.
func (c *Client) CreateSignInLink(ctx context.Context, id string, options ...Option) (*SignInLink, error) {
	return send[SignInLink](ctx, c, "POST", "/v1/users/"+url.PathEscape(id)+"/sign-in-link", nil, nil, options)
}

// ListSession is an answer of the service, or a part of one.
type ListSession struct {
	// The rows of this page.
	Data []Session `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListUser is an answer of the service, or a part of one.
type ListUser struct {
	// The rows of this page.
	Data []User `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewUser is sent to the service.
type NewUser struct {
	// Addresses or CIDRs from which the user signs in, within those of the key that creates the user. Default: those of the key. []: from everywhere.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// true: the dashboard shows the user all workspaces, and lets an admin stop dialling, drain the node and keep alert rules. Operators only; for a viewer or an admin of the live environment.
	Operator *bool `json:"operator,omitempty"`
	// viewer reads; agent places calls; manager changes agents and campaigns, too; admin may do everything. Not more than the key may that makes it. One of viewer, agent, manager, admin.
	Role string `json:"role"`
}

// Session is an answer of the service, or a part of one.
type Session struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// The address that it was used from last.
	IP string `json:"ip"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// When it was used last, to five minutes.
	SeenAt time.Time `json:"seen_at"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What the browser calls itself.
	UserAgent string `json:"user_agent"`
	// Who is signed in.
	UserID string `json:"user_id"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// SignInLink is an answer of the service, or a part of one.
type SignInLink struct {
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Whoever opens it first is that user: hand it on with care.
	URL string `json:"url"`
	// Whom it signs in.
	UserID string `json:"user_id"`
}

// User is an answer of the service, or a part of one.
type User struct {
	// From where the user signs in; empty: from everywhere.
	AllowedIPs []string `json:"allowed_ips"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// true: the dashboard shows the user all workspaces, and lets an admin act on the node.
	Operator bool `json:"operator"`
	// When the user was made an operator. Who signed in before does so anew to see all workspaces.
	OperatorSince *time.Time `json:"operator_since,omitempty"`
	// viewer reads; agent places calls; manager changes agents and campaigns, too; admin may do everything. One of viewer, agent, manager, admin.
	Role string `json:"role"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// UserUpdate is sent to the service.
type UserUpdate struct {
	// Addresses or CIDRs from which the user signs in, within those of the key that creates the user. Default: those of the key. []: from everywhere.
	AllowedIPs Optional[[]string] `json:"allowed_ips,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// true: the dashboard shows the user all workspaces, and lets an admin stop dialling, drain the node and keep alert rules. Operators only; for a viewer or an admin of the live environment.
	Operator Optional[bool] `json:"operator,omitzero"`
	// viewer reads; agent places calls; manager changes agents and campaigns, too; admin may do everything. Not more than the key may that makes it. One of viewer, agent, manager, admin.
	Role *string `json:"role,omitempty"`
}
