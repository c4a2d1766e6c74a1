package domain

import "time"

// Plan is the subscription plan of a workspace. It decides rate limits and concurrency.
type Plan string

// The subscription plans.
const (
	Starter      Plan = "starter"
	Professional Plan = "professional"
	Enterprise   Plan = "enterprise"
)

// Values returns the plans of a workspace.
func (Plan) Values() []string {
	return values(Starter, Professional, Enterprise)
}

// Limits holds the rate and concurrency limits of a workspace.
type Limits struct {
	RequestsPerMinute  int `json:"requests_per_minute"`
	ConcurrentInbound  int `json:"concurrent_inbound"`
	ConcurrentOutbound int `json:"concurrent_outbound"`
	CallsPerMinute     int `json:"calls_per_minute"`
}

// PlanLimits returns the limits of a plan. ok is false for enterprise, whose limits are set for each account.
func PlanLimits(p Plan) (Limits, bool) {
	switch p {
	case Starter:
		return Limits{RequestsPerMinute: 60, ConcurrentInbound: 5, ConcurrentOutbound: 5, CallsPerMinute: 10}, true
	case Professional:
		return Limits{RequestsPerMinute: 300, ConcurrentInbound: 25, ConcurrentOutbound: 25, CallsPerMinute: 60}, true
	case Enterprise:
		return Limits{}, false
	}
	return Limits{}, false
}

// DefaultEnterpriseLimits returns the initial limits of an enterprise workspace.
func DefaultEnterpriseLimits() Limits {
	return Limits{RequestsPerMinute: 6000, ConcurrentInbound: 200, ConcurrentOutbound: 200, CallsPerMinute: 1200}
}

// DestinationRules limits the destinations and the cost of outbound calls.
type DestinationRules struct {
	Countries       []string `json:"countries"` // ISO 3166 alpha-2; "*" is any country
	BlockedPrefixes []string `json:"blocked_prefixes"`
	DailySpendCap   *Money   `json:"daily_spend_cap"`  // cost of outbound calls and text messages per UTC day; nil: no cap
	MaxCallMinutes  int      `json:"max_call_minutes"` // of outbound and transferred calls; 0: no limit
}

// Workspace is a tenant: an account with its own agents, campaigns, calls and credentials.
type Workspace struct {
	Meta
	Name           string           `json:"name"`
	Plan           Plan             `json:"plan"`
	Pricing        *Pricing         `json:"pricing,omitempty"` // individual terms of the plan enterprise; nil: nothing is charged
	SegmentPrice   *Money           `json:"sms_price_per_segment,omitempty"`
	Tariff         int              `json:"tariff"` // number of the current tariff
	Limits         Limits           `json:"limits"`
	Calling        DestinationRules `json:"calling"`
	DefaultCountry string           `json:"default_country"`
	DefaultDNC     string           `json:"default_dnc_list_id"`
	FrequencyCaps  FrequencyCaps    `json:"frequency_caps"`
	Retention      Retention        `json:"retention"`
	AllowedOrigins []string         `json:"allowed_origins"`
	Redaction      Redaction        `json:"redaction"`
	Warnings       []Detail         `json:"warnings,omitempty"` // shown, never stored
}

// Key returns the key of the workspace in the store.
func (w *Workspace) Key() Key { return Key{"workspace", "", w.ID} }

// Indexes returns one index of all workspaces.
func (w *Workspace) Indexes() []string { return []string{"all"} }

// Sort returns the ID, which sorts by creation time.
func (w *Workspace) Sort() string { return w.ID }

// Permission allows a credential to read or to write the resources of one kind, or of all kinds.
type Permission string

// The permissions of API keys, users and OAuth clients.
const (
	AllRead       Permission = "*:read"
	AllWrite      Permission = "*:write"
	CallsRead     Permission = "calls:read"
	CallsWrite    Permission = "calls:write"
	AgentsRead    Permission = "agents:read"
	AgentsWrite   Permission = "agents:write"
	AnalyticsRead Permission = "analytics:read"
)

