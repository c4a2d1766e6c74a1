package domain

import "time"

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
