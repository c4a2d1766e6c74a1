package domain

import "fmt"

// KeptPathways is how many versions of a pathway before the newest are kept.
const MaxPathwayVersions = 100

// PathwayVersion is a pathway as it was before a change. It never changes.
type PathwayVersion struct{ Pathway }

// Key names the row: below its pathway.
func (v *PathwayVersion) Key() Key {
	return Key{"pathway_version", v.WorkspaceID, fmt.Sprintf("%s/%06d", v.ID, v.Version)}
}

// Indexes: none.
func (v *PathwayVersion) Indexes() []string { return nil }

// Sort is unused.
func (v *PathwayVersion) Sort() string { return v.ID }
