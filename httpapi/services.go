package httpapi

import (
	"context"
	"net/netip"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/httpapi/v1/account"
	"github.com/callboard/callboard/httpapi/v1/agents"
	"github.com/callboard/callboard/httpapi/v1/calls"
	"github.com/callboard/callboard/httpapi/v1/campaigns"
	"github.com/callboard/callboard/httpapi/v1/events"
	"github.com/callboard/callboard/httpapi/v1/messaging"
	"github.com/callboard/callboard/httpapi/v1/operator"
	"github.com/callboard/callboard/httpapi/v1/telephony"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/record"
)

// Services are the use cases that the API serves. The zero value is enough to
// register the routes and to write the OpenAPI document.
//
// The Principal of a call gives workspace, environment and permissions. A resource
// of another workspace or environment is not_found. Errors are *domain.Error, which
// the client may see; the end of the context is 503, any other error 500. Requests
// are validated and have their defaults. Returned records belong to the caller: no
// one changes them. They may hold secrets, which the API never shows.
type Services struct {
	Account   account.Services
	Agents    agents.Services
	Calls     calls.Services
	Campaigns campaigns.Services
	Events    events.Services
	Messaging messaging.Services
	Operator  operator.Services
	Telephony telephony.Services

	Keys        Authenticator
	Tokens      Tokens
	OAuth       OAuth
	Consents    Consents
	Users       Users
	Audit       Audit
	Listening   Listening
	Talking     Talking
	Node        Operators
	AlertSearch AlertSearch
	Health      Health
	RateWindows RateWindows // nil: the counts of the rate limits end with the process
	Idempotency Idempotency // nil: the Idempotency-Key header has no effect
}

// Authenticator knows API keys.
type Authenticator interface {
	// Authenticate checks the text of an API key and the client's address.
	// Errors: invalid_api_key, expired_api_key, ip_not_allowed. With an error
	// the Principal tells what is known of the key (nothing: WorkspaceID "").
	// It must be quick: it stands before every request.
	Authenticate(ctx context.Context, key string, from netip.Addr) (domain.Principal, error)
	// KeyAlive fails with expired_token where the API key has ended.
	KeyAlive(ctx context.Context, workspace, keyID string) error
}

// Tokens are what stands behind the JWTs of users.
type Tokens interface {
	// SigningKey is the key of a kid, nil where there is none whose tokens may
	// still hold. It must be quick: it stands before every request.
	SigningKey(ctx context.Context, kid string) (*domain.SigningKey, error)
	// SigningKeys are those whose tokens may hold, and which of them signs; fresh
	// makes another where one is due.
	SigningKeys(ctx context.Context, fresh func() (public, private string, err error)) (domain.Signing, error)
	// OriginAllowed says whether any workspace lets pages of an origin in.
	OriginAllowed(origin string) bool
}

// Audit is the log of who did what.
type Audit interface {
	// Note keeps an act; it never waits for the store. Principal.WorkspaceID
	// "": the credential is unknown, and only the operator's log may tell.
	Note(ctx context.Context, p domain.Principal, act record.AuditAction)
	// Ride is a context for the question to another port: what is changed under
	// it is committed together with the act, or not at all.
	Ride(ctx context.Context, p domain.Principal, act record.AuditAction) context.Context
	// Record keeps an act before it returns, unless it rode under this context.
	Record(ctx context.Context, p domain.Principal, act record.AuditAction)
	ListAudit(ctx context.Context, p domain.Principal, q audit.Query) (record.Page[*domain.AuditEntry], error)
}

// Health says whether the service can serve.
type Health interface {
	// Ready is nil when the store is open, SIP listens and campaigns are
	// loaded; otherwise its text is the reason shown.
	Ready(ctx context.Context) error
	// Draining says whether the service is being stopped: live calls go on,
	// nothing new begins.
	Draining() bool
	// Quarantined says whether nothing leaves the service, because its store was restored from a backup.
	Quarantined() bool
}

// Idempotency stores the responses to requests with an Idempotency-Key for 24 hours.
type Idempotency interface {
	// Reserve takes the key for a request. It answers the stored reply where
	// there is one, nil where the request may run, in the context that comes
	// back, and idempotency_conflict where it is still running. A request that
	// the end of the process cut off may run again: what it did is found and
	// done once. digest is that of the body, "" where it is not read yet.
	Reserve(ctx context.Context, p domain.Principal, k record.IdempotencyKey, digest string) (context.Context, *record.StoredReply, error)
	// Keep stores the reply of a request that ran.
	Keep(ctx context.Context, p domain.Principal, k record.IdempotencyKey, r record.StoredReply) error
	// Release ends a request that failed. It gives the key back where the
	// request had no effect; where that is unknown the same request may run
	// again like one that was cut off.
	Release(ctx context.Context, p domain.Principal, k record.IdempotencyKey, unknown bool) error
	// Turn writes down what makes a request that was let in here the same one
	// where another node does it, and InTurn reads it there.
	Turn(ctx context.Context) string
	InTurn(ctx context.Context, text string) (context.Context, error)
}

// RateWindows stores the counts of the rate limits.
type RateWindows interface {
	// RateWindows returns the stored counts of a workspace, empty where none are stored.
	RateWindows(ctx context.Context, workspaceID string) (domain.RateWindows, error)
	KeepRateWindows(ctx context.Context, w *domain.RateWindows) error
}

// AlertSearch evaluates alert rules of other shards.
type AlertSearch interface {
	// LookFor evaluates rules of another shard over the workspaces of this shard. The
	// result is by rule id.
	LookFor(ctx context.Context, rules []*domain.AlertRule) (map[string]alert.Look, error)
}

// OAuth are the OAuth clients of all workspaces and their access tokens.
type OAuth interface {
	// OAuthPlan fails with plan_required where the workspace's plan has none.
	OAuthPlan(workspace string) error
	// ClientOf is a client of any workspace, before it has proven anything; nil:
	// there is none. It answers from memory.
	ClientOf(ctx context.Context, id string) (*domain.OAuthClient, error)
	// ClientProves says whether a secret is the client's, after the same time for
	// every client and for nil.
	ClientProves(c *domain.OAuthClient, secret string) bool
	// OAuthAlive is what the holder of an access token may do now, at most what
	// the Principal holds. Errors: expired_token, plan_required. It answers from
	// memory: it stands before every request.
	OAuthAlive(ctx context.Context, p domain.Principal, grant, token string) ([]domain.Permission, error)
	// RevokeOAuth refuses the access tokens of a grant, or a single one by its
	// jti, from its return on; they would end at until.
	RevokeOAuth(ctx context.Context, c *domain.OAuthClient, id string, until time.Time) error
}
