// Package commit defines an atomic change of the store and the interface of the store. A change consists of records,
// guards, deletions and the events that it causes.
package commit

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// Change is one atomic change of the store. It is applied completely or not at all, and is durable when Store.Apply
// returns.
type Change struct {
	Workspace         string                 // owner of the rows; its fencing token protects the change
	Guards            []Guard                // all must hold, otherwise the change fails with domain.ErrConflict
	Puts              []domain.Record        // records to store; each version increases by one
	Adds              []domain.CounterRecord // counters to add to, also with concurrent changes
	Deletes           []domain.Key           // rows to delete with their index entries
	Events            []event.Draft          // Apply assigns offset and sequence
	DeleteEventsUpTo  uint64                 // delete events of the workspace up to this offset; 0: none
	UsesReservedSpace bool                   // use the space that is reserved for a full disk; for changes that end work

	DeleteEvents        []uint64 // offsets of single events of the workspace to delete
	DeleteSubjectCounts []string // subjects whose event counters are deleted, because no further events follow
}

// Guard requires that a database row has the given version. Version 0 requires that the row does not exist.
type Guard struct {
	Key     domain.Key
	Version uint64
}

// Absent returns a guard that requires that the database row does not exist.
func Absent(k domain.Key) Guard { return Guard{Key: k} }

// Query selects one page of the records in an index.
type Query struct {
	Kind      string
	Workspace string
	Index     string // as in Record.Indexes
	Cursor    string // opaque cursor from the previous page
	Limit     int    // at most 1000
	Oldest    bool   // oldest first; otherwise newest first
	From, To  string // bounds of the sort key, [From, To); empty: unbounded
}

// Store is the complete interface of the database. Each consumer declares an interface with the methods that it
// needs. After domain.ErrConflict and domain.ErrFenced nothing was changed. After any other error of Apply the
// outcome is unknown.
type Store interface {
	// Apply makes the change durable. It returns the events of the change with their assigned offsets and sequence
	// numbers, in the order of Change.Events.
	Apply(ctx context.Context, c Change) ([]event.Event, error)
	// Get decodes the stored record with the key of into into that record and returns its version. The error is
	// domain.ErrNotFound if the record does not exist.
	Get(ctx context.Context, into domain.Record) (uint64, error)
	// List calls each for every record of one page of a list, in the order of the list. fresh returns an empty record
	// to decode into. next is the cursor of the next page, or "" after the last page.
	List(ctx context.Context, q Query, fresh func() domain.Record, each func(domain.Record) error) (next string, err error)
	// Under calls each for the records whose key starts with prefix, in key order. It starts behind the record with the ID
	// after and reads at most limit records. The ID of a prefix is for example "campaign_…/".
	Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error
	// Events returns the events of a workspace with an offset greater than after.
	Events(ctx context.Context, workspace string, after uint64, limit int) ([]event.Event, error)
	// LastOffset returns the offset of the last event of a workspace, or 0.
	LastOffset(ctx context.Context, workspace string) (uint64, error)
}
