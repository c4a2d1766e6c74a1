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

// Config says what a holder does with shards. Start, Stop and Reach are called
// on goroutines of their own.
type Config struct {
	Self   Node
	Shards int // how many there are; the same on every node
	// Start begins to serve a shard; Use answers for it from before Start is
	// called. ctx ends where the shard is lost meanwhile. An error gives the
	// shard back, and it is tried again after Pause; there is no Stop then.
	Start func(ctx context.Context, shard int, t Token) error
	// Stop ends what Start began and returns when the shard may go to another
	// node. lost: it is another's already, and nothing can be written any more;
	// Use answers false by then. Calls for one shard come one after the other.
	Stop func(shard int, lost bool)
	// Reach asks another node whether it answers; nil: nobody is asked, and the
	// node never takes itself for cut off.
	Reach func(ctx context.Context, n Node) error

	// Stay says of a shard that belongs to a node which has joined, by its ID,
	// whether it stays here for now, as long as this node lives and does not drain;
	// it is asked again after Pause and must not wait. nil: none does.
	Stay func(shard int, to string) bool

	AtOnce   int           // Starts, and Stops, at once; 0: 16
	Handover int           // shards on their way to nodes that have joined, at once; 0: 4
	Pause    time.Duration // before a claim, or the Start of a shard that was fenced or has failed, is tried again; 0: 500 ms
	Probe    time.Duration // between two rounds of Reach; 0: 1 s
	Lease    time.Duration // of the engine: for so long a node that has died is seen; 0: DefaultLease
	Settle   time.Duration // after a node was lost sight of nothing goes to who has joined; 0: DefaultLease
	Logger   *slog.Logger  // nil: silent
}

// Holder keeps for one node the shards that belong to it: it claims them,
// starts and stops what serves them, and gives back what belongs to another.
type Holder struct {
	engine Engine
	c      Config
	tokens []atomic.Pointer[Token] // by shard; nil: not to be used

	telling sync.Mutex // one at a time says whether it drains; before mu

	mu       sync.Mutex
	held     map[int]*holding
	given    map[int]bool      // handed to others who have not been seen to take it
	cooling  map[int]time.Time // not to be claimed before
	claiming bool
	asked    bool // to drain
	staying  bool // something stays for now, and is looked at again
	left     bool
	cutOff   bool          // drains because it sees nobody
	unsaid   bool          // the engine may tell what is no longer so
	changed  chan struct{} // closed and replaced when held or claiming has changed
	placed   []string      // of placedOf
	placedOf []Node
	settles  time.Time // until then a node that is gone may come back, and what it leaves room for stays

	starts, stops chan struct{} // room for so many at once
	poke          chan struct{}
	end           context.CancelFunc
	working       sync.WaitGroup
}

type holding struct {
	token  Token
	phase  phase
	lost   bool
	cancel context.CancelFunc // of its Start
}

// NewHolder makes a holder over an engine that has not joined yet.
func NewHolder(e Engine, c Config) *Holder {
	c.AtOnce, c.Handover = cmp.Or(c.AtOnce, 16), cmp.Or(c.Handover, 4)
	c.Pause, c.Probe, c.Settle = cmp.Or(c.Pause, 500*time.Millisecond), cmp.Or(c.Probe, time.Second), cmp.Or(c.Settle, DefaultLease)
	c.Lease = cmp.Or(c.Lease, DefaultLease)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Holder{
		engine: e, c: c, tokens: make([]atomic.Pointer[Token], c.Shards),
		held: make(map[int]*holding), given: make(map[int]bool), cooling: make(map[int]time.Time),
		changed: make(chan struct{}), poke: make(chan struct{}, 1),
		starts: make(chan struct{}, c.AtOnce), stops: make(chan struct{}, c.AtOnce),
	}
}

// Join joins the engine and begins to claim.
func (h *Holder) Join(ctx context.Context) error {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	if err := h.engine.Join(ctx, h.c.Self, h.nudge); err != nil {
		end()
		return err
	}
	h.end = end
	h.working.Go(func() { h.run(running) })
	if h.c.Reach != nil {
		h.working.Go(func() { h.checkPeers(running) })
	}
	h.nudge()
	return nil
}

