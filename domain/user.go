package domain

import "time"

// Role is the role of a dashboard user.
type Role string

// The roles of dashboard users.
const (
	RoleViewer  Role = "viewer"
	RoleAgent   Role = "agent"
	RoleManager Role = "manager"
	RoleAdmin   Role = "admin"
)

// Values returns the roles of a user.
func (Role) Values() []string {
	return values(RoleViewer, RoleAgent, RoleManager, RoleAdmin)
}

// Permissions returns the permissions of a role. An unknown role has none.
func (r Role) Permissions() []Permission {
	switch r {
	case RoleViewer:
		return []Permission{AllRead}
	case RoleAgent:
		return []Permission{CallsRead, CallsWrite, AgentsRead}
	case RoleManager:
		return []Permission{CallsRead, CallsWrite, AgentsRead, AgentsWrite, AnalyticsRead}
	case RoleAdmin:
		return []Permission{AllRead, AllWrite}
	}
	return nil
}

// User is a person who signs in to the dashboard with one-time links.
type User struct {
	Meta
	Provenance
	Name       string   `json:"name"`
	Role       Role     `json:"role"`
	Operator   bool     `json:"operator"` // operator of the installation, in the dashboard
	AllowedIPs []string `json:"allowed_ips"`
	// OperatorSince is when the user became an operator, or nil if the user is not an operator. Sign-in links and sessions
	// store a copy. A link or session with an earlier copy has no operator rights.
	OperatorSince *time.Time `json:"operator_since,omitempty"`
}

// UpdateOperatorSince sets or clears OperatorSince after a change of Operator. wasOperator is Operator before the
// change.
func (u *User) UpdateOperatorSince(wasOperator bool, now time.Time) {
	switch {
	case !u.Operator:
		u.OperatorSince = nil
	case !wasOperator || u.OperatorSince == nil:
		u.OperatorSince = &now
	}
}

// isSameOperator reports whether a link or session was created since the user last became an operator. since is the
// copy of OperatorSince in the link or session.
func (u *User) isSameOperator(since *time.Time) bool {
	return since != nil && u.OperatorSince != nil && since.Equal(*u.OperatorSince)
}

// Key returns the key of the user in the store.
func (u *User) Key() Key { return Key{"user", u.WorkspaceID, u.ID} }

// Indexes returns the index of all users in the environment.
func (u *User) Indexes() []string { return []string{envIndex(u.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (u *User) Sort() string { return u.ID }
