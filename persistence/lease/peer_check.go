package lease

import (
	"context"
	"log/slog"
	"time"
)

// sample is how many of the others are asked in a round as long as one of them
// answers; if none does, all are.
const sample = 3

// checkPeers asks the others round by round whether they answer, and drains this node
// while it is cut off from them. One that does not see the store either has
// nothing to give away, and nobody whom it could tell; when it comes back the
// others may be a moment later.
func (h *Holder) checkPeers(ctx context.Context) {
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
		if !time.Now().Before(h.engine.Deadline()) {
			missed = min(missed, missRounds-1)
			continue
		}
		off := Isolated(Sight{Self: h.c.Self.ID, Nodes: nodes, Reached: reached, Missed: missed, Least: least(h.c.Lease, h.c.Probe)})
		if h.cut(ctx, off) && !off {
			missed = 0 // the last one that went on is gone: who is the next shows by who waits longest
		}
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

// cut drains the node that is cut off, and takes it back when it is no longer;
// true: that has changed.
func (h *Holder) cut(ctx context.Context, off bool) bool {
	h.telling.Lock()
	defer h.telling.Unlock()
	h.mu.Lock()
	turned, unsaid := off != h.cutOff, h.unsaid
	h.mu.Unlock()
	if !turned && !unsaid || h.announceState(ctx, off) != nil || !turned { // without the store nobody can be told; the next round tries again
		return false
	}
	h.c.Logger.Warn("the other nodes do not answer: this one gives its shards away while they do not", slog.Bool("cut_off", off))
	h.mu.Lock()
	h.cutOff = off
	h.mu.Unlock()
	h.nudge()
	return true
}

// announceState says to the others whether this node drains. off: it is cut off, or is
// about to be. What failed to be told may still be heard, with a later beat, when
// it is no longer so: then it has to be told again. Under telling.
func (h *Holder) announceState(ctx context.Context, off bool) error {
	h.mu.Lock()
	say := h.engine.Resume
	if off || h.asked {
		say = h.engine.Drain
	}
	h.mu.Unlock()
	err := say(ctx)
	h.mu.Lock()
	h.unsaid = err != nil
	h.mu.Unlock()
	return err
}

// CutOff says whether the node sees none of the others, and gives its shards away
// for that.
func (h *Holder) CutOff() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cutOff
}
