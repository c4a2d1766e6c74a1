package lease

import (
	"context"
	"log/slog"
	"time"
)

// peersPerRound is how many nodes are pinged at a time. If none of them answers, further nodes are pinged in the
// same round.
const peersPerRound = 3

// checkPeers pings the other nodes in rounds, and drains this node while it is isolated. While the store is unavailable
// too, the node has no usable shards, so it does not become isolated. After the store is back, checkPeers gives the other
// nodes time to answer.
func (h *Holder) checkPeers(ctx context.Context) {
	t := time.NewTicker(h.cfg.PingInterval)
	defer t.Stop()
	missed := 0
	for round := 0; ; round++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		nodes := h.engine.Nodes()
		others := rotatePeers(h.cfg.Self.ID, nodes, round*peersPerRound)
		reached := len(others) == 0
		for len(others) > 0 && !reached {
			some := others[:min(peersPerRound, len(others))]
			others = others[len(some):]
			reached = h.isAnyReachable(ctx, some)
		}
		if missed++; reached {
			missed = 0
		}
		if !time.Now().Before(h.engine.Deadline()) {
			missed = min(missed, defaultMissedRounds-1)
			continue
		}
		off := IsIsolated(PeerView{Self: h.cfg.Self.ID, Nodes: nodes, AnyAnswered: reached, MissedRounds: missed, MinMissedRounds: minMissedRounds(h.cfg.LeaseDuration, h.cfg.PingInterval)})
		if h.setIsolated(ctx, off) && !off {
			missed = 0 // the node that went on serving has gone: count from the start, so that the waiting order decides again
		}
	}
}

// isAnyReachable pings some nodes concurrently and reports whether at least one of them answers.
func (h *Holder) isAnyReachable(ctx context.Context, some []Node) bool {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.PingInterval)
	defer cancel()
	answers := make(chan error, len(some))
	for _, n := range some {
		h.working.Go(func() { answers <- h.cfg.PingNode(ctx, n) })
	}
	for range some {
		if <-answers == nil {
			return true
		}
	}
	return false
}

// setIsolated makes the node drain if off is set, because it is isolated. Otherwise it lets the node resume. It returns
// true if the state has changed.
func (h *Holder) setIsolated(ctx context.Context, off bool) bool {
	h.announcing.Lock()
	defer h.announcing.Unlock()
	h.mu.Lock()
	turned, unsaid := off != h.isolated, h.unannounced
	h.mu.Unlock()
	if !turned && !unsaid || h.announceState(ctx, off) != nil || !turned { // without the store no announcement is possible; the next round tries again
		return false
	}
	h.cfg.Logger.Warn("isolation from the other nodes has changed; an isolated node releases its shards", slog.Bool("cut_off", off))
	h.mu.Lock()
	h.isolated = off
	h.mu.Unlock()
	h.wakeUp()
	return true
}

// announceState announces to the other nodes whether this node drains. off says that the node is isolated or is about
// to be. After an error the announcement must be repeated, because it may still take effect with a later renewal, when
// it is outdated. The caller holds announcing.
func (h *Holder) announceState(ctx context.Context, off bool) error {
	h.mu.Lock()
	say := h.engine.Resume
	if off || h.drainRequested {
		say = h.engine.Drain
	}
	h.mu.Unlock()
	err := say(ctx)
	h.mu.Lock()
	h.unannounced = err != nil
	h.mu.Unlock()
	return err
}

// IsIsolated reports whether no other node answers and this node releases its shards for that reason.
func (h *Holder) IsIsolated() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.isolated
}
