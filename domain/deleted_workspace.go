package domain

import "time"

// DeletedWorkspace is a deleted workspace of which some data may still exist. The row is deleted last.
type DeletedWorkspace struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// Key returns the store key.
func (g *DeletedWorkspace) Key() Key { return Key{"gone_workspace", "", g.ID} }

// Indexes returns one index of all deleted workspaces.
func (g *DeletedWorkspace) Indexes() []string { return []string{"all"} }

// Sort returns the ID of the workspace.
func (g *DeletedWorkspace) Sort() string { return g.ID }
