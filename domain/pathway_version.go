package domain

import "fmt"

// MaxPathwayVersions is the number of old versions of a pathway that are stored.
const MaxPathwayVersions = 100

// PathwayVersion is an earlier version of a pathway. It never changes.
type PathwayVersion struct{ Pathway }

// Key returns the store key: pathway and version number.
func (v *PathwayVersion) Key() Key {
	return Key{"pathway_version", v.WorkspaceID, fmt.Sprintf("%s/%06d", v.ID, v.Version)}
}

// Indexes returns no indexes.
func (v *PathwayVersion) Indexes() []string { return nil }

// Sort returns an unused sort key.
func (v *PathwayVersion) Sort() string { return v.ID }
