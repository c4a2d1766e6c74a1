package lease

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// minRenewInterval is the minimum time between two renewals that notices of changes cause. It lets one request read
// many changes, for example the hand-over of many shards.
const minRenewInterval = 10 * time.Millisecond

// leaseEndMargin is the time after the expected end of another node's lease at which this node reads the store again.
const leaseEndMargin = 5 * time.Millisecond

// Options configure a Heartbeat. The zero value is suitable for production.
type Options struct {
	Lease      time.Duration    // duration of the lease; every node of an installation must have the same. Default: DefaultLease
	Healthy    func() error     // must not wait. While it returns an error, the node's actors do not answer and the lease is not renewed. Default: always healthy
	OnMismatch func(error)      // called with a *ParameterMismatchError if this node's lease had ended and it may not join again. Default: no call
	Clock      func() time.Time // the wall clock, for epochs only. Default: time.Now
	Logger     *slog.Logger     // Default: no log
}

// Heartbeat is an Engine that renews the lease of one node in a Store about three times within the lease's duration.
// The number of renewals does not depend on the number of shards.
type Heartbeat struct {
	store Store
	o     Options
	self  string

	renewing         sync.Mutex // held during Store.Renew
	node             Node       // this node, as the next renewal describes it; guarded by renewing
	seen             Revision   // guarded by renewing
	lastAnswer       time.Time  // time of the last answer of the store; guarded by renewing
	lastRenewal      time.Time  // time before the last renewal was sent; guarded by renewing
	unhealthy        bool       // guarded by renewing
	storeUnavailable bool       // guarded by renewing

	mu           sync.Mutex // held by writers of view
	view         atomic.Pointer[clusterView]
	highestEpoch atomic.Uint64 // highest epoch seen
	inTimeSince  atomic.Int64  // since when this node has renewed in time, as nanoseconds after startedAt
	startedAt    time.Time

	changed func()
	wake    chan struct{}
	stop    context.CancelFunc
	working sync.WaitGroup
}

// clusterView is a node's knowledge of the live nodes, the owners of shards and its deadline. A view is immutable. A
// change replaces it.
type clusterView struct {
	nodes    []Node
	byID     map[string]Node
	rows     []row
	sum      uint32
	deadline time.Time
}

type row struct {
	revision uint64
	token    Token
	owner    string
}

var _ Engine = (*Heartbeat)(nil)

// NewHeartbeat returns an engine that keeps its lease in the store w. Leave closes the store.
func NewHeartbeat(w Store, o Options) *Heartbeat {
	o.Lease = min(cmp.Or(o.Lease, DefaultLease), MaxLease)
	if o.Healthy == nil {
		o.Healthy = func() error { return nil }
	}
	if o.OnMismatch == nil {
		o.OnMismatch = func(error) {}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Heartbeat{store: w, o: o, wake: make(chan struct{}, 1), startedAt: time.Now()}
	b.view.Store(&clusterView{})
	return b
}

// Join implements Engine.
func (b *Heartbeat) Join(ctx context.Context, self Node, changed func()) error {
	if err := self.Check(); err != nil {
		return err
	}
	b.node, b.self, b.changed = self, self.ID, changed
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	if _, err := b.renew(ctx, true); err != nil {
		stop()
		return err
	}
	b.stop = stop
	b.working.Go(func() { b.run(running) })
	b.working.Go(func() { b.watchNotices(running) })
	return nil
}

func (b *Heartbeat) run(ctx context.Context) {
	t := time.NewTimer(b.o.Lease / 3)
	defer t.Stop()
	for last := time.Now(); ; last = time.Now() {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-b.wake:
			t.Reset(max(minRenewInterval-time.Since(last), 0))
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			select {
			case <-b.wake:
			default:
			}
		}
		wait, err := b.renew(ctx, false)
		if err != nil {
			if refused := new(ParameterMismatchError); errors.As(err, &refused) {
				b.o.OnMismatch(err)
			}
			wait = b.o.Lease / 10
		}
		t.Reset(wait)
	}
}

