package domain

import "time"

// Environment tells production from sandbox: live or test.
type Environment string

// The environments.
const (
	Live Environment = "live"
	Test Environment = "test"
)

// Meta is what every resource carries.
type Meta struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	WorkspaceID string            `json:"workspace_id"`
	Environment Environment       `json:"environment"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// Base is what the noun has in common with every other.
func (m *Meta) Base() *Meta { return m }

// Key names a row of the store: the kind of noun, its workspace and its id.
type Key struct {
	Kind      string
	Workspace string
	ID        string
}

// Record is a noun that the store keeps.
type Record interface {
	// Key names the row.
	Key() Key
	// Indexes are the lists that the noun stands in, each "name" or
	// "name=value"; within a list rows stand in the order of Sort.
	Indexes() []string
	// Sort is the noun's place in its lists; ids of ULIDs sort by time.
	Sort() string
}

// Sealer is a noun with secrets. The store keeps only what Sealed returns.
type Sealer interface {
	Record
	// Sealed returns a copy whose secret fields went through f.
	Sealed(f func(field, text string) (string, error)) (Record, error)
	// Unseal puts the secret fields of the noun itself through f.
	Unseal(f func(field, text string) (string, error)) error
}

func envIndex(e Environment) string { return "env=" + string(e) }

// Init sets the fields that every new resource has.
func (m *Meta) Init(object string, p Principal, id string, now time.Time) {
	m.ID, m.Object, m.WorkspaceID, m.Environment = id, object, p.WorkspaceID, p.Environment
	m.CreatedAt, m.UpdatedAt = now, now
}

// Timestamp is a time as records keep it: UTC, in whole milliseconds.
func Timestamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
