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

// SignInLinkLifetime is how long a sign-in link is valid.
const SignInLinkLifetime = 5 * time.Minute

// SignIn is a one-time link that signs a user in. Its ID is a keyed hash of the secret in the link.
type SignIn struct {
	Meta
	Provenance
	UserID string    `json:"user_id"`
	Until  time.Time `json:"until"`
	// OperatorSince is the user's OperatorSince at the time at which the link was created.
	OperatorSince *time.Time `json:"operator_since,omitempty"`
}

// Key returns the key of the sign-in link in the store.
func (s *SignIn) Key() Key { return Key{"sign_in", s.WorkspaceID, s.ID} }

// IsValidFor reports whether the link signs the user in. A user who became an operator after the link was created
// needs a new link, because another person may have requested the old one.
func (s *SignIn) IsValidFor(u *User, now time.Time) bool {
	return now.Before(s.Until) && (!u.Operator || u.isSameOperator(s.OperatorSince))
}

// Indexes returns the index of all sign-in links, by which a periodic task deletes expired links.
func (s *SignIn) Indexes() []string { return []string{"all"} }

// Sort returns a sort key that orders sign-in links by their expiry time.
func (s *SignIn) Sort() string { return sortTime(s.Until) + s.ID }

// A session ends SessionIdleTime after its last use, and at the latest SessionLifetime after sign-in.
const (
	SessionIdleTime = 12 * time.Hour
	SessionLifetime = 7 * 24 * time.Hour
	// SessionFreshTime is the time after sign-in during which a session may create credentials.
	SessionFreshTime = 15 * time.Minute
)

// Session is a signed-in browser of a user. Only a keyed hash of its cookie is stored.
type Session struct {
	Meta
	Provenance           // creator of the sign-in link
	UserID     string    `json:"user_id"`
	Hash       string    `json:"hash"` // never shown
	IP         string    `json:"ip"`
	UserAgent  string    `json:"user_agent"`
	SeenAt     time.Time `json:"seen_at"`
	// OperatorSince is the OperatorSince of the sign-in link that opened the session.
	OperatorSince *time.Time `json:"operator_since,omitempty"`
}

// Key returns the key of the session in the store.
func (s *Session) Key() Key { return Key{"session", s.WorkspaceID, s.ID} }

// Indexes returns the index of all sessions and the index by user.
func (s *Session) Indexes() []string { return []string{"all", "user=" + s.UserID} }

// Sort returns the ID, which sorts by creation time.
func (s *Session) Sort() string { return s.ID }

// ExpiresAt returns the time at which the session ends if it is not used again.
func (s *Session) ExpiresAt() time.Time {
	idle, last := s.SeenAt.Add(SessionIdleTime), s.CreatedAt.Add(SessionLifetime)
	if idle.Before(last) {
		return idle
	}
	return last
}

// IsOperator reports whether the session has operator rights: its user is an operator and signed in as an operator.
func (s *Session) IsOperator(u *User) bool { return u.Operator && u.isSameOperator(s.OperatorSince) }

// IsFresh reports whether the user signed in recently enough to create credentials.
func (s *Session) IsFresh(now time.Time) bool { return now.Before(s.CreatedAt.Add(SessionFreshTime)) }

// IsValid reports whether the session has not expired.
func (s *Session) IsValid(now time.Time) bool { return now.Before(s.ExpiresAt()) }
