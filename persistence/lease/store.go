package lease

import (
	"context"
	"time"
)

// Store stores leases and the owners of shards. Heartbeat implements an Engine with it. Its methods may be called
// concurrently. Each method except Notices makes one attempt, bounded by its context. Claim may claim only some of the
// shards.
type Store interface {
	// Renew renews the lease of self, or takes a new one, and returns the changes after revision seen. If keep is
	// false it only reads the changes. The error is *ParameterMismatchError if a new lease is refused, because live
	// processes have other parameters.
	Renew(ctx context.Context, self Node, keep bool, seen Revision) (Changes, error)
	// Claim claims those of the shards that are free in the sense of Engine.Claim, and returns their rows. It claims
	// shards of nodes whose lease has ended only if ended is true. The new epochs are at least floor. The error is
	// ErrLeaseEnded if self has no lease.
	Claim(ctx context.Context, self string, shards []int, ended bool, floor uint64) ([]Row, error)
	// Release removes the owner of a shard if t is its current token. It returns the resulting row of the shard.
	Release(ctx context.Context, shard int, t Token) (Row, error)
	// Leave ends the lease of a node.
	Leave(ctx context.Context, id string) error
	// Notices calls each when nodes or shard rows may have changed. It returns when the subscription fails or ctx ends.
	Notices(ctx context.Context, each func()) error
	// Close closes the connections.
	Close() error
}

// Revision contains the numbers of the last changes of nodes and of shard rows that a node knows. The zero value means
// that the node knows nothing.
type Revision struct{ Nodes, Rows uint64 }

// Changes are the changes of nodes and shard rows after a Revision.
type Changes struct {
	Revision     Revision      // the revision after the changes
	LeaseEnded   bool          // self's lease had ended, or self had none
	Nodes        []Node        // all live nodes; nil: unchanged
	Rows         []Row         // the rows that changed
	AllRows      bool          // Rows has every row of the store
	NextLeaseEnd time.Duration // time until the next lease of another node ends; 0: unknown
	Sum          uint32        // sum of Row.Revision over all rows
	HasSum       bool          // Sum is set
}

// Row is the entry of a shard in the store.
type Row struct {
	Shard    int
	Revision uint64 // grows with each change of the row
	Token    Token  // without an instance: the shard is free
}