// Use is the token of a shard that this node may act for now; false: it does
// not hold it, or its lease has ended. It never waits, and is asked before each
// act that no commit guards.
func (h *Holder) Use(shard int) (Token, bool) {
	if shard < 0 || shard >= len(h.tokens) {
		return "", false
	}
	t := h.tokens[shard].Load()
	if t == nil || !time.Now().Before(h.engine.Deadline()) {
		return "", false
	}
	if !h.engine.Holds(shard, *t) { // after Deadline, as that says
		return "", false
	}
	return *t, true
}

// Lost says that a commit with this token was refused: what serves the shard is
// stopped, and if it still belongs to this node it is claimed anew. It never
// waits.
func (h *Holder) Lost(shard int, t Token) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.held[shard]; e != nil && e.token == t && !e.lost {
		h.c.Logger.Warn("a commit was refused: the shard is another's", slog.Int("shard", shard), slog.String("token", string(t)))
		h.lose(shard, e)
	}
}

// Held are the shards that are started, in order.
func (h *Holder) Held() []int {
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

// Drain gives every shard away and returns when none is left. Where the engine
// cannot tell the others, its error comes back after that.
func (h *Holder) Drain(ctx context.Context) error {
	h.mu.Lock()
	h.asked = true
	h.mu.Unlock()
	h.telling.Lock()
	err := h.announceState(ctx, h.CutOff())
	h.telling.Unlock()
	h.nudge()
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

// Resume takes Drain back. A node that is cut off from the others drains on.
func (h *Holder) Resume(ctx context.Context) error {
	h.mu.Lock()
	h.asked = false
	h.mu.Unlock()
	defer h.nudge()
	h.telling.Lock()
	defer h.telling.Unlock()
	return h.announceState(ctx, h.CutOff())
}

// Leave drains, unless that was done, and leaves the engine. What has not
// stopped when ctx ends is left to end by itself; its commits are refused.
func (h *Holder) Leave(ctx context.Context) error {
	h.mu.Lock()
	left := h.left
	h.left = true
	h.mu.Unlock()
	switch {
	case left:
		return nil
	case h.end == nil:
		return h.engine.Leave(ctx)
	}
	if err := h.Drain(ctx); err != nil {
		h.c.Logger.Warn("not every shard was given away in order", slog.Any("error", err))
	}
	h.end()
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

func (h *Holder) nudge() {
	select {
	case h.poke <- struct{}{}:
	default:
	}
}

// again looks once more at what stays for now.
func (h *Holder) again() {
	h.mu.Lock()
	h.staying = false
	h.mu.Unlock()
	h.nudge()
}

func (h *Holder) later() { time.AfterFunc(h.c.Pause, h.nudge) }

func (h *Holder) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.poke:
			h.step(ctx)
		}
	}
}

// step does what is decided from what is known now.
func (h *Holder) step(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := decide(h.view())
	for _, shard := range p.lost {
		h.lose(shard, h.held[shard])
	}
	for _, shard := range p.stop {
		e := h.held[shard]
		e.phase = leaving
		h.working.Go(func() { h.stop(ctx, shard, e) })
	}
	now := time.Now()
	p.claim = slices.DeleteFunc(p.claim, func(shard int) bool { return now.Before(h.cooling[shard]) })
	if p.stay && !h.staying {
		h.staying = true
		time.AfterFunc(h.c.Pause, h.again)
	}
	if !h.claiming && len(p.claim)+len(p.drop) > 0 {
		h.claiming = true
		h.working.Go(func() { h.claim(ctx, p.claim, p.drop) })
	}
}

func (h *Holder) view() view {
	v := view{
		self: h.c.Self.ID, owners: make([]string, h.c.Shards), held: make(map[int]phase, len(h.held)),
		draining: h.asked || h.cutOff, handover: h.c.Handover, stays: h.c.Stay,
	}
	if nodes := h.engine.Nodes(); h.placed == nil || !slices.Equal(nodes, h.placedOf) {
		if fewer(h.placedOf, nodes) {
			h.settles = time.Now().Add(h.c.Settle)
			time.AfterFunc(h.c.Settle, h.nudge)
		}
		h.placed, h.placedOf = Places(h.c.Shards, nodes), nodes
	}
	v.settling = time.Now().Before(h.settles)
	v.places = h.placed
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
		case v.owners[shard] == v.self && !h.engine.Holds(shard, e.token):
			v.owners[shard] = "" // by another claim of this node
		}
	}
	maps.DeleteFunc(h.given, func(shard int, _ bool) bool {
		return v.owners[shard] != "" || v.places[shard] == v.self || v.places[shard] == ""
	})
	v.given = len(h.given)
	return v
}
