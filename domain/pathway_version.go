package domain

import "fmt"

// MaxPathwayVersions is the number of old versions of a pathway that are stored.
const MaxPathwayVersions = 100

// PathwayVersion is an earlier version of a pathway. It never changes.
type PathwayVersion struct{ Pathway }

// Key returns the store key, which contains the ID and the version number of the pathway.
func (v *PathwayVersion) Key() Key {
	return Key{"pathway_version", v.WorkspaceID, fmt.Sprintf("%s/%06d", v.ID, v.Version)}
}

// Indexes returns nil: the pathway version is read by key or key prefix only.
func (v *PathwayVersion) Indexes() []string { return nil }

// Sort returns a sort key that is unused, because the pathway version has no index.
func (v *PathwayVersion) Sort() string { return v.ID }
