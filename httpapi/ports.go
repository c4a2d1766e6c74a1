package httpapi

import (
	"context"
	"net/netip"

	"github.com/callboard/callboard/domain"

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

// Ports are what the front door needs of the service. One value may stand in
// all of them: no two methods share a name.
//
// Everywhere: the Principal says workspace, environment and rights, and a
// resource of another workspace or environment is not_found. What comes back
// is a noun, or a *domain.Error that the client may see; any other error is a
// fault of ours (500), except ends of the context (503). Requests
// come validated and with their defaults filled in; ids, times and secrets are
// made behind the port. Nouns that come back are the caller's: no one changes
// them any more. They may hold secrets; the front door never shows them.
type Ports struct {
	Auth        Authenticator
	Campaigns   campaigns.Campaigns
	Contacts    campaigns.Contacts
	Calls       calls.Calls
	Recordings  calls.Recordings
	Listening   Listening
	Talking     Talking
	Agents      agents.Agents
	Pathways    agents.Pathways
	Tools       agents.Tools
	Trunks      telephony.Trunks
	Numbers     telephony.Numbers
	Phones      telephony.Phones
	DNC         campaigns.DNC
	Webhooks    events.Webhooks
	Deliveries  events.Deliveries
	Keys        account.Keys
	Tokens      Tokens
	OAuth       account.OAuth
	Consents    Consents
	Users       Users
	Audit       Audit
	Workspaces  account.Workspaces
	Usages      account.Usages
	Bulks       campaigns.Bulks
	Exports     account.Exports
	Data        account.DataRequests
	Tenants     operator.Tenants
	Operators   Operators
	Quarantines operator.Quarantines
	Alerts      operator.Alerts
	Events      events.Events
	Health      Health
	Bookings    agents.Bookings
	Messages    messaging.Messages
	Textings    messaging.Textings
	Gateways    messaging.SMSGateways
	Knowledge   agents.Knowledge
	Windows     Windows // nil: what is used of the rate limits is forgotten at the end
	Once        Once    // nil: the Idempotency-Key header has no effect
}

// Authenticator knows API keys.
type Authenticator interface {
	// Authenticate checks the text of an API key and the client's address.
	// Errors: invalid_api_key, expired_api_key, ip_not_allowed. With an error
	// the Principal tells what is known of the key (nothing: WorkspaceID "").
	// It must be quick: it stands before every request.
	Authenticate(ctx context.Context, key string, from netip.Addr) (domain.Principal, error)
}

// Tokens are what stands behind the JWTs of users.
type Tokens interface {
	// SigningKey is the key of a kid, nil where there is none whose tokens may
	// still hold. It must be quick: it stands before every request.
	SigningKey(ctx context.Context, kid string) (*domain.SigningKey, error)
	// SigningKeys are those whose tokens may hold, and which of them signs; fresh
	// makes another where one is due.
	SigningKeys(ctx context.Context, fresh func() (public, private string, err error)) (domain.Signing, error)
	// KeyAlive fails with expired_token where the API key no longer holds.
	KeyAlive(ctx context.Context, workspace, keyID string) error
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

// Once keeps the answers to requests with an Idempotency-Key for 24 hours.
type Once interface {
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
