// Package commit holds what one durable change is made of: nouns to keep,
// nouns that must be as they were read, and the events they cause. It knows
// no store.
package commit

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// Change is one atomic, durable unit, or nothing. Applying it returns after
// the bytes are safe on disk.
type Change struct {
	Workspace         string                 // the owner of the rows; its token fences the change
	Guards            []Guard                // all must hold, else domain.ErrConflict and no trace
	Puts              []domain.Record        // kept, each at its last version plus one
	Adds              []domain.CounterRecord // added to what is there, whoever else adds at the same time
	Deletes           []domain.Key           // gone, with their index entries
	Events            []event.Draft          // given offset and sequence here
	DeleteEventsUpTo  uint64                 // events of the workspace up to this offset go; 0: none
	UsesReservedSpace bool                   // may use the space that is kept back for a full disk: for changes that stop work

	DeleteEvents        []uint64 // offsets of events of the workspace that go
	DeleteSubjectCounts []string // subjects whose counts of events go: nothing happens to them any more
}

// Guard demands that a row is at a version; 0: that it does not exist.
type Guard struct {
	Key     domain.Key
	Version uint64
}

// Absent demands that there is no such row yet.
func Absent(k domain.Key) Guard { return Guard{Key: k} }

// Query asks for one page of a list.
type Query struct {
	Kind      string
	Workspace string
	Index     string // as in Record.Indexes
	Cursor    string // opaque; from the page before
	Limit     int    // at most 1000
	Oldest    bool   // oldest first; newest first otherwise
	From, To  string // bounds of Sort, [From, To); empty: open
}

// Store is the whole store as its users see it; each declares the part that
// it needs. Errors: domain.ErrConflict and domain.ErrFenced leave no trace;
// any other error of Apply means that the outcome is unknown.
type Store interface {
	// Apply makes the change durable. The committed events carry offsets and
	// sequences, in the order of Change.Events.
	Apply(ctx context.Context, c Change) ([]event.Event, error)
	// Get reads into's row by its Key and returns its version, or
	// domain.ErrNotFound.
	Get(ctx context.Context, into domain.Record) (uint64, error)
	// List calls each with a fresh record per row, in order; next is the
	// cursor of the following page, or "".
	List(ctx context.Context, q Query, fresh func() domain.Record, each func(domain.Record) error) (next string, err error)
	// Under lists the rows whose key begins with prefix (ID "campaign_…/"),
	// oldest first, after the ID given, at most limit.
	Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error
	// Events reads a workspace's committed events with offset > after.
	Events(ctx context.Context, workspace string, after uint64, limit int) ([]event.Event, error)
	// LastOffset is that of a workspace's last event; 0 without any.
	LastOffset(ctx context.Context, workspace string) (uint64, error)
}
