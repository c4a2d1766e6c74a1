package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/callboard/callboard/actors/call"
)

// How a node gives its shards to others.

// stays says whether a shard stays on this node though another one has joined:
// the only one does, and of several those with live calls, which would be cut
// off from their workspaces.
func (m *member) stays(shard int, to string) bool {
	if m.cfg.Shards == 1 {
		return true
	}
	m.mu.Lock()
	c, s := m.seats[shard], m.service
	m.mu.Unlock()
	if c == nil {
		return false
	}
	if s.board.Drained() { // or the one who has said so could not take it back
		return true
	}
	at := time.Since(m.born)
	c.wanted(to, at)
	return !c.wasQuiet(at)
}

// quietFor is how long it counts that a shard was quiet when it was looked at:
// calls may begin at any time, and by then it has been asked of again.
const quietFor = time.Second

// wasQuiet says whether the shard was seen to be quiet a moment ago, and since the
// node waits that does now; once for each look. at is since the process was born.
func (c *chair) wasQuiet(at time.Duration) bool {
	seen := time.Duration(c.quiet.Swap(0))
	return seen > time.Duration(c.since.Load()) && at-seen <= quietFor
}

// movesAfter is how long a shard with live calls stays where it is though another
// node waits for it, where these can be handed over: each of them hears some
// silence by that, and some are over by then.
const movesAfter = time.Minute

// wanted notes that a node waits for the shard; at is since the process was born.
// What one has waited that is gone counts for no other one, nor for itself when it
// has started anew: it may be one that does not live for long.
func (c *chair) wanted(to string, at time.Duration) {
	if at-time.Duration(c.again.Swap(int64(at))) > 10*time.Second || to != c.heir {
		c.since.Store(int64(at))
		c.heir = to
	}
	c.asked.Store(true)
}

// waitedFor is how long it has waited.
func (c *chair) waitedFor() time.Duration { return time.Duration(c.again.Load() - c.since.Load()) }

// mayGo says whether the shard may go by what is known of its calls: where none
// lives, or all can be handed over and another node has waited for so long.
func (c *chair) mayGo(now call.LiveNow, survive bool, after time.Duration) bool {
	return now.Known == 0 || survive && now.Known == now.Moving && c.waitedFor() > after
}

// fall gives a shard back: live calls may end before that. lost: another node
// may have it, and nothing can be kept any more.
func (m *member) fall(shard int, lost bool) {
	if _, looks := fence(""); lost && !looks {
		return
	}
	if !lost && careless() {
		m.log.Info("this node no longer has the work", slog.Int("shard", shard), slog.Bool("lost", lost))
		return
	}
	m.mu.Lock()
	c := m.seats[shard]
	m.mu.Unlock()
	c.awaitNext()
	c.falling.Store(true)
	if !lost {
		lost = m.drain(c)
	}
	c.inHaste = lost
	c.drainEnds = time.Time{} // whoever downloads still has the least time
	c.leaving.Store(true)
	m.mu.Lock()
	delete(m.seats, shard)
	m.mu.Unlock()
	c.leave()
	m.clear(false)
	m.log.Info("this node no longer has the work", slog.Int("shard", shard), slog.Bool("lost", lost))
}

// cutOffLimit is how long live calls may go on that cannot be handed over, at a
// node that sees none of the others: for as long nobody reaches their workspaces
// from elsewhere, and about as many callers are turned away as calls could end.
const cutOffLimit = 5 * time.Second

// drain lets live calls end, at a node that is cut off from the others not for
// long; true: another node has the shard meanwhile.
func (m *member) drain(c *chair) (lost bool) {
	began := time.Now()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.drain(ctx)
	}()
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return lost
		case <-tick.C:
		}
		if n, ok := m.engine.Owner(c.shard); ok && n.ID != m.self.ID {
			lost = true
			cancel(nil)
		} else if m.holder.CutOff() && time.Since(began) > cutOffLimit {
			cancel(context.DeadlineExceeded)
		}
	}
}
