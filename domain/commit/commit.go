// Package commit defines a durable change and the store interface. A change consists of records, guards, deletions
// and the events that it causes.
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

// Guard requires that a row has a version; 0: that the row does not exist.
type Guard struct {
	Key     domain.Key
	Version uint64
}

// Absent returns a guard that the row does not exist.
func Absent(k domain.Key) Guard { return Guard{Key: k} }

// Query selects one page of a list.
type Query struct {
	Kind      string
	Workspace string
	Index     string // as in Record.Indexes
	Cursor    string // opaque cursor from the previous page
	Limit     int    // at most 1000
	Oldest    bool   // oldest first; otherwise newest first
	From, To  string // bounds of the sort key, [From, To); empty: unbounded
}

// Store is the complete store interface. Each consumer declares the part that it needs. After domain.ErrConflict
// and domain.ErrFenced nothing was changed. After any other error of Apply the outcome is unknown.
type Store interface {
	// Apply makes the change durable. It returns the events with their offsets and sequences, in the order of
	// Change.Events.
	Apply(ctx context.Context, c Change) ([]event.Event, error)
	// Get reads the row with the key of into and returns its version. The error is domain.ErrNotFound if the row
	// does not exist.
	Get(ctx context.Context, into domain.Record) (uint64, error)
	// List calls each for every row of a page, in order, with a new record from fresh. next is the cursor of the
	// next page, or "".
	List(ctx context.Context, q Query, fresh func() domain.Record, each func(domain.Record) error) (next string, err error)
	// Under lists the rows whose key starts with prefix (ID "campaign_…/"), oldest first, after the given ID, at
	// most limit rows.
	Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error
	// Events returns the events of a workspace with an offset greater than after.
	Events(ctx context.Context, workspace string, after uint64, limit int) ([]event.Event, error)
	// LastOffset returns the offset of the last event of a workspace, or 0.
	LastOffset(ctx context.Context, workspace string) (uint64, error)
}
