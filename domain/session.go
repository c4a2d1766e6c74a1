package domain

import "time"

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
	// Shows is the environment that the dashboard shows in this session. Empty: that of the user.
	Shows Environment `json:"shows,omitempty"`
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

// EnvironmentFor returns the environment in which the session acts. A user of the test environment cannot leave it, because
// a test key may have created the user.
func (s *Session) EnvironmentFor(u *User) Environment {
	if u.Environment == Test || s.Shows == "" {
		return u.Environment
	}
	return s.Shows
}

// IsFresh reports whether the user signed in recently enough to create credentials.
func (s *Session) IsFresh(now time.Time) bool { return now.Before(s.CreatedAt.Add(SessionFreshTime)) }

// IsValid reports whether the session has not expired.
func (s *Session) IsValid(now time.Time) bool { return now.Before(s.ExpiresAt()) }
