package domain

import "time"

// Role is what a user of the dashboard may do.
type Role string

// The roles of API.md.
const (
	RoleViewer  Role = "viewer"
	RoleAgent   Role = "agent"
	RoleManager Role = "manager"
	RoleAdmin   Role = "admin"
)

// Values are the roles of a user.
func (Role) Values() []string {
	return values(RoleViewer, RoleAgent, RoleManager, RoleAdmin)
}

// Permissions are those of a role; none of an unknown one.
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

// User is a person who signs in by one-time links.
type User struct {
	Meta
	Provenance
	Name       string   `json:"name"`
	Role       Role     `json:"role"`
	Operator   bool     `json:"operator"` // of the install, at the dashboard
	AllowedIPs []string `json:"allowed_ips"`
	// OperatorSince is when the user was made an operator, nil for who is none.
	// Links and sessions keep a copy: those of before it are no operator's.
	OperatorSince *time.Time `json:"operator_since,omitempty"`
}

// UpdateOperatorSince notes since when the user is an operator, where that has changed. was:
// whether the user was one before.
func (u *User) UpdateOperatorSince(was bool, now time.Time) {
	switch {
	case !u.Operator:
		u.OperatorSince = nil
	case !was || u.OperatorSince == nil:
		u.OperatorSince = &now
	}
}

// isSameOperator says whether what was made of an operator, whose copy of
// OperatorSince is since, is of the operator as it is now.
func (u *User) isSameOperator(since *time.Time) bool {
	return since != nil && u.OperatorSince != nil && since.Equal(*u.OperatorSince)
}

// Key names the row.
func (u *User) Key() Key { return Key{"user", u.WorkspaceID, u.ID} }

// Indexes: by environment.
func (u *User) Indexes() []string { return []string{envIndex(u.Environment)} }

// Sort is by age.
func (u *User) Sort() string { return u.ID }

// SignInLife is how long a sign-in link opens.
const SignInLinkLifetime = 5 * time.Minute

// SignIn is a link that signs a user in, once. Its id is a keyed hash of what
// the link holds.
type SignIn struct {
	Meta
	Provenance
	UserID string    `json:"user_id"`
	Until  time.Time `json:"until"`
	// OperatorSince is the user's as the link was made.
	OperatorSince *time.Time `json:"operator_since,omitempty"`
}

// Key names the row.
func (s *SignIn) Key() Key { return Key{"sign_in", s.WorkspaceID, s.ID} }

// IsValidFor says whether the link signs the user in: who was made an operator since
// takes another one, for somebody else may have had this one made.
func (s *SignIn) IsValidFor(u *User, now time.Time) bool {
	return now.Before(s.Until) && (!u.Operator || u.isSameOperator(s.OperatorSince))
}

// Indexes: all, for the sweep.
func (s *SignIn) Indexes() []string { return []string{"all"} }

// Sort is by the end.
func (s *SignIn) Sort() string { return sortTime(s.Until) + s.ID }

// A session ends when it was not used for SessionIdle, and after SessionLife
// anyway.
const (
	SessionIdleTime = 12 * time.Hour
	SessionLifetime = 7 * 24 * time.Hour
	// SessionFresh is how long after signing in credentials may be made.
	SessionFreshTime = 15 * time.Minute
)

// Session is a user who is signed in in one browser. Only a keyed hash of its
// cookie is kept.
type Session struct {
	Meta
	Provenance           // of the sign-in link
	UserID     string    `json:"user_id"`
	Hash       string    `json:"hash"` // never shown
	IP         string    `json:"ip"`
	UserAgent  string    `json:"user_agent"`
	SeenAt     time.Time `json:"seen_at"`
	// OperatorSince is that of the link that it was opened with.
	OperatorSince *time.Time `json:"operator_since,omitempty"`
}

// Key names the row.
func (s *Session) Key() Key { return Key{"session", s.WorkspaceID, s.ID} }

// Indexes: all, and by user.
func (s *Session) Indexes() []string { return []string{"all", "user=" + s.UserID} }

// Sort is by age.
func (s *Session) Sort() string { return s.ID }

// ExpiresAt is when the session ends unless it is used.
func (s *Session) ExpiresAt() time.Time {
	idle, last := s.SeenAt.Add(SessionIdleTime), s.CreatedAt.Add(SessionLifetime)
	if idle.Before(last) {
		return idle
	}
	return last
}

// IsOperator says whether the session is an operator's: of a user who is one, and
// has signed in as one.
func (s *Session) IsOperator(u *User) bool { return u.Operator && u.isSameOperator(s.OperatorSince) }

// IsFresh says whether its user came in by a link a moment ago, as what makes
// credentials asks for.
func (s *Session) IsFresh(now time.Time) bool { return now.Before(s.CreatedAt.Add(SessionFreshTime)) }

// IsValid says whether the session is good still.
func (s *Session) IsValid(now time.Time) bool { return now.Before(s.ExpiresAt()) }
