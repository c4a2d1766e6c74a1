package domain

import "time"

// Environment separates live traffic from the sandbox: live or test.
type Environment string

// The environments of a workspace.
const (
	Live Environment = "live"
	Test Environment = "test"
)

// Meta holds the fields that all resources have.
type Meta struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	WorkspaceID string            `json:"workspace_id"`
	Environment Environment       `json:"environment"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// Base returns the fields that all resources have.
func (m *Meta) Base() *Meta { return m }

// Key identifies a row of the store: kind, workspace and ID.
type Key struct {
	Kind      string
	Workspace string
	ID        string
}

// Record is a resource or another row that the store persists.
type Record interface {
	// Key returns the store key.
	Key() Key
	// Indexes returns the lists that contain the row, each "name" or "name=value". Rows within a list are ordered
	// by Sort.
	Indexes() []string
	// Sort returns the sort key within the lists. Keys that are ULID IDs sort by creation time.
	Sort() string
}

// Sealer is a record with secrets. The store persists only the result of Sealed.
type Sealer interface {
	Record
	// Sealed returns a copy whose secret fields are encrypted by f.
	Sealed(f func(field, text string) (string, error)) (Record, error)
	// Unseal decrypts the secret fields of the record itself with f.
	Unseal(f func(field, text string) (string, error)) error
}

func envIndex(e Environment) string { return "env=" + string(e) }

// Init sets the fields that every new resource has.
func (m *Meta) Init(object string, p Principal, id string, now time.Time) {
	m.ID, m.Object, m.WorkspaceID, m.Environment = id, object, p.WorkspaceID, p.Environment
	m.CreatedAt, m.UpdatedAt = now, now
}

// Timestamp returns a time as records store it: UTC in whole milliseconds.
func Timestamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
