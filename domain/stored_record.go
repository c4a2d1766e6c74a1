package domain

import "time"

// Environment separates live traffic from the sandbox: live or test.
type Environment string

// The environments of a workspace.
const (
	Live Environment = "live"
	Test Environment = "test"
)

// Meta holds the fields that all resources have. Resource types embed Meta.
type Meta struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	WorkspaceID string            `json:"workspace_id"`
	Environment Environment       `json:"environment"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// Base returns the Meta that a resource embeds.
func (m *Meta) Base() *Meta { return m }

// Key identifies a record in the store by kind, workspace and ID.
type Key struct {
	Kind      string
	Workspace string
	ID        string
}

// Record is a value that the store persists as one database row, for example a resource.
type Record interface {
	// Key returns the key of the record in the store.
	Key() Key
	// Indexes returns the names of the indexes that contain the record, each "name" or "name=value". The records of an
	// index are ordered by Sort.
	Indexes() []string
	// Sort returns the sort key of the record within its indexes. Sort keys that are ULID IDs sort by creation time.
	Sort() string
}

// Sealer is a record with secrets. The store persists only the encrypted copy that Sealed returns.
type Sealer interface {
	Record
	// Sealed returns a copy whose secret fields are encrypted by f.
	Sealed(f func(field, text string) (string, error)) (Record, error)
	// Unseal decrypts the secret fields in place with f.
	Unseal(f func(field, text string) (string, error)) error
}

func envIndex(e Environment) string { return "env=" + string(e) }

// Init sets the fields of a new resource. object is the type name of the resource in the API.
func (m *Meta) Init(object string, p Principal, id string, now time.Time) {
	m.ID, m.Object, m.WorkspaceID, m.Environment = id, object, p.WorkspaceID, p.Environment
	m.CreatedAt, m.UpdatedAt = now, now
}

// Timestamp returns a time as records store it: UTC in whole milliseconds.
func Timestamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
