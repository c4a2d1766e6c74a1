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

// gather is the least time between two looks at what is said to have changed: a
// hand-over of many shards is seen in few of them.
const gather = 10 * time.Millisecond

// late is added to the end of another node's lease before it is looked for.
const late = 5 * time.Millisecond

// Options are how a node beats. The zero value is right for a service.
type Options struct {
	Lease   time.Duration    // 0: DefaultLease; every node of an install has the same
	Healthy func() error     // an error: the node's actors do not answer, and it does not renew. It must not wait. nil: always
	Refused func(error)      // called with a *ParameterMismatchError when this node's lease had ended and it may not join again; nil: nothing
	Wall    func() time.Time // for epochs alone; nil: time.Now
	Logger  *slog.Logger     // nil: silent
}

// Beat is an Engine that renews one lease over a Wire, about three times in its
// length, whatever the number of shards.
type Beat struct {
	wire Wire
	o    Options
	self string

	beating sync.Mutex // one Renew at a time
	node    Node       // as it is told next; under beating
	seen    Seen       // under beating
	heard   time.Time  // when the last answer came; under beating
	kept    time.Time  // before the last renewal was sent; under beating
	sick    bool       // under beating
	away    bool       // under beating

	mu   sync.Mutex // writers of now
	now  atomic.Pointer[picture]
	top  atomic.Uint64 // the highest epoch seen
	firm atomic.Int64  // unix nanoseconds by the monotonic clock since began: renewed in time from then on
	born time.Time

	changed func()
	nudged  chan struct{}
	stop    context.CancelFunc
	working sync.WaitGroup
}

// picture is what a node knows; it is replaced, never changed.
type picture struct {
	nodes    []Node
	byID     map[string]Node
	rows     []row
	sum      uint32
	deadline time.Time
}

type row struct {
	rev   uint64
	token Token
	owner string
}

var _ Engine = (*Beat)(nil)

// NewBeat makes an engine of a wire, which it closes in Leave.
func NewBeat(w Wire, o Options) *Beat {
	o.Lease = min(cmp.Or(o.Lease, DefaultLease), MaxLease)
	if o.Healthy == nil {
		o.Healthy = func() error { return nil }
	}
	if o.Refused == nil {
		o.Refused = func(error) {}
	}
	if o.Wall == nil {
		o.Wall = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Beat{wire: w, o: o, nudged: make(chan struct{}, 1), born: time.Now()}
	b.now.Store(&picture{})
	return b
}

// Join implements Engine.
func (b *Beat) Join(ctx context.Context, self Node, changed func()) error {
	if err := self.Check(); err != nil {
		return err
	}
	b.node, b.self, b.changed = self, self.ID, changed
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	if _, err := b.beat(ctx, true); err != nil {
		stop()
		return err
	}
	b.stop = stop
	b.working.Go(func() { b.run(running) })
	b.working.Go(func() { b.listen(running) })
	return nil
}

func (b *Beat) run(ctx context.Context) {
	t := time.NewTimer(b.o.Lease / 3)
	defer t.Stop()
	for last := time.Now(); ; last = time.Now() {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-b.nudged:
			t.Reset(max(gather-time.Since(last), 0))
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			select {
			case <-b.nudged:
			default:
			}
		}
		wait, err := b.beat(ctx, false)
		if err != nil {
			if refused := new(ParameterMismatchError); errors.As(err, &refused) {
				b.o.Refused(err)
			}
			wait = b.o.Lease / 10
		}
		t.Reset(wait)
	}
}

// listen has the beat look when something is said to have changed.
func (b *Beat) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := b.wire.Notices(ctx, b.nudge); err != nil && ctx.Err() == nil {
			b.o.Logger.Debug("changes of leases are heard of late", slog.Any("error", err))
		}
		t := time.NewTimer(b.o.Lease / 4)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

func (b *Beat) nudge() {
	select {
	case b.nudged <- struct{}{}:
	default:
	}
}

// beat renews once and says when to do so next. Before a third of the lease is
// over it only looks, unless it must.
func (b *Beat) beat(ctx context.Context, must bool) (next time.Duration, err error) {
	b.beating.Lock()
	defer b.beating.Unlock()
	sick := b.o.Healthy()
	if (sick != nil) != b.sick {
		b.sick = sick != nil
		b.o.Logger.Warn("the lease is renewed only while the actors answer", slog.Bool("renewed", !b.sick), slog.Any("error", sick))
	}
	bounded, cancel := context.WithTimeout(ctx, b.o.Lease/3)
	defer cancel()
	before := time.Now()
	keep := sick == nil && (must || before.Sub(b.kept) >= b.o.Lease/3)
	news, err := b.wire.Renew(bounded, b.node, keep, b.seen)
	if err == nil && !keep && sick == nil && b.missing(news) {
		before, keep = time.Now(), true // the store's clock has leapt: nothing is lost yet
		news, err = b.wire.Renew(bounded, b.node, keep, b.seen)
	}
	if err != nil {
		if !b.away && ctx.Err() == nil {
			b.away = true
			b.o.Logger.Warn("the lease cannot be renewed", slog.Any("error", err))
		}
		return 0, err
	}
	if b.away {
		b.away = false
		b.o.Logger.Info("the lease is renewed again", slog.Bool("had_ended", news.Lapsed))
	}
	b.judge(news)
	deadline := time.Time{}
	if keep {
		b.kept, deadline = before, before.Add(b.o.Lease-b.o.Lease/5)
	}
	if !b.applyNews(news, deadline) {
		b.seen = Seen{}
		return gather, nil
	}
	b.seen = news.Seen
	next = max(b.o.Lease/3-time.Since(b.kept), 0)
	if news.Next > 0 {
		next = min(next, news.Next+late)
	}
	return next, sick
}

