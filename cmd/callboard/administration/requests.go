package administration

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
)

// BackupRequest requests a backup into a folder that does not exist yet.
type BackupRequest struct {
	To string `json:"to"` // absolute path
}

// NewKey requests a new API key.
type NewKey struct {
	Workspace   string              `json:"workspace"` // id; "": the only workspace
	Name        string              `json:"name"`
	Permissions []domain.Permission `json:"permissions"`
	Environment domain.Environment  `json:"environment"`
	AllowedIPs  []string            `json:"allowed_ips"`
	Operator    bool                `json:"operator"`
	ExpiresAt   *time.Time          `json:"expires_at"`
}

// CreatedKey is a new API key with its secret text, which is shown only once.
type CreatedKey struct {
	*domain.APIKey
	Text string `json:"key"`
}

// KeyRevocation requests the revocation of an API key.
type KeyRevocation struct {
	ID      string `json:"id"`
	Cascade bool   `json:"cascade"` // also delete the resources that the key created
}

// RevokedKey is the result of a KeyRevocation.
type RevokedKey struct {
	ID        string               `json:"id"`
	Revoked   bool                 `json:"revoked"`
	Remaining []domain.ResourceRef `json:"remaining"`
	Ended     []domain.ResourceRef `json:"ended"`
}

// NewWorkspace requests a new workspace.
type NewWorkspace struct {
	Name    string `json:"name"`
	Plan    string `json:"plan"`
	Country string `json:"country"`
}

// CreatedWorkspace is a new workspace with its first API key, which is shown only once.
type CreatedWorkspace struct {
	*domain.Workspace
	KeyID string `json:"key_id"`
	Key   string `json:"key"`
}

// NewUser requests a new user.
type NewUser struct {
	Workspace string `json:"workspace"` // id; "": the only workspace
	Name      string `json:"name"`
	Role      string `json:"role"`
	Operator  bool   `json:"operator"`

	Environment domain.Environment `json:"environment"` // environment whose data the user sees; "": live
}

// SignInLink is a link that signs a user in once.
type SignInLink struct {
	UserID    string    `json:"user_id"`
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// workspace returns the record of the requested workspace, with the limits of its plan. It validates the record.
func (n NewWorkspace) workspace() (*domain.Workspace, error) {
	w := &domain.Workspace{Name: n.Name, Plan: domain.Plan(n.Plan), DefaultCountry: n.Country, Calling: domain.DestinationRules{Countries: []string{n.Country}}}
	limits, fixed := domain.PlanLimits(w.Plan)
	if w.Limits = limits; !fixed {
		w.Limits = domain.DefaultEnterpriseLimits()
	}
	return w, validation.Workspace(w).Err()
}

// RecountRequest requests a comparison of the usage counters of some days with the stored call attempts.
type RecountRequest struct {
	Workspace string    `json:"workspace"` // id; "": all workspaces
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Repair    bool      `json:"repair"`
}
