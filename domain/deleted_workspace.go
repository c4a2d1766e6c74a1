package domain

import "time"

// DeletedWorkspace says that a workspace was deleted and that some of what it was
// made of may still be there. The row goes last.
type DeletedWorkspace struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// Key names the row.
func (g *DeletedWorkspace) Key() Key { return Key{"gone_workspace", "", g.ID} }

// Indexes: all of them.
func (g *DeletedWorkspace) Indexes() []string { return []string{"all"} }

// Sort is by age of the workspace.
func (g *DeletedWorkspace) Sort() string { return g.ID }
