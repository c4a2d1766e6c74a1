package lease

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Errors of engines. After any other error of Claim or Release the outcome is unknown. Both may be repeated.
var (
	// ErrLeaseEnded reports that this node's lease has ended or that it has not joined. The lease is renewed
	// automatically.
	ErrLeaseEnded = errors.New("the lease of this node has ended")
	// ErrMalformed refuses a node or a shard number that no engine accepts.
	ErrMalformed = errors.New("the node or the shard is malformed")
)

// DefaultLease is how long a node keeps its shards without a renewal. MaxLease is the maximum duration of a lease.
const (
	DefaultLease = 2 * time.Second
	MaxLease     = time.Minute
)

// MaxShards is the maximum number of shards. Shards are numbered from 0.
const MaxShards = 1 << 16

// Token is one ownership of one shard: "epoch|instance". The epoch grows with each claim; the instance is Node.ID.
// Each commit carries the token, which is compared for equality. The epoch alone would admit two writers after a
// fail-over that has lost a claim.
type Token string

// Epoch returns the epoch; 0: the token is malformed.
func (t Token) Epoch() uint64 {
	first, _, _ := strings.Cut(string(t), "|")
	n, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Instance returns the node ID; "": the shard has no owner.
func (t Token) Instance() string {
	_, second, _ := strings.Cut(string(t), "|")
	return second
}

// NextEpoch returns the epoch of a claim. It is above before, and not below the clock in milliseconds. So epochs
// grow even if the previous one was lost or came from another driver.
func NextEpoch(before uint64, wall time.Time) uint64 {
	return max(before+1, uint64(max(wall.UnixMilli(), 0)))
}

// Node is one process of an installation.
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

// Check refuses a node whose ID cannot be part of a token or of a key.
func (n Node) Check() error {
	if n.ID == "" || len(n.ID) > 64 || strings.ContainsAny(n.ID, "|/ \x00\n") {
		return fmt.Errorf("%w: id %q", ErrMalformed, n.ID)
	}
	return nil
}

// CheckShards refuses numbers that are not shard numbers.
func CheckShards(shards ...int) error {
	for _, s := range shards {
		if s < 0 || s >= MaxShards {
			return fmt.Errorf("%w: shard %d", ErrMalformed, s)
		}
	}
	return nil
}

// Engine knows the live nodes and the owner of each shard. Its methods may be called concurrently. Methods with a
// context wait for the store, about the duration of a lease at most; the others never wait.
type Engine interface {
	// Join takes a lease for self and renews it until Leave. changed is called after each change of Nodes or of an
	// Owner; it must not wait. *ParameterMismatchError: the live nodes have other Node.Parameters.
	Join(ctx context.Context, self Node, changed func()) error
	// Nodes returns the live nodes by ID, including self while it has a lease.
	Nodes() []Node
	// Owner returns the owner of a shard as of the last renewal; false: no live node owns it.
	Owner(shard int) (Node, bool)
	// OwnsShard reports whether this node owns a shard with this token as of the last renewal.
	OwnsShard(shard int, t Token) bool
	// Claim claims those shards that are free: without an owner, owned by a node whose lease has ended, or owned by
	// this node, which get a new token. A node that joined or was late recently does not claim shards of ended
	// leases for the duration of a lease: it cannot know which nodes are alive.
	Claim(ctx context.Context, shards []int) (map[int]Token, error)
	// Release makes a shard free. It does nothing if the token is not the shard's last one.
	Release(ctx context.Context, shard int, t Token) error
	// Deadline returns until when this node may act as the owner of its shards. It is counted on the node's own
	// clock from before the renewal was sent, and is a fifth shorter than the lease. Call it before OwnsShard:
	// shards that were lost while the lease had ended are known before Deadline moves on.
	Deadline() time.Time
	// Drain announces that this node releases its shards and claims none. Resume ends that.
	Drain(ctx context.Context) error
	Resume(ctx context.Context) error
	// Leave ends the lease at once. The engine cannot be used afterwards.
	Leave(ctx context.Context) error
}
