package domain

import (
	"time"

	"github.com/oklog/ulid/v2"
)

// DNCSource is the way in which a number came onto a do-not-call list.
type DNCSource string

// The sources of a do-not-call entry. Opt-outs apply even to campaigns without DNC scrubbing.
const (
	DNCImport DNCSource = "import"
	DNCAPI    DNCSource = "api"
	DNCOptOut DNCSource = "opt_out"
)

// Values returns the sources of a do-not-call entry.
func (DNCSource) Values() []string {
	return values(DNCImport, DNCAPI, DNCOptOut)
}

// DNCList is a list of numbers that must not be called. Each environment of a workspace has a default list that
// receives the opt-outs.
type DNCList struct {
	Meta
	Name    string `json:"name"`
	Default bool   `json:"default"`
	// Entries is the number of entries. It is counted for each API response and is not stored.
	Entries int `json:"entries"`
}

// Key returns the key of the do-not-call list in the store.
func (l *DNCList) Key() Key { return Key{"dnc_list", l.WorkspaceID, l.ID} }

// Indexes returns the index of all lists and the index by environment.
func (l *DNCList) Indexes() []string { return []string{"all", envIndex(l.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (l *DNCList) Sort() string { return l.ID }

// DefaultDNCID returns the ID of the default list of a workspace and environment. It is derived from the workspace
// ID, so that no lookup is needed.
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

// DNCEntry is one number on a do-not-call list.
type DNCEntry struct {
	Phone     string    `json:"phone"` // E.164
	Source    DNCSource `json:"source"`
	CallID    string    `json:"call_id,omitempty"`    // call in which the person opted out
	MessageID string    `json:"message_id,omitempty"` // message by which the person opted out
	CreatedAt time.Time `json:"created_at"`
}
