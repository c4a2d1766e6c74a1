package domain

import "time"

// DeletedWorkspace marks a workspace as deleted while some of its data may still exist. A background task deletes the
// data, and deletes the DeletedWorkspace last.
type DeletedWorkspace struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// Key returns the key of the deleted workspace in the store.
func (g *DeletedWorkspace) Key() Key { return Key{"gone_workspace", "", g.ID} }

// Indexes returns one index of all deleted workspaces.
func (g *DeletedWorkspace) Indexes() []string { return []string{"all"} }

// Sort returns the ID of the workspace.
func (g *DeletedWorkspace) Sort() string { return g.ID }
