package lease

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// claim takes shards and starts them; those of drop are only freed.
func (h *Holder) claim(ctx context.Context, own, drop []int) {
	all := append(append([]int(nil), own...), drop...)
	tokens, err := h.engine.Claim(ctx, all)
	if err != nil && ctx.Err() == nil {
		h.c.Logger.Warn("shards cannot be claimed", slog.Any("error", err))
	}
	h.mu.Lock()
	h.claiming = false
	for _, shard := range own {
		if t, ok := tokens[shard]; ok {
			delete(h.cooling, shard)
			e := &holding{token: t, phase: starting}
			starting, cancel := context.WithCancel(ctx)
			e.cancel = cancel
			h.held[shard] = e
			h.tokens[shard].Store(&t)
			h.working.Go(func() { defer cancel(); h.start(starting, shard, e) })
		}
	}
	h.done()
	h.mu.Unlock()
	for _, shard := range drop {
		if t, ok := tokens[shard]; ok {
			h.release(ctx, shard, t)
		}
	}
	if len(tokens) < len(all) {
		h.later()
	} else {
		h.nudge()
	}
}

func (h *Holder) start(ctx context.Context, shard int, e *holding) {
	err := h.begin(ctx, shard, e)
	h.mu.Lock()
	if err == nil {
		e.phase = running
		if e.lost {
			e.phase = leaving
			h.working.Go(func() { h.stop(context.WithoutCancel(ctx), shard, e) })
		}
		h.mu.Unlock()
		h.nudge()
		return
	}
	lost := e.lost
	e.phase = leaving
	h.tokens[shard].Store(nil)
	h.mu.Unlock()
	if !lost {
		if !errors.Is(err, context.Canceled) {
			h.c.Logger.Warn("a shard cannot be started", slog.Int("shard", shard), slog.Any("error", err))
		}
		h.release(context.WithoutCancel(ctx), shard, e.token)
	}
	h.forget(shard, true)
}

// begin calls Start once there is room, unless there is no use in it any more.
func (h *Holder) begin(ctx context.Context, shard int, e *holding) error {
	select {
	case h.starts <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.starts }()
	h.mu.Lock()
	over := h.asked || h.cutOff || ctx.Err() != nil
	h.mu.Unlock()
	if over {
		return context.Canceled
	}
	return h.c.Start(ctx, shard, e.token)
}

// lose takes a shard from use and has it stopped. Under mu.
func (h *Holder) lose(shard int, e *holding) {
	e.lost = true
	h.tokens[shard].Store(nil)
	e.cancel()
	if e.phase == running {
		e.phase = leaving
		h.working.Go(func() { h.stop(context.Background(), shard, e) })
	}
}

// stop ends what serves a shard, and frees it unless it was lost.
func (h *Holder) stop(ctx context.Context, shard int, e *holding) {
	h.stops <- struct{}{}
	h.mu.Lock()
	lost := e.lost
	h.mu.Unlock()
	h.c.Stop(shard, lost)
	<-h.stops
	h.tokens[shard].Store(nil)
	h.mu.Lock()
	lost = e.lost
	if !lost && !h.asked && !h.cutOff {
		h.given[shard] = true
	}
	h.mu.Unlock()
	if !lost {
		h.release(context.WithoutCancel(ctx), shard, e.token)
	}
	h.forget(shard, lost)
}

func (h *Holder) release(ctx context.Context, shard int, t Token) {
	if err := h.engine.Release(ctx, shard, t); err != nil {
		h.c.Logger.Warn("a shard cannot be released", slog.Int("shard", shard), slog.Any("error", err))
		h.later()
	}
}

// forget lets go of a shard, which is claimed again, if at all, after a pause
// where that is due.
func (h *Holder) forget(shard int, pause bool) {
	h.mu.Lock()
	delete(h.held, shard)
	if pause {
		h.cooling[shard] = time.Now().Add(h.c.Pause)
		h.later()
	}
	h.done()
	h.mu.Unlock()
	h.nudge()
}

// done says to whoever drains that there may be nothing left. Under mu.
func (h *Holder) done() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// sample is how many of the others are asked in a round as long as one of them
// answers; if none does, all are.
const sample = 3

// look asks the others round by round whether they answer, and drains this node
// while it is cut off from them.
func (h *Holder) look(ctx context.Context) {
	t := time.NewTicker(h.c.Probe)
	defer t.Stop()
	missed := 0
	for round := 0; ; round++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		nodes := h.engine.Nodes()
		others := peers(h.c.Self.ID, nodes, round*sample)
		reached := len(others) == 0
		for len(others) > 0 && !reached {
			some := others[:min(sample, len(others))]
			others = others[len(some):]
			reached = h.reach(ctx, some)
		}
		if missed++; reached {
			missed = 0
		}
		h.cut(ctx, Isolated(Sight{Self: h.c.Self.ID, Nodes: nodes, Reached: reached, Missed: missed}))
	}
}

// reach says whether one of a few nodes answers.
func (h *Holder) reach(ctx context.Context, some []Node) bool {
	ctx, cancel := context.WithTimeout(ctx, h.c.Probe)
	defer cancel()
	answers := make(chan error, len(some))
	for _, n := range some {
		h.working.Go(func() { answers <- h.c.Reach(ctx, n) })
	}
	for range some {
		if <-answers == nil {
			return true
		}
	}
	return false
}

// cut drains the node that is cut off, and takes it back when it is no longer.
func (h *Holder) cut(ctx context.Context, off bool) {
	h.mu.Lock()
	turned, asked := off != h.cutOff, h.asked
	h.mu.Unlock()
	if !turned {
		return
	}
	tell := h.engine.Resume
	if off || asked {
		tell = h.engine.Drain
	}
	if err := tell(ctx); err != nil {
		return // without the store nobody can be told; the next round tries again
	}
	h.c.Logger.Warn("the other nodes do not answer: this one gives its shards away while they do not", slog.Bool("cut_off", off))
	h.mu.Lock()
	h.cutOff = off
	h.mu.Unlock()
	h.nudge()
}
