package domain

import "time"

// Plan decides rate limits and concurrency.
type Plan string

// The plans of the specification.
const (
	Starter      Plan = "starter"
	Professional Plan = "professional"
	Enterprise   Plan = "enterprise"
)

// Values are the plans of a workspace.
func (Plan) Values() []string {
	return values(Starter, Professional, Enterprise)
}

// Limits are the ceilings of a workspace.
type Limits struct {
	RequestsPerMinute  int `json:"requests_per_minute"`
	ConcurrentInbound  int `json:"concurrent_inbound"`
	ConcurrentOutbound int `json:"concurrent_outbound"`
	CallsPerMinute     int `json:"calls_per_minute"`
}

// PlanLimits are the limits of a plan (specification, Limits); the second
// result is false for enterprise, whose limits are set per account.
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

// DefaultEnterpriseLimits are what a fresh enterprise workspace starts with.
func DefaultEnterpriseLimits() Limits {
	return Limits{RequestsPerMinute: 6000, ConcurrentInbound: 200, ConcurrentOutbound: 200, CallsPerMinute: 1200}
}

// DestinationRules are the destination rules of a workspace.
type DestinationRules struct {
	Countries       []string `json:"countries"` // ISO 3166 alpha-2; "*" is any
	BlockedPrefixes []string `json:"blocked_prefixes"`
	DailySpendCap   *Money   `json:"daily_spend_cap"`  // of outbound calls and text messages, per day in UTC; nil: none
	MaxCallMinutes  int      `json:"max_call_minutes"` // of an outbound or transferred call; 0: none of its own
}

// Workspace is a tenant.
type Workspace struct {
	Meta
	Name           string           `json:"name"`
	Plan           Plan             `json:"plan"`
	Pricing        *Pricing         `json:"pricing,omitempty"` // of an account on enterprise; nil: nothing is charged
	SegmentPrice   *Money           `json:"sms_price_per_segment,omitempty"`
	Tariff         int              `json:"tariff"` // the number of what holds now
	Limits         Limits           `json:"limits"`
	Calling        DestinationRules `json:"calling"`
	DefaultCountry string           `json:"default_country"`
	DefaultDNC     string           `json:"default_dnc_list_id"`
	FrequencyCaps  FrequencyCaps    `json:"frequency_caps"`
	Retention      Retention        `json:"retention"`
	AllowedOrigins []string         `json:"allowed_origins"`
	Redaction      Redaction        `json:"redaction"`
	Warnings       []Detail         `json:"warnings,omitempty"` // shown, never kept
}

// Key names the row.
func (w *Workspace) Key() Key { return Key{"workspace", "", w.ID} }

// Indexes: all workspaces.
func (w *Workspace) Indexes() []string { return []string{"all"} }

// Sort is by age.
func (w *Workspace) Sort() string { return w.ID }

// Permission is one word of a credential's rights.
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

// Values are the permissions of a credential.
func (Permission) Values() []string {
	return values(AllRead, AllWrite, CallsRead, CallsWrite, AgentsRead, AgentsWrite, AnalyticsRead)
}

// APIKey is a server's credential. Only a keyed hash of its value is kept.
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
	Hash        string       `json:"hash,omitempty"` // hex HMAC-SHA-256; never shown
	ExpiresAt   *time.Time   `json:"expires_at"`
	RevokedAt   *time.Time   `json:"revoked_at,omitempty"`
	LastUsedAt  *time.Time   `json:"last_used_at"`
}

// HasExpired says whether the end of the key is reached.
func (k *APIKey) HasExpired(now time.Time) bool {
	return k.ExpiresAt != nil && !now.Before(*k.ExpiresAt)
}

// Key names the row.
func (k *APIKey) Key() Key { return Key{"api_key", k.WorkspaceID, k.ID} }

// Indexes: by environment.
func (k *APIKey) Indexes() []string { return []string{envIndex(k.Environment)} }

// Sort is by age.
func (k *APIKey) Sort() string { return k.ID }

// Public is the key as the API shows it.
func (k *APIKey) Public() *APIKey {
	c := *k
	c.Hash = ""
	return &c
}

// Actor is who did something, in audit entries.
type Actor struct {
	Type string `json:"type"` // api_key | operator | user | oauth_client | system
	ID   string `json:"id"`
}

// AuditEntry records one authentication or administrative event. Equal uses
// of a key within a minute are one entry with a count.
type AuditEntry struct {
	Meta
	Type      string   `json:"type"`   // auth | admin
	Action    string   `json:"action"` // api_key.created, auth.failed …
	Actor     Actor    `json:"actor"`
	IP        string   `json:"ip"`
	UserAgent string   `json:"user_agent"`
	Resource  Resource `json:"resource"`
	Outcome   string   `json:"outcome"` // success | failure
	Reason    string   `json:"reason,omitempty"`
	Count     int      `json:"count"`
}

// Resource points at what was touched.
type Resource struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Key names the row.
func (a *AuditEntry) Key() Key { return Key{"audit", a.WorkspaceID, a.ID} }

// Indexes: all, by type, by action.
func (a *AuditEntry) Indexes() []string {
	return []string{"all", "type=" + a.Type, "action=" + a.Action}
}

// Sort is by age.
func (a *AuditEntry) Sort() string { return a.ID }

// Principal is who is asking, once a credential was checked.
type Principal struct {
	KeyID       string
	WorkspaceID string
	Environment Environment
	Permissions []Permission
	Operator    bool
	UsesSession bool   // at the dashboard, by a session
	UserID      string // with a token of a user: its sub; or who is there in person
	ClientID    string // with an OAuth token: whose it is
	SignInKeyID string // with a dashboard session: the API key that the session depends on (Session.CreatedBy.KeyID); empty: none
}

// UsesAccessToken says whether it came with a JWT or an OAuth token: neither with an
// API key nor with a dashboard session.
func (p *Principal) UsesAccessToken() bool {
	return p.ClientID != "" || p.UserID != "" && p.KeyID != ""
}

// UsesTokenOrSession says whether it came with a token, or a session, and not with an API
// key.
func (p *Principal) UsesTokenOrSession() bool { return p.UserID != "" || p.ClientID != "" }
