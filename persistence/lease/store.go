package lease

import (
	"context"
	"time"
)

// Store is a store of leases; Heartbeat makes an Engine of it. Its methods may be called concurrently. Each method
// except Notices tries once, bounded by its context. Claim may claim some of the shards only.
type Store interface {
	// Renew renews the lease of self, or takes a new one, and returns the changes after revision seen. With keep
	// false it only reads. *ParameterMismatchError: a new lease is refused, because live processes have other
	// parameters.
	Renew(ctx context.Context, self Node, keep bool, seen Revision) (Changes, error)
	// Claim claims those shards that are free (Engine.Claim) and returns their rows. Shards of nodes whose lease
	// has ended are included only if ended is true. The epochs of the claim are not below floor. ErrLeaseEnded:
	// self has no lease.
	Claim(ctx context.Context, self string, shards []int, ended bool, floor uint64) ([]Row, error)
	// Release removes the owner of a shard if t is its token, and returns the current row.
	Release(ctx context.Context, shard int, t Token) (Row, error)
	// Leave ends the lease of a node.
	Leave(ctx context.Context, id string) error
	// Notices calls each when something may have changed. It returns when it cannot continue.
	Notices(ctx context.Context, each func()) error
	// Close closes the connections.
	Close() error
}

// Revision numbers the changes of nodes and of rows up to which a node knows the store; zero: nothing is known.
type Revision struct{ Nodes, Rows uint64 }

// Changes are the changes since a Revision.
type Changes struct {
	Revision     Revision      // the revision after the changes
	LeaseEnded   bool          // self's lease had ended, or self had none
	Nodes        []Node        // all live nodes; nil: unchanged
	Rows         []Row         // the rows that changed
	AllRows      bool          // Rows has every row of the store
	NextLeaseEnd time.Duration // time until the next lease of another node ends; 0: unknown
	Sum          uint32        // of Row.Revision over all rows
	HasSum       bool          // Sum is set
}

// Row is what the store knows of a shard.
type Row struct {
	Shard    int
	Revision uint64 // grows with each change of the row
	Token    Token  // without an instance: the shard is free
}
