package lease

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a Holder. The holder calls Start, Stop and PingNode on separate goroutines.
type Config struct {
	Self   Node
	Shards int // number of shards; the same on every node
	// Start begins to serve a shard. UsableToken already returns the shard's token when Start is called. ctx ends if the
	// shard is lost meanwhile. If Start returns an error, the holder does not call Stop. It releases the shard and claims it
	// again after RetryPause.
	Start func(ctx context.Context, shard int, t Token) error
	// Stop stops serving a shard and returns when the shard may go to another node. lost says that another node already
	// owns the shard: nothing can be written, and UsableToken returns false. Calls for the same shard do not overlap.
	Stop func(shard int, lost bool)
	// PingNode checks whether another node answers. If PingNode is nil, no node is checked, and this node never counts as
	// isolated.
	PingNode func(ctx context.Context, n Node) error

	// KeepShard reports whether this node keeps a shard for now, although the shard is assigned to the node with the ID
	// to. The holder calls it again after RetryPause, and does not call it while this node drains. KeepShard must not
	// block. If it is nil, no shard is kept.
	KeepShard func(shard int, to string) bool

	Concurrency   int           // maximum number of concurrent Starts, and of Stops. Default: 16
	MaxHandovers  int           // maximum number of shards that are being handed over to nodes that have joined. Default: 4
	RetryPause    time.Duration // pause before a shard is claimed again after a failed claim, a failed Start or a loss. Default: 500 ms
	PingInterval  time.Duration // time between two rounds of PingNode. Default: 1 s
	LeaseDuration time.Duration // duration of a lease of the engine. A dead node stays in the list for this time. Default: DefaultLease
	SettleTime    time.Duration // after a node has gone, no shard is handed over to joined nodes for this time. Default: DefaultLease
	Logger        *slog.Logger  // Default: no log
}

// Holder holds the shards that are assigned to one node. It claims shards, calls Config.Start and Config.Stop for them,
// and releases shards that are assigned to other nodes.
type Holder struct {
	engine Engine
	cfg    Config
	tokens []atomic.Pointer[Token] // by shard; nil: must not be used

	announcing sync.Mutex // serializes announcements of the draining state; locked before mu

	mu             sync.Mutex
	held           map[int]*heldShard
	handedOver     map[int]bool      // handed over, and not seen to be claimed by another node yet
	retryAfter     map[int]time.Time // by shard: no claim before this time
	claiming       bool
	drainRequested bool // Drain was called
	isKeeping      bool // a shard is kept for now, and a timer checks it again
	left           bool
	isolated       bool          // drains because no other node answers
	unannounced    bool          // the last announcement to the engine failed
	changed        chan struct{} // closed and replaced when held or claiming has changed
	placement      []string      // the assignment of shards to placementNodes
	placementNodes []Node
	settlesAt      time.Time // no hand-overs before this time, because a node that has gone may come back

	startSlots, stopSlots chan struct{} // semaphores of Concurrency
	wake                  chan struct{}
	cancel                context.CancelFunc
	working               sync.WaitGroup
}

type heldShard struct {
	token  Token
	phase  phase
	lost   bool
	cancel context.CancelFunc // of the context of its Start
}

// NewHolder returns a holder over an engine that has not joined yet.
func NewHolder(e Engine, c Config) *Holder {
	c.Concurrency, c.MaxHandovers = cmp.Or(c.Concurrency, 16), cmp.Or(c.MaxHandovers, 4)
	c.RetryPause, c.PingInterval, c.SettleTime = cmp.Or(c.RetryPause, 500*time.Millisecond), cmp.Or(c.PingInterval, time.Second), cmp.Or(c.SettleTime, DefaultLease)
	c.LeaseDuration = cmp.Or(c.LeaseDuration, DefaultLease)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Holder{
		engine: e, cfg: c, tokens: make([]atomic.Pointer[Token], c.Shards),
		held: make(map[int]*heldShard), handedOver: make(map[int]bool), retryAfter: make(map[int]time.Time),
		changed: make(chan struct{}), wake: make(chan struct{}, 1),
		startSlots: make(chan struct{}, c.Concurrency), stopSlots: make(chan struct{}, c.Concurrency),
	}
}

// Join joins the engine and begins to claim shards.
func (h *Holder) Join(ctx context.Context) error {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	if err := h.engine.Join(ctx, h.cfg.Self, h.wakeUp); err != nil {
		end()
		return err
	}
	h.cancel = end
	h.working.Go(func() { h.run(running) })
	if h.cfg.PingNode != nil {
		h.working.Go(func() { h.checkPeers(running) })
	}
	h.wakeUp()
	return nil
}

// UsableToken returns the token of a shard that this node may serve now. It returns false if the node does not own
// the shard or its lease has ended. It never blocks. Callers use it before each action that no commit protects.
func (h *Holder) UsableToken(shard int) (Token, bool) {
	if shard < 0 || shard >= len(h.tokens) {
		return "", false
	}
	t := h.tokens[shard].Load()
	if t == nil || !time.Now().Before(h.engine.Deadline()) {
		return "", false
	}
	if !h.engine.OwnsShard(shard, *t) { // after Deadline, as Engine.Deadline requires
		return "", false
	}
	return *t, true
}

