package domain

import (
	"time"

	"github.com/oklog/ulid/v2"
)

// DNCSource is how a number came onto a do-not-call list.
type DNCSource string

// The sources. What came by an opt-out is obeyed even where a campaign does
// not scrub.
const (
	DNCImport DNCSource = "import"
	DNCAPI    DNCSource = "api"
	DNCOptOut DNCSource = "opt_out"
)

// Values are the sources of a do-not-call entry.
func (DNCSource) Values() []string {
	return values(DNCImport, DNCAPI, DNCOptOut)
}

// DNCList is a list of numbers that are never called. Every environment of a
// workspace has a default one, which takes its opt-outs.
type DNCList struct {
	Meta
	Name    string `json:"name"`
	Default bool   `json:"default"`
	// Entries is counted when the list is shown; it is not stored.
	Entries int `json:"entries"`
}

// Key names the row.
func (l *DNCList) Key() Key { return Key{"dnc_list", l.WorkspaceID, l.ID} }

// Indexes: all, and by environment.
func (l *DNCList) Indexes() []string { return []string{"all", envIndex(l.Environment)} }

// Sort is by age.
func (l *DNCList) Sort() string { return l.ID }

// DefaultDNCID is the id of the default list of a workspace and environment.
// It follows from the workspace's, so that nobody has to look it up.
func DefaultDNCID(workspaceID string, env Environment) string {
	const prefix = string(PrefixWorkspace) + "_"
	var u ulid.ULID
	if len(workspaceID) > len(prefix) {
		if parsed, err := ulid.ParseStrict(workspaceID[len(prefix):]); err == nil {
			u = parsed
		}
	}
	if env == Test {
		u[len(u)-1] ^= 1
	}
	return string(PrefixDNC) + "_" + u.String()
}

// DNCEntry is a number of a list.
type DNCEntry struct {
	Phone     string    `json:"phone"` // E.164
	Source    DNCSource `json:"source"`
	CallID    string    `json:"call_id,omitempty"`    // of the opt-out
	MessageID string    `json:"message_id,omitempty"` // of the opt-out
	CreatedAt time.Time `json:"created_at"`
}
