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
	err := h.startShard(ctx, shard, e)
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
	h.releaseShard(shard, true)
}

// startShard calls Start once there is room, unless there is no use in it any more.
func (h *Holder) startShard(ctx context.Context, shard int, e *holding) error {
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
	h.releaseShard(shard, lost)
}

func (h *Holder) release(ctx context.Context, shard int, t Token) {
	if err := h.engine.Release(ctx, shard, t); err != nil {
		h.c.Logger.Warn("a shard cannot be released", slog.Int("shard", shard), slog.Any("error", err))
		h.later()
	}
}

// releaseShard lets go of a shard, which is claimed again, if at all, after a pause
// where that is due.
func (h *Holder) releaseShard(shard int, pause bool) {
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
