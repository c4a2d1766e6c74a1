package middleware

import (
	"context"
	"net/netip"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// Services are the use cases that the checks of requests ask.
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

// Keys are the API keys of all workspaces.
type Keys interface {
	// Authenticate checks the text of an API key and the client's address. Errors:
	// invalid_api_key, expired_api_key, ip_not_allowed. With an error the Principal
	// holds what is known of the key; WorkspaceID "": nothing. It answers from
	// memory: every request waits for it.
	Authenticate(ctx context.Context, key string, from netip.Addr) (domain.Principal, error)
	// KeyAlive fails with expired_token where the API key has ended.
	CheckKeyIsValid(ctx context.Context, workspace, keyID string) error
}

// OAuth are the OAuth clients of all workspaces and their access tokens.
type OAuth interface {
	// ClientOf returns a client of any workspace, nil where there is none. It
	// answers from memory.
	FindClient(ctx context.Context, id string) (*domain.OAuthClient, error)
	// OAuthAlive returns the current permissions of the holder of an access token,
	// at most those of the Principal. Errors: expired_token, plan_required. It
	// answers from memory: every request waits for it.
	CheckOAuthToken(ctx context.Context, p domain.Principal, grant, token string) ([]domain.Permission, error)
}

// Sessions are the sessions of users in browsers.
type Sessions interface {
	// Session returns the user and the session of a cookie. watching: the request is
	// an automatic update of an open page, which does not extend the session.
	// Errors: authentication_required, ip_not_allowed.
	AuthenticateSession(ctx context.Context, cookie string, from netip.Addr, watching bool) (*domain.User, *domain.Session, error)
}

// AllowedOrigins are the origins of web pages that may use the API.
type AllowedOrigins interface {
	// OriginAllowed says whether any workspace allows the pages of an origin.
	OriginAllowed(origin string) bool
}

// Workspaces returns the workspace of a principal.
type Workspaces interface {
	// Workspace answers from memory: every request waits for it.
	Workspace(ctx context.Context, p domain.Principal) (*domain.Workspace, error)
}

// Audit writes the audit log.
type Audit interface {
	// Note records an action without waiting for the store. Principal.WorkspaceID
	// "": the credential is unknown; only the operator's log has the action.
	RecordSoon(ctx context.Context, p domain.Principal, act record.AuditAction)
	// Ride returns a context for a call of a service: its change is committed
	// together with the action, or not at all.
	WithAuditEntry(ctx context.Context, p domain.Principal, act record.AuditAction) context.Context
	// Record records an action before it returns, unless a change under this context
	// has committed the action.
	Record(ctx context.Context, p domain.Principal, act record.AuditAction)
}

// Drain says whether the service is being stopped.
type Drain interface {
	// RefusesWrites reports whether no work may begin any more; live calls go on.
	RefusesWrites() bool
}

// RateWindows stores the counts of the rate limits.
type RateWindows interface {
	// RateWindows returns the stored counts of a workspace, empty where none are stored.
	RateWindows(ctx context.Context, workspaceID string) (domain.RateWindows, error)
	StoreRateWindows(ctx context.Context, w *domain.RateWindows) error
}

// Replies stores the responses to requests with an Idempotency-Key for 24 hours.
type Replies interface {
	// Reserve takes the key for a request. It returns the stored response, or nil
	// where the request may run in the returned context. Errors:
	// idempotency_conflict while the request runs. A request that the end of the
	// process has interrupted may run again: its effects are found and not repeated.
	// digest is that of the body, "" before the body is read.
	Reserve(ctx context.Context, p domain.Principal, k record.IdempotencyKey, digest string) (context.Context, *record.StoredReply, error)
	// Keep stores the response of a request.
	StoreReply(ctx context.Context, p domain.Principal, k record.IdempotencyKey, r record.StoredReply) error
	// Release ends a failed request. The key is free again where the request had no
	// effect; where its effect is unknown, the same request may run again like an
	// interrupted one.
	Release(ctx context.Context, p domain.Principal, k record.IdempotencyKey, unknown bool) error
}
