package lease

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// claim claims the shards in own and starts them. It also claims the shards in drop, and releases them at once.
func (h *Holder) claim(ctx context.Context, own, drop []int) {
	all := append(append([]int(nil), own...), drop...)
	tokens, err := h.engine.Claim(ctx, all)
	if err != nil && ctx.Err() == nil {
		h.cfg.Logger.Warn("shards cannot be claimed", slog.Any("error", err))
	}
	h.mu.Lock()
	h.claiming = false
	for _, shard := range own {
		if t, ok := tokens[shard]; ok {
			delete(h.retryAfter, shard)
			e := &heldShard{token: t, phase: starting}
			starting, cancel := context.WithCancel(ctx)
			e.cancel = cancel
			h.held[shard] = e
			h.tokens[shard].Store(&t)
			h.working.Go(func() { defer cancel(); h.start(starting, shard, e) })
		}
	}
	h.notifyChanged()
	h.mu.Unlock()
	for _, shard := range drop {
		if t, ok := tokens[shard]; ok {
			h.release(ctx, shard, t)
		}
	}
	if len(tokens) < len(all) {
		h.wakeLater()
	} else {
		h.wakeUp()
	}
}

func (h *Holder) start(ctx context.Context, shard int, e *heldShard) {
	err := h.startShard(ctx, shard, e)
	h.mu.Lock()
	if err == nil {
		e.phase = running
		if e.lost {
			e.phase = leaving
			h.working.Go(func() { h.stop(context.WithoutCancel(ctx), shard, e) })
		}
		h.mu.Unlock()
		h.wakeUp()
		return
	}
	lost := e.lost
	e.phase = leaving
	h.tokens[shard].Store(nil)
	h.mu.Unlock()
	if !lost {
		if !errors.Is(err, context.Canceled) {
			h.cfg.Logger.Warn("a shard cannot be started", slog.Int("shard", shard), slog.Any("error", err))
		}
		h.release(context.WithoutCancel(ctx), shard, e.token)
	}
	h.releaseShard(shard, true)
}

// startShard waits until fewer than Concurrency shards are starting and then calls Start. It returns
// context.Canceled instead if the shard was lost or the node drains by then.
func (h *Holder) startShard(ctx context.Context, shard int, e *heldShard) error {
	select {
	case h.startSlots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.startSlots }()
	h.mu.Lock()
	over := h.drainRequested || h.isolated || ctx.Err() != nil
	h.mu.Unlock()
	if over {
		return context.Canceled
	}
	return h.cfg.Start(ctx, shard, e.token)
}

// markLost makes a shard unusable and stops it. The caller holds mu.
func (h *Holder) markLost(shard int, e *heldShard) {
	e.lost = true
	h.tokens[shard].Store(nil)
	e.cancel()
	if e.phase == running {
		e.phase = leaving
		h.working.Go(func() { h.stop(context.Background(), shard, e) })
	}
}

// stop calls Config.Stop for a shard and then releases the shard, unless the shard was lost.
func (h *Holder) stop(ctx context.Context, shard int, e *heldShard) {
	h.stopSlots <- struct{}{}
	h.mu.Lock()
	lost := e.lost
	h.mu.Unlock()
	h.cfg.Stop(shard, lost)
	<-h.stopSlots
	h.tokens[shard].Store(nil)
	h.mu.Lock()
	lost = e.lost
	if !lost && !h.drainRequested && !h.isolated {
		h.handedOver[shard] = true
	}
	h.mu.Unlock()
	if !lost {
		h.release(context.WithoutCancel(ctx), shard, e.token)
	}
	h.releaseShard(shard, lost)
}

func (h *Holder) release(ctx context.Context, shard int, t Token) {
	if err := h.engine.Release(ctx, shard, t); err != nil {
		h.cfg.Logger.Warn("a shard cannot be released", slog.Int("shard", shard), slog.Any("error", err))
		h.wakeLater()
	}
}

// releaseShard removes a shard from held. With pause, the shard is not claimed again before RetryPause has passed.
func (h *Holder) releaseShard(shard int, pause bool) {
	h.mu.Lock()
	delete(h.held, shard)
	if pause {
		h.retryAfter[shard] = time.Now().Add(h.cfg.RetryPause)
		h.wakeLater()
	}
	h.notifyChanged()
	h.mu.Unlock()
	h.wakeUp()
}

// notifyChanged wakes the calls of Drain, which wait until held or claiming changes. The caller holds mu.
func (h *Holder) notifyChanged() {
	close(h.changed)
	h.changed = make(chan struct{})
}