// watchNotices causes an early renewal when the store announces a change.
func (b *Heartbeat) watchNotices(ctx context.Context) {
	for ctx.Err() == nil {
		if err := b.store.Notices(ctx, b.wakeUp); err != nil && ctx.Err() == nil {
			b.o.Logger.Debug("lease changes are noticed late, because the subscription failed", slog.Any("error", err))
		}
		t := time.NewTimer(b.o.Lease / 4)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

func (b *Heartbeat) wakeUp() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// renew renews the lease, reads the changes in the store, and returns the time until the next renewal. Before a third
// of the lease has passed it only reads the changes, unless must is set.
func (b *Heartbeat) renew(ctx context.Context, must bool) (next time.Duration, err error) {
	b.renewing.Lock()
	defer b.renewing.Unlock()
	healthErr := b.o.Healthy()
	if (healthErr != nil) != b.unhealthy {
		b.unhealthy = healthErr != nil
		b.o.Logger.Warn("the lease is renewed only while the actors respond", slog.Bool("renewed", !b.unhealthy), slog.Any("error", healthErr))
	}
	bounded, cancel := context.WithTimeout(ctx, b.o.Lease/3)
	defer cancel()
	before := time.Now()
	renewLease := healthErr == nil && (must || before.Sub(b.lastRenewal) >= b.o.Lease/3)
	changes, err := b.store.Renew(bounded, b.node, renewLease, b.seen)
	if err == nil && !renewLease && healthErr == nil && b.hasLeaseEnded(changes) {
		before, renewLease = time.Now(), true // the store's clock was set forward; no shard is lost yet
		changes, err = b.store.Renew(bounded, b.node, renewLease, b.seen)
	}
	if err != nil {
		if !b.storeUnavailable && ctx.Err() == nil {
			b.storeUnavailable = true
			b.o.Logger.Warn("the lease cannot be renewed", slog.Any("error", err))
		}
		return 0, err
	}
	if b.storeUnavailable {
		b.storeUnavailable = false
		b.o.Logger.Info("the lease is renewed again", slog.Bool("had_ended", changes.LeaseEnded))
	}
	b.recordAnswerTime(changes)
	deadline := time.Time{}
	if renewLease {
		b.lastRenewal, deadline = before, before.Add(b.o.Lease-b.o.Lease/5)
	}
	if !b.applyChanges(changes, deadline) {
		b.seen = Revision{}
		return minRenewInterval, nil
	}
	b.seen = changes.Revision
	next = max(b.o.Lease/3-time.Since(b.lastRenewal), 0)
	if changes.NextLeaseEnd > 0 {
		next = min(next, changes.NextLeaseEnd+leaseEndMargin)
	}
	return next, healthErr
}

// hasLeaseEnded reports whether changes show that this node's lease has ended.
func (b *Heartbeat) hasLeaseEnded(changes Changes) bool {
	return changes.LeaseEnded || changes.Nodes != nil && !slices.ContainsFunc(changes.Nodes, func(n Node) bool { return n.ID == b.self })
}

// recordAnswerTime records the time since which this node has renewed its lease in time. A node that joined or was late
// recently cannot know whether other nodes have died, or merely could not reach the store either.
func (b *Heartbeat) recordAnswerTime(changes Changes) {
	now := time.Now()
	if changes.LeaseEnded || now.Sub(b.lastAnswer) > b.o.Lease*2/3 {
		b.inTimeSince.Store(int64(now.Sub(b.startedAt)))
	}
	b.lastAnswer = now
}

// applyChanges adds changes to the view. It sets the deadline in the same step, so that lost shards are known before a
// later deadline is visible. It returns false if the view does not match the store's checksum. Then the next renewal
// must read the rows of all shards.
func (b *Heartbeat) applyChanges(changes Changes, deadline time.Time) bool {
	b.mu.Lock()
	before := b.view.Load()
	p := *before
	p.merge(changes.Rows, changes.AllRows, &b.highestEpoch)
	if changes.Nodes != nil {
		slices.SortFunc(changes.Nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
		p.nodes, p.byID = changes.Nodes, make(map[string]Node, len(changes.Nodes))
		for _, n := range changes.Nodes {
			p.byID[n.ID] = n
		}
	}
	complete := !changes.HasSum || changes.Sum == p.sum
	if complete && !deadline.IsZero() {
		p.deadline = deadline
	}
	b.view.Store(&p)
	b.mu.Unlock()
	if changes.Nodes != nil || changes.AllRows || len(changes.Rows) > 0 {
		b.changed()
	}
	return complete
}

// merge replaces the rows of shards for which list has a newer revision. all says that list contains every shard.
func (p *clusterView) merge(list []Row, all bool, top *atomic.Uint64) {
	if len(list) == 0 && !all {
		return
	}
	size := len(p.rows)
	for _, r := range list {
		size = max(size, r.Shard+1)
	}
	rows := make([]row, size)
	if all {
		p.sum = 0
	} else {
		copy(rows, p.rows)
	}
	for _, r := range list {
		at := &rows[r.Shard]
		if r.Revision <= at.revision {
			continue
		}
		p.sum += uint32(r.Revision) - uint32(at.revision) //nolint:gosec // a sum modulo 2^32
		*at = row{r.Revision, r.Token, r.Token.Instance()}
		for epoch := r.Token.Epoch(); ; {
			have := top.Load()
			if epoch <= have || top.CompareAndSwap(have, epoch) {
				break
			}
		}
	}
	p.rows = rows
}

// Nodes implements Engine.
func (b *Heartbeat) Nodes() []Node { return b.view.Load().nodes }

// Owner implements Engine.
func (b *Heartbeat) Owner(shard int) (Node, bool) {
	p := b.view.Load()
	if shard < 0 || shard >= len(p.rows) || p.rows[shard].owner == "" {
		return Node{}, false
	}
	n, ok := p.byID[p.rows[shard].owner]
	return n, ok
}

// OwnsShard implements Engine.
func (b *Heartbeat) OwnsShard(shard int, t Token) bool {
	p := b.view.Load()
	if shard < 0 || shard >= len(p.rows) || p.rows[shard].token != t || p.rows[shard].owner != b.self {
		return false
	}
	_, ok := p.byID[b.self]
	return ok
}

// Deadline implements Engine.
func (b *Heartbeat) Deadline() time.Time { return b.view.Load().deadline }

// Claim implements Engine.
func (b *Heartbeat) Claim(ctx context.Context, shards []int) (map[int]Token, error) {
	if err := CheckShards(shards...); err != nil || len(shards) == 0 {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.Lease)
	defer cancel()
	firm := time.Since(b.startedAt) - time.Duration(b.inTimeSince.Load())
	rows, err := b.store.Claim(ctx, b.self, shards, firm >= b.o.Lease, NextEpoch(b.highestEpoch.Load(), b.o.Clock()))
	if errors.Is(err, ErrLeaseEnded) {
		b.wakeUp()
	}
	b.mergeRows(rows...)
	tokens := make(map[int]Token, len(rows))
	for _, r := range rows {
		tokens[r.Shard] = r.Token
	}
	if len(rows) > 0 {
		b.changed()
		return tokens, nil
	}
	return tokens, err
}

// Release implements Engine.
func (b *Heartbeat) Release(ctx context.Context, shard int, t Token) error {
	if err := CheckShards(shard); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.Lease)
	defer cancel()
	r, err := b.store.Release(ctx, shard, t)
	if err == nil {
		b.mergeRows(r)
	}
	return err
}

// mergeRows adds shard rows that the store returned for a claim or a release to the view.
func (b *Heartbeat) mergeRows(rows ...Row) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := *b.view.Load()
	p.merge(rows, false, &b.highestEpoch)
	b.view.Store(&p)
}

// LiveNodes reads the live nodes from the store. The engine need not have joined.
func (b *Heartbeat) LiveNodes(ctx context.Context) ([]Node, error) {
	nodes, _, err := b.LiveNodesAndShards(ctx)
	return nodes, err
}

// LiveNodesAndShards reads the live nodes and the rows of all shards from the store. The engine need not have joined.
// Shards that were never claimed have no row.
func (b *Heartbeat) LiveNodesAndShards(ctx context.Context) ([]Node, []Row, error) {
	changes, err := b.store.Renew(ctx, Node{}, false, Revision{})
	return changes.Nodes, changes.Rows, err
}

// Drain implements Engine.
func (b *Heartbeat) Drain(ctx context.Context) error { return b.setDraining(ctx, true) }

// Resume implements Engine.
func (b *Heartbeat) Resume(ctx context.Context) error { return b.setDraining(ctx, false) }

// setDraining announces by an immediate renewal whether this node drains. If the store is unavailable or the node is
// unhealthy, a later renewal announces it.
func (b *Heartbeat) setDraining(ctx context.Context, on bool) error {
	b.renewing.Lock()
	b.node.Draining = on
	b.renewing.Unlock()
	_, err := b.renew(ctx, true)
	return err
}

// Leave implements Engine.
func (b *Heartbeat) Leave(ctx context.Context) error {
	if b.stop == nil {
		return b.store.Close()
	}
	b.stop()
	b.working.Wait()
	b.mu.Lock()
	p := *b.view.Load()
	p.deadline = time.Time{}
	b.view.Store(&p)
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, b.o.Lease)
	defer cancel()
	return errors.Join(b.store.Leave(ctx, b.self), b.store.Close())
}
