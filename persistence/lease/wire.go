package lease

import (
	"context"
	"time"
)

// Wire is how a driver speaks with the store that keeps the leases; Beat makes
// an Engine of it. Its methods may be called concurrently. Each but Notices is
// bounded by its context and tries once; that of Claim also answers where it
// has done a part.
type Wire interface {
	// Renew gives self another lease, or a new one, and tells what is new since
	// seen. Without keep it only looks. *ParameterMismatchError: a new lease is refused,
	// because processes live that have other parameters.
	Renew(ctx context.Context, self Node, keep bool, seen Seen) (News, error)
	// Claim takes those of the shards that are free (Engine.Claim) and answers
	// with their rows. Those of nodes whose lease has ended only where ended
	// says so. Epochs are not below floor. ErrLapsed: self has no lease.
	Claim(ctx context.Context, self string, shards []int, ended bool, floor uint64) ([]Row, error)
	// Release makes a shard nobody's if t is its token, and answers with its row
	// as that is now.
	Release(ctx context.Context, shard int, t Token) (Row, error)
	// Leave ends a node's lease.
	Leave(ctx context.Context, id string) error
	// Notices calls each when something may have changed, until it cannot go on.
	Notices(ctx context.Context, each func()) error
	// Close lets go of the connections.
	Close() error
}

// Seen is up to where a node has heard; the zero value: nothing.
type Seen struct{ Nodes, Rows uint64 }

// News is what has changed since.
type News struct {
	Seen   Seen          // with this
	Lapsed bool          // self's lease had ended, or there was none
	Nodes  []Node        // all that live; nil: as before
	Rows   []Row         // those that changed
	All    bool          // Rows are all there are
	Next   time.Duration // until the first lease of another node ends; 0: not known
	Sum    uint32        // of Row.Rev of all rows
	Summed bool          // Sum is told
}

// Row is what the store knows of a shard.
type Row struct {
	Shard int
	Rev   uint64 // grows with each change of the row
	Token Token  // without an instance: nobody's
}
