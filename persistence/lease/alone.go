package lease

import (
	"context"
	"sync"
	"time"
)

// Alone is the engine of a process whose store is its own: it owns every shard
// from Join on, and its lease does not end.
type Alone struct {
	wall func() time.Time

	mu       sync.Mutex
	self     Node
	joined   bool
	changed  func()
	deadline time.Time
	epoch    uint64
	free     map[int]bool // released
	last     map[int]Token
}

var _ Engine = (*Alone)(nil)

// NewAlone makes the engine of one process. Epochs are above after, and by wall
// (nil: time.Now).
func NewAlone(after uint64, wall func() time.Time) *Alone {
	if wall == nil {
		wall = time.Now
	}
	return &Alone{wall: wall, epoch: after, free: make(map[int]bool), last: make(map[int]Token)}
}

// Join implements Engine.
func (a *Alone) Join(_ context.Context, self Node, changed func()) error {
	if err := self.Check(); err != nil {
		return err
	}
	a.mu.Lock()
	a.self, a.joined, a.changed = self, true, changed
	a.deadline = time.Now().AddDate(100, 0, 0)
	a.mu.Unlock()
	changed()
	return nil
}

// Nodes implements Engine.
func (a *Alone) Nodes() []Node {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.joined {
		return nil
	}
	return []Node{a.self}
}

// Owner implements Engine.
func (a *Alone) Owner(shard int) (Node, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.joined || a.free[shard] || CheckShards(shard) != nil {
		return Node{}, false
	}
	return a.self, true
}

// Claim implements Engine.
func (a *Alone) Claim(_ context.Context, shards []int) (map[int]Token, error) {
	if err := CheckShards(shards...); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.joined {
		return nil, ErrLapsed
	}
	a.epoch = NextEpoch(a.epoch, a.wall())
	tokens := make(map[int]Token, len(shards))
	for _, s := range shards {
		tokens[s] = NewToken(a.epoch, a.self.ID)
		a.last[s] = tokens[s]
		delete(a.free, s)
	}
	return tokens, nil
}

// Holds implements Engine.
func (a *Alone) Holds(shard int, t Token) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.joined && !a.free[shard] && a.last[shard] == t && t != ""
}

// Release implements Engine.
func (a *Alone) Release(_ context.Context, shard int, t Token) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last[shard] == t {
		a.free[shard] = true
	}
	return CheckShards(shard)
}

// Deadline implements Engine.
func (a *Alone) Deadline() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.deadline
}

// Drain implements Engine.
func (a *Alone) Drain(context.Context) error { return a.drain(true) }

// Resume implements Engine.
func (a *Alone) Resume(context.Context) error { return a.drain(false) }

func (a *Alone) drain(on bool) error {
	a.mu.Lock()
	if !a.joined {
		a.mu.Unlock()
		return ErrLapsed
	}
	a.self.Draining = on
	a.mu.Unlock()
	a.changed()
	return nil
}

// Leave implements Engine.
func (a *Alone) Leave(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.joined, a.deadline = false, time.Time{}
	return nil
}
