package lease

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Errors of engines. After any other error of Claim or Release, it is unknown whether the store was changed. Both
// methods may be repeated.
var (
	// ErrLeaseEnded says that this node's lease has ended or that the node has not joined. The engine renews the lease
	// automatically.
	ErrLeaseEnded = errors.New("the lease of this node has ended")
	// ErrMalformed says that a node or a shard number is not valid.
	ErrMalformed = errors.New("the node or the shard is malformed")
)

// DefaultLease is how long a node keeps its shards without a renewal. MaxLease is the maximum duration of a lease.
const (
	DefaultLease = 2 * time.Second
	MaxLease     = time.Minute
)

// MaxShards is the maximum number of shards. Shards are numbered from 0.
const MaxShards = 1 << 16

// Token identifies one ownership of a shard: "epoch|instance". The epoch grows with each claim, and the instance is
// Node.ID. Each commit carries the token, which the store compares for equality. If a fail-over of the store loses a
// claim, an epoch can be given twice, and comparing the epoch alone would allow two writers.
type Token string

// Epoch returns the epoch of the token, or 0 if the token is malformed.
func (t Token) Epoch() uint64 {
	first, _, _ := strings.Cut(string(t), "|")
	n, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Instance returns the ID of the owning node, or "" if the shard has no owner.
func (t Token) Instance() string {
	_, second, _ := strings.Cut(string(t), "|")
	return second
}

// NextEpoch returns the epoch for a claim. It is greater than before, and not less than the wall clock in milliseconds.
// Epochs therefore grow even if the previous epoch was lost or came from another driver.
func NextEpoch(before uint64, wall time.Time) uint64 {
	return max(before+1, uint64(max(wall.UnixMilli(), 0)))
}

// Node is one process of the service in an installation.
type Node struct {
	ID       string `json:"id"`       // new at every start of the process
	Addr     string `json:"addr"`     // host:port of the HTTP server to which other nodes forward requests
	SIP      string `json:"sip"`      // host:port of the SIP listener for other nodes
	Draining bool   `json:"draining"` // releases its shards and claims none
	Version  string `json:"version,omitempty"`
	Since    int64  `json:"since,omitempty"`  // start of the process in milliseconds of its own clock
	Lease    int64  `json:"lease,omitempty"`  // duration of its lease in milliseconds
	Shards   int    `json:"shards,omitempty"` // number of shards that it is configured with
	Single   bool   `json:"single,omitempty"` // node_addr is not set: no other process may use the store
}

// Check returns ErrMalformed for a node whose ID cannot be part of a token or of a key.
func (n Node) Check() error {
	if n.ID == "" || len(n.ID) > 64 || strings.ContainsAny(n.ID, "|/ \x00\n") {
		return fmt.Errorf("%w: id %q", ErrMalformed, n.ID)
	}
	return nil
}

// CheckShards returns ErrMalformed if one of the numbers is not a valid shard number.
func CheckShards(shards ...int) error {
	for _, s := range shards {
		if s < 0 || s >= MaxShards {
			return fmt.Errorf("%w: shard %d", ErrMalformed, s)
		}
	}
	return nil
}

// Engine knows the live nodes and the owner of each shard. Its methods may be called concurrently. Methods with a
// context wait for the store, for about the duration of a lease at most. The other methods never block.
type Engine interface {
	// Join takes a lease for self and renews it until Leave. The engine calls changed after each change of Nodes or of an
	// Owner. changed must not block. The error is *ParameterMismatchError if the live nodes have other Node.Parameters.
	Join(ctx context.Context, self Node, changed func()) error
	// Nodes returns the live nodes, sorted by ID. They include self while it has a lease.
	Nodes() []Node
	// Owner returns the owner of a shard as of the last renewal. It returns false if no live node owns the shard.
	Owner(shard int) (Node, bool)
	// OwnsShard reports whether this node owns a shard with this token as of the last renewal.
	OwnsShard(shard int, t Token) bool
	// Claim claims those of the shards that are free, and returns their tokens. A shard is free if it has no owner
	// or the lease of its owner has ended. A shard of this node also counts as free and gets a new token. For the duration of a
	// lease after it joined or renewed late, a node does not claim shards of ended leases. It cannot know then which nodes
	// are alive.
	Claim(ctx context.Context, shards []int) (map[int]Token, error)
	// Release makes a shard free. It does nothing if t is not the current token of the shard.
	Release(ctx context.Context, shard int, t Token) error
	// Deadline returns the time until which this node may act as the owner of its shards. It counts from the moment
	// before the renewal was sent, on the node's own clock, and is a fifth shorter than the lease. Callers call it
	// before OwnsShard, because shards lost after the lease had ended become known before Deadline advances.
	Deadline() time.Time
	// Drain announces that this node releases its shards and claims none. Resume withdraws the announcement.
	Drain(ctx context.Context) error
	Resume(ctx context.Context) error
	// Leave ends the node's lease at once. The engine cannot be used afterwards.
	Leave(ctx context.Context) error
}