// Values returns the permissions of a credential.
func (Permission) Values() []string {
	return values(AllRead, AllWrite, CallsRead, CallsWrite, AgentsRead, AgentsWrite, AnalyticsRead)
}

// APIKey is a credential for servers. Only a keyed hash of it is stored.
type APIKey struct {
	Meta
	Provenance
	Name        string       `json:"name"`
	Permissions []Permission `json:"permissions"`
	AllowedIPs  []string     `json:"allowed_ips"`
	Operator    bool         `json:"operator,omitempty"`
	ParentID    string       `json:"parent_id,omitempty"`
	KeyPrefix   string       `json:"key_prefix"`
	Last4       string       `json:"last4"`
	Hash        string       `json:"hash,omitempty"` // HMAC-SHA-256 in hex; never shown
	ExpiresAt   *time.Time   `json:"expires_at"`
	RevokedAt   *time.Time   `json:"revoked_at,omitempty"`
	LastUsedAt  *time.Time   `json:"last_used_at"`
}

// HasExpired reports whether the key has expired.
func (k *APIKey) HasExpired(now time.Time) bool {
	return k.ExpiresAt != nil && !now.Before(*k.ExpiresAt)
}

// Key returns the key of the API key in the store.
func (k *APIKey) Key() Key { return Key{"api_key", k.WorkspaceID, k.ID} }

// Indexes returns the index of all API keys in the environment.
func (k *APIKey) Indexes() []string { return []string{envIndex(k.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (k *APIKey) Sort() string { return k.ID }

// Public returns a copy with the fields that the API shows.
func (k *APIKey) Public() *APIKey {
	c := *k
	c.Hash = ""
	return &c
}

// Actor identifies the credential or process that caused an action in the audit log.
type Actor struct {
	Type string `json:"type"` // api_key, operator, user, oauth_client or system
	ID   string `json:"id"`
}

// AuditEntry records an authentication or administrative action. Equal uses of an API key within a minute are one entry
// whose Count is the number of uses.
type AuditEntry struct {
	Meta
	Type      string   `json:"type"`   // auth or admin
	Action    string   `json:"action"` // api_key.created, auth.failed …
	Actor     Actor    `json:"actor"`
	IP        string   `json:"ip"`
	UserAgent string   `json:"user_agent"`
	Resource  Resource `json:"resource"`
	Outcome   string   `json:"outcome"` // success or failure
	Reason    string   `json:"reason,omitempty"`
	Count     int      `json:"count"`
}

// Resource identifies the resource that an audit entry is about.
type Resource struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Key returns the key of the audit entry in the store.
func (a *AuditEntry) Key() Key { return Key{"audit", a.WorkspaceID, a.ID} }

// Indexes returns the index of all entries and the indexes by type and by action.
func (a *AuditEntry) Indexes() []string {
	return []string{"all", "type=" + a.Type, "action=" + a.Action}
}

// Sort returns the ID, which sorts by creation time.
func (a *AuditEntry) Sort() string { return a.ID }

// Principal holds the identity and the permissions of the credential that authenticated a request.
type Principal struct {
	KeyID       string
	WorkspaceID string
	Environment Environment
	Permissions []Permission
	Operator    bool
	UsesSession bool   // signed in at the dashboard, by a session
	UserID      string // with a user token: its sub; with a session: the user
	ClientID    string // with an OAuth token: the client
	SignInKeyID string // with a dashboard session: the API key that the session depends on (Session.CreatedBy.KeyID); empty: none
}

// UsesAccessToken reports whether the request was authenticated with a JWT or an OAuth token.
func (p *Principal) UsesAccessToken() bool {
	return p.ClientID != "" || p.UserID != "" && p.KeyID != ""
}

// UsesTokenOrSession reports whether the request was authenticated with a token or a session, and not with an API
// key.
func (p *Principal) UsesTokenOrSession() bool { return p.UserID != "" || p.ClientID != "" }