// missing says whether this node's lease has ended.
func (b *Beat) missing(news News) bool {
	return news.Lapsed || news.Nodes != nil && !slices.ContainsFunc(news.Nodes, func(n Node) bool { return n.ID == b.self })
}

// judge keeps since when this node was in time. One that was not, or has just
// come, cannot tell who else has died from who could not renew either.
func (b *Beat) judge(news News) {
	now := time.Now()
	if news.Lapsed || now.Sub(b.heard) > b.o.Lease*2/3 {
		b.firm.Store(int64(now.Sub(b.born)))
	}
	b.heard = now
}

// applyNews makes news a part of the picture. A deadline moves only with it, so
// that what was lost in between is seen first. false: the rows are not those
// of the store, and all of them are needed.
func (b *Beat) applyNews(news News, deadline time.Time) bool {
	b.mu.Lock()
	before := b.now.Load()
	p := *before
	p.merge(news.Rows, news.All, &b.top)
	if news.Nodes != nil {
		slices.SortFunc(news.Nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
		p.nodes, p.byID = news.Nodes, make(map[string]Node, len(news.Nodes))
		for _, n := range news.Nodes {
			p.byID[n.ID] = n
		}
	}
	whole := !news.Summed || news.Sum == p.sum
	if whole && !deadline.IsZero() {
		p.deadline = deadline
	}
	b.now.Store(&p)
	b.mu.Unlock()
	if news.Nodes != nil || news.All || len(news.Rows) > 0 {
		b.changed()
	}
	return whole
}

// merge puts rows in that are newer than what is there.
func (p *picture) merge(list []Row, all bool, top *atomic.Uint64) {
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
		if r.Rev <= at.rev {
			continue
		}
		p.sum += uint32(r.Rev) - uint32(at.rev) //nolint:gosec // a sum by 2^32
		*at = row{r.Rev, r.Token, r.Token.Instance()}
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
func (b *Beat) Nodes() []Node { return b.now.Load().nodes }

// Owner implements Engine.
func (b *Beat) Owner(shard int) (Node, bool) {
	p := b.now.Load()
	if shard < 0 || shard >= len(p.rows) || p.rows[shard].owner == "" {
		return Node{}, false
	}
	n, ok := p.byID[p.rows[shard].owner]
	return n, ok
}

// Holds implements Engine.
func (b *Beat) Holds(shard int, t Token) bool {
	p := b.now.Load()
	if shard < 0 || shard >= len(p.rows) || p.rows[shard].token != t || p.rows[shard].owner != b.self {
		return false
	}
	_, ok := p.byID[b.self]
	return ok
}

// Deadline implements Engine.
func (b *Beat) Deadline() time.Time { return b.now.Load().deadline }

// Claim implements Engine.
func (b *Beat) Claim(ctx context.Context, shards []int) (map[int]Token, error) {
	if err := CheckShards(shards...); err != nil || len(shards) == 0 {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.Lease)
	defer cancel()
	firm := time.Since(b.born) - time.Duration(b.firm.Load())
	rows, err := b.wire.Claim(ctx, b.self, shards, firm >= b.o.Lease, NextEpoch(b.top.Load(), b.o.Wall()))
	if errors.Is(err, ErrLapsed) {
		b.nudge()
	}
	b.put(rows...)
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
func (b *Beat) Release(ctx context.Context, shard int, t Token) error {
	if err := CheckShards(shard); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.Lease)
	defer cancel()
	r, err := b.wire.Release(ctx, shard, t)
	if err == nil {
		b.put(r)
	}
	return err
}

// put makes rows a part of the picture that another call has brought.
func (b *Beat) put(rows ...Row) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := *b.now.Load()
	p.merge(rows, false, &b.top)
	b.now.Store(&p)
}

// Look asks who lives now, without joining.
func (b *Beat) Look(ctx context.Context) ([]Node, error) {
	nodes, _, err := b.Survey(ctx)
	return nodes, err
}

// Survey asks who lives and whose each shard is now, without joining. Shards
// that nobody ever had are not among the rows.
func (b *Beat) Survey(ctx context.Context) ([]Node, []Row, error) {
	news, err := b.wire.Renew(ctx, Node{}, false, Seen{})
	return news.Nodes, news.Rows, err
}

// Drain implements Engine.
func (b *Beat) Drain(ctx context.Context) error { return b.drain(ctx, true) }

// Resume implements Engine.
func (b *Beat) Resume(ctx context.Context) error { return b.drain(ctx, false) }

// drain tells it with the next beat, which is now; where the store is away, or
// the node is sick, that is a later one.
func (b *Beat) drain(ctx context.Context, on bool) error {
	b.beating.Lock()
	b.node.Draining = on
	b.beating.Unlock()
	_, err := b.beat(ctx, true)
	return err
}

// Leave implements Engine.
func (b *Beat) Leave(ctx context.Context) error {
	if b.stop == nil {
		return b.wire.Close()
	}
	b.stop()
	b.working.Wait()
	b.mu.Lock()
	p := *b.now.Load()
	p.deadline = time.Time{}
	b.now.Store(&p)
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, b.o.Lease)
	defer cancel()
	return errors.Join(b.wire.Leave(ctx, b.self), b.wire.Close())
}