// ReportLost reports that a commit with this token was refused. The holder then stops the shard. If the shard is still
// assigned to this node, the holder claims it again. ReportLost never blocks.
func (h *Holder) ReportLost(shard int, t Token) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.held[shard]; e != nil && e.token == t && !e.lost {
		h.cfg.Logger.Warn("a commit was refused because another node owns the shard", slog.Int("shard", shard), slog.String("token", string(t)))
		h.markLost(shard, e)
	}
}

// StartedShards returns the shards for which Start has succeeded, in ascending order.
func (h *Holder) StartedShards() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []int
	for _, shard := range slices.Sorted(maps.Keys(h.held)) {
		if h.held[shard].phase == running {
			list = append(list, shard)
		}
	}
	return list
}

// Drain releases all shards and returns when none is left. If the draining state cannot be announced to other
// nodes, Drain nevertheless releases the shards, and then returns that error.
func (h *Holder) Drain(ctx context.Context) error {
	h.mu.Lock()
	h.drainRequested = true
	h.mu.Unlock()
	h.announcing.Lock()
	err := h.announceState(ctx, h.IsIsolated())
	h.announcing.Unlock()
	h.wakeUp()
	for {
		h.mu.Lock()
		left, changed := len(h.held) > 0 || h.claiming, h.changed
		h.mu.Unlock()
		if !left {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// Resume ends Drain, so that the node claims shards again. An isolated node continues to drain.
func (h *Holder) Resume(ctx context.Context) error {
	h.mu.Lock()
	h.drainRequested = false
	h.mu.Unlock()
	defer h.wakeUp()
	h.announcing.Lock()
	defer h.announcing.Unlock()
	return h.announceState(ctx, h.IsIsolated())
}

// Leave drains the node if it is not drained yet, and leaves the engine. Shards that have not stopped when ctx ends
// stop later, and the store refuses their commits.
func (h *Holder) Leave(ctx context.Context) error {
	h.mu.Lock()
	left := h.left
	h.left = true
	h.mu.Unlock()
	switch {
	case left:
		return nil
	case h.cancel == nil:
		return h.engine.Leave(ctx)
	}
	if err := h.Drain(ctx); err != nil {
		h.cfg.Logger.Warn("not every shard was released cleanly", slog.Any("error", err))
	}
	h.cancel()
	for i := range h.tokens {
		h.tokens[i].Store(nil)
	}
	done := make(chan struct{})
	go func() { h.working.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return h.engine.Leave(context.WithoutCancel(ctx))
}

func (h *Holder) wakeUp() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// recheckKept makes the holder call KeepShard again for the shards that it keeps.
func (h *Holder) recheckKept() {
	h.mu.Lock()
	h.isKeeping = false
	h.mu.Unlock()
	h.wakeUp()
}

func (h *Holder) wakeLater() { time.AfterFunc(h.cfg.RetryPause, h.wakeUp) }

func (h *Holder) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
			h.step(ctx)
		}
	}
}

// step makes a plan for the current state and executes it: it stops lost and reassigned shards and claims free ones.
func (h *Holder) step(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := makePlan(h.view())
	for _, shard := range p.lost {
		h.markLost(shard, h.held[shard])
	}
	for _, shard := range p.stop {
		e := h.held[shard]
		e.phase = leaving
		h.working.Go(func() { h.stop(ctx, shard, e) })
	}
	now := time.Now()
	p.claim = slices.DeleteFunc(p.claim, func(shard int) bool { return now.Before(h.retryAfter[shard]) })
	if p.keeps && !h.isKeeping {
		h.isKeeping = true
		time.AfterFunc(h.cfg.RetryPause, h.recheckKept)
	}
	if !h.claiming && len(p.claim)+len(p.release) > 0 {
		h.claiming = true
		h.working.Go(func() { h.claim(ctx, p.claim, p.release) })
	}
}

func (h *Holder) view() planInput {
	v := planInput{
		self: h.cfg.Self.ID, owners: make([]string, h.cfg.Shards), held: make(map[int]phase, len(h.held)),
		draining: h.drainRequested || h.isolated, maxHandovers: h.cfg.MaxHandovers, keepShard: h.cfg.KeepShard,
	}
	if nodes := h.engine.Nodes(); h.placement == nil || !slices.Equal(nodes, h.placementNodes) {
		if hasNodeGone(h.placementNodes, nodes) {
			h.settlesAt = time.Now().Add(h.cfg.SettleTime)
			time.AfterFunc(h.cfg.SettleTime, h.wakeUp)
		}
		h.placement, h.placementNodes = PlaceShards(h.cfg.Shards, nodes), nodes
	}
	v.isSettling = time.Now().Before(h.settlesAt)
	v.placement = h.placement
	for shard := range v.owners {
		if owner, ok := h.engine.Owner(shard); ok {
			v.owners[shard] = owner.ID
		}
	}
	for shard, e := range h.held {
		v.held[shard] = e.phase
		switch {
		case e.lost:
			v.held[shard] = leaving
		case v.owners[shard] == v.self && !h.engine.OwnsShard(shard, e.token):
			v.owners[shard] = "" // the shard has the token of another claim of this node
		}
	}
	maps.DeleteFunc(h.handedOver, func(shard int, _ bool) bool {
		return v.owners[shard] != "" || v.placement[shard] == v.self || v.placement[shard] == ""
	})
	v.handedOver = len(h.handedOver)
	return v
}
