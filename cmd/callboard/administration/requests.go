package administration

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
)

// BackupRequest asks for a backup into a folder that is not there yet.
type BackupRequest struct {
	To string `json:"to"` // absolute
}

// NewKey asks for a key.
type NewKey struct {
	Workspace   string              `json:"workspace"` // id; "": the only one
	Name        string              `json:"name"`
	Permissions []domain.Permission `json:"permissions"`
	Environment domain.Environment  `json:"environment"`
	AllowedIPs  []string            `json:"allowed_ips"`
	Operator    bool                `json:"operator"`
	ExpiresAt   *time.Time          `json:"expires_at"`
}

// CreatedKey is a key with its text, shown this once.
type CreatedKey struct {
	*domain.APIKey
	Text string `json:"key"`
}

// KeyRevocation asks for the revocation of a key.
type KeyRevocation struct {
	ID      string `json:"id"`
	Cascade bool   `json:"cascade"` // end what the key created, too
}

// RevokedKey is the answer to a KeyRevocation.
type RevokedKey struct {
	ID        string               `json:"id"`
	Revoked   bool                 `json:"revoked"`
	Remaining []domain.ResourceRef `json:"remaining"`
	Ended     []domain.ResourceRef `json:"ended"`
}

// NewWorkspace asks for a workspace.
type NewWorkspace struct {
	Name    string `json:"name"`
	Plan    string `json:"plan"`
	Country string `json:"country"`
}

// CreatedWorkspace is a workspace with its first key, shown this once.
type CreatedWorkspace struct {
	*domain.Workspace
	KeyID string `json:"key_id"`
	Key   string `json:"key"`
}

// NewUser asks for a user.
type NewUser struct {
	Workspace string `json:"workspace"` // id; "": the only one
	Name      string `json:"name"`
	Role      string `json:"role"`
	Operator  bool   `json:"operator"`

	Environment domain.Environment `json:"environment"` // whose data the user sees; "": live
}

// SignInLink signs a user in, once.
type SignInLink struct {
	UserID    string    `json:"user_id"`
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

func (n NewWorkspace) workspace() (*domain.Workspace, error) {
	w := &domain.Workspace{Name: n.Name, Plan: domain.Plan(n.Plan), DefaultCountry: n.Country, Calling: domain.DestinationRules{Countries: []string{n.Country}}}
	limits, fixed := domain.PlanLimits(w.Plan)
	if w.Limits = limits; !fixed {
		w.Limits = domain.DefaultEnterpriseLimits()
	}
	return w, validation.Workspace(w).Err()
}

// RecountRequest asks for a recount of some days.
type RecountRequest struct {
	Workspace string    `json:"workspace"` // id; "": all
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Repair    bool      `json:"repair"`
}
