package domain

import "time"

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
