package middleware

import (
	"context"
	"net/netip"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// Services are the services that the request checks use.
type Services struct {
	Keys        Keys
	OAuth       OAuth
	Sessions    Sessions
	Origins     AllowedOrigins
	Workspaces  Workspaces
	Audit       Audit
	Drain       Drain
	RateWindows RateWindows // nil: the counts of the rate limits end with the process
}

// Keys authenticates the API keys of all workspaces.
type Keys interface {
	// Authenticate checks an API key and the client's address. It reads from memory only, because every request waits
	// for it. Errors: invalid_api_key, expired_api_key, ip_not_allowed. With an error the Principal holds what is
	// known about the key. Its WorkspaceID is "" for an unknown key.
	Authenticate(ctx context.Context, key string, from netip.Addr) (domain.Principal, error)
	// CheckKeyIsValid returns expired_token if the API key was revoked or has expired.
	CheckKeyIsValid(ctx context.Context, workspace, keyID string) error
}

// OAuth finds the OAuth clients of all workspaces and checks their access tokens.
type OAuth interface {
	// FindClient returns an OAuth client of any workspace, nil if there is none. It reads from memory only.
	FindClient(ctx context.Context, id string) (*domain.OAuthClient, error)
	// CheckOAuthToken returns the current permissions of an access token, at most those of the Principal. It reads from
	// memory only, because every request waits for it. Errors: expired_token, plan_required.
	CheckOAuthToken(ctx context.Context, p domain.Principal, grant, token string) ([]domain.Permission, error)
}

// Sessions authenticates the browser sessions of users.
type Sessions interface {
	// AuthenticateSession returns the user and the session of a cookie. watching marks an automatic update of an open page,
	// which does not extend the session. Errors: authentication_required, ip_not_allowed.
	AuthenticateSession(ctx context.Context, cookie string, from netip.Addr, watching bool) (*domain.User, *domain.Session, error)
}

// AllowedOrigins knows the origins of web pages that may use the API.
type AllowedOrigins interface {
	// OriginAllowed reports whether any workspace allows the origin.
	OriginAllowed(origin string) bool
}

// Workspaces returns the workspace of a principal.
type Workspaces interface {
	// Workspace returns the workspace of a principal. It reads from memory only, because every request waits for it.
	Workspace(ctx context.Context, p domain.Principal) (*domain.Workspace, error)
}

// Audit writes the audit log.
type Audit interface {
	// RecordSoon records an action without waiting for the store. If Principal.WorkspaceID is "", the credential is
	// unknown and only the operator's audit log gets the entry.
	RecordSoon(ctx context.Context, p domain.Principal, act record.AuditAction)
	// WithAuditEntry returns a context for a service call. The change of that service call and the audit entry are
	// committed together or not at all.
	WithAuditEntry(ctx context.Context, p domain.Principal, act record.AuditAction) context.Context
	// Record writes an audit entry before it returns, unless a change in this context has already committed the entry.
	Record(ctx context.Context, p domain.Principal, act record.AuditAction)
}

// Drain reports whether the service is shutting down.
type Drain interface {
	// RefusesWrites reports whether new work is refused. Live calls continue.
	RefusesWrites() bool
}

// RateWindows stores the counts of the rate limits.
type RateWindows interface {
	// RateWindows returns the stored counts of a workspace, empty if none are stored.
	RateWindows(ctx context.Context, workspaceID string) (domain.RateWindows, error)
	StoreRateWindows(ctx context.Context, w *domain.RateWindows) error
}

// Replies stores the responses to requests with an Idempotency-Key for 24 hours.
type Replies interface {
	// Reserve reserves an idempotency key for a request. It returns the stored response, or nil and the context in which the
	// request may run. Error: idempotency_conflict while a request with the key runs. A request that a crash interrupted
	// may run again without repeating its effects. digest is the hash of the body, "" before the body is read.
	Reserve(ctx context.Context, p domain.Principal, k record.IdempotencyKey, digest string) (context.Context, *record.StoredReply, error)
	// StoreReply stores the response of a request.
	StoreReply(ctx context.Context, p domain.Principal, k record.IdempotencyKey, r record.StoredReply) error
	// Release ends a failed request. If unknown is false, the request had no effect and the key is free again. If unknown is
	// true, only the same request may run again, as after a crash.
	Release(ctx context.Context, p domain.Principal, k record.IdempotencyKey, unknown bool) error
}
