package domain

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
