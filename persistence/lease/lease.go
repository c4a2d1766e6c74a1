package lease

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Errors of engines. After any other error of Claim or Release its outcome is
// unknown: the view tells it, and both may be done again.
var (
	// ErrLapsed: this node's lease has ended, or it has not joined; it is
	// renewed by itself as soon as that can be.
	ErrLapsed = errors.New("the lease of this node has ended")
	// ErrMalformed: a node or a shard that no engine takes.
	ErrMalformed = errors.New("the node or the shard is malformed")
)

// DefaultLease is how long a node keeps its shards without renewing, MaxLease
// the longest that it can be set to.
const (
	DefaultLease = 2 * time.Second
	MaxLease     = time.Minute
)

// MaxShards bounds the numbers of shards, which count from 0.
const MaxShards = 1 << 16

// Token is one ownership of one shard, "epoch|instance": the epoch grows with
// each claim, the instance is Node.ID. Every commit carries it, and it is
// compared for equality: a number alone lets two writers in where a fail-over
// has lost a claim.
type Token string

// Epoch is the first part; 0 of what is no token.
func (t Token) Epoch() uint64 {
	first, _, _ := strings.Cut(string(t), "|")
	n, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Instance is the second part; "": nobody's.
func (t Token) Instance() string {
	_, second, _ := strings.Cut(string(t), "|")
	return second
}

// NextEpoch is the epoch of a claim: it grows from the one before, and follows
// the clock where that is ahead, so that it grows also where the one before was
// lost, or was given by another driver.
func NextEpoch(before uint64, wall time.Time) uint64 {
	return max(before+1, uint64(max(wall.UnixMilli(), 0)))
}

// Node is one process.
type Node struct {
	ID       string `json:"id"`       // new at every start of the process
	Addr     string `json:"addr"`     // host:port of the HTTP over which nodes forward to each other
	SIP      string `json:"sip"`      // host:port
	Draining bool   `json:"draining"` // gives its shards away and claims none
	Version  string `json:"version,omitempty"`
	Since    int64  `json:"since,omitempty"`  // it started, in milliseconds of its own clock
	Lease    int64  `json:"lease,omitempty"`  // how long its lease is, in milliseconds
	Shards   int    `json:"shards,omitempty"` // into how many it divides the workspaces
	Single   bool   `json:"single,omitempty"` // it has no node_addr: nobody else may live on its store
}

// Check refuses what cannot be a part of a token or of a key.
func (n Node) Check() error {
	if n.ID == "" || len(n.ID) > 64 || strings.ContainsAny(n.ID, "|/ \x00\n") {
		return fmt.Errorf("%w: id %q", ErrMalformed, n.ID)
	}
	return nil
}

// CheckShards refuses numbers that are no shard's.
func CheckShards(shards ...int) error {
	for _, s := range shards {
		if s < 0 || s >= MaxShards {
			return fmt.Errorf("%w: shard %d", ErrMalformed, s)
		}
	}
	return nil
}

// Engine knows which nodes live and who owns which shard. Its methods may be
// called concurrently; those that take a context wait for the store, for not
// much longer than a lease, the others never wait.
type Engine interface {
	// Join takes a lease for self and keeps it until Leave. changed is called
	// after each change of Nodes or of an Owner; it must not wait.
	// *ParameterMismatchError: the nodes that live have other Node.Parameters.
	Join(ctx context.Context, self Node, changed func()) error
	// Nodes are the live ones by ID, self included while it has a lease.
	Nodes() []Node
	// Owner is who has a shard, as far as this node has heard; false: nobody
	// who lives.
	Owner(shard int) (Node, bool)
	// Holds says whether a shard is this node's by this token, as far as it has
	// heard.
	Holds(shard int, t Token) bool
	// Claim takes those of the shards that are free: nobody's, of a node whose
	// lease has ended, or this node's own, which get a new token. A node that
	// has just joined, or could not renew in time, leaves those of ended leases
	// alone for the length of a lease: it cannot know yet who lives.
	Claim(ctx context.Context, shards []int) (map[int]Token, error)
	// Release makes a shard free. It does nothing where the token is not the
	// shard's last one.
	Release(ctx context.Context, shard int, t Token) error
	// Deadline is until when this node may act as the owner of what it has
	// claimed: by its own clock, from before the call that renewed its lease
	// was sent, less a fifth. Ask it before Holds, not after: what was lost
	// while the lease was ended is known there before Deadline moves on.
	Deadline() time.Time
	// Drain tells the others that this node gives its shards away, Resume that
	// it no longer does.
	Drain(ctx context.Context) error
	Resume(ctx context.Context) error
	// Leave ends the lease at once; the engine is of no further use.
	Leave(ctx context.Context) error
}
