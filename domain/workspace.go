package domain

import "time"

// Plan is the subscription plan of a workspace. It decides rate limits and concurrency.
type Plan string

// The plans of the specification.
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

// PlanLimits returns the limits of a plan (specification, Limits). ok is false for enterprise, whose limits are set
// for each account.
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

// Workspace is a tenant.
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

// Key returns the store key.
func (w *Workspace) Key() Key { return Key{"workspace", "", w.ID} }

// Indexes returns one index of all workspaces.
func (w *Workspace) Indexes() []string { return []string{"all"} }

// Sort returns the ID, which sorts by creation time.
func (w *Workspace) Sort() string { return w.ID }

// Permission is one permission of a credential.
type Permission string

// The permissions of the specification.
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

// Key returns the store key.
func (k *APIKey) Key() Key { return Key{"api_key", k.WorkspaceID, k.ID} }

// Indexes returns the environment.
func (k *APIKey) Indexes() []string { return []string{envIndex(k.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (k *APIKey) Sort() string { return k.ID }

// Public returns the key as the API shows it.
func (k *APIKey) Public() *APIKey {
	c := *k
	c.Hash = ""
	return &c
}

// Actor is the originator of an action in the audit log.
type Actor struct {
	Type string `json:"type"` // api_key, operator, user, oauth_client or system
	ID   string `json:"id"`
}

// AuditEntry records an authentication or administrative event. Equal uses of a key within a minute are one entry
// with a count.
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

// Resource identifies the resource of an audit entry.
type Resource struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Key returns the store key.
func (a *AuditEntry) Key() Key { return Key{"audit", a.WorkspaceID, a.ID} }

// Indexes returns one index of all entries, the type and the action.
func (a *AuditEntry) Indexes() []string {
	return []string{"all", "type=" + a.Type, "action=" + a.Action}
}

// Sort returns the ID, which sorts by creation time.
func (a *AuditEntry) Sort() string { return a.ID }

// Principal is the authenticated originator of a request.
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
