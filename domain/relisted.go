package domain

import "time"

// Relisted says that every call of a workspace stands in all lists of
// Call.Indexes, also one that was kept by a version with fewer of them.
type Relisted struct {
	WorkspaceID string    `json:"workspace_id"`
	At          time.Time `json:"at"`
}

// Key names the one row of a workspace.
func (r *Relisted) Key() Key { return Key{"relisted", r.WorkspaceID, "call"} }

// Indexes: none.
func (r *Relisted) Indexes() []string { return nil }

// Sort is that of the only row.
func (r *Relisted) Sort() string { return "call" }
