package redis

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// history is what this process knows of the commits of one shard. Redis numbers the commits and claims of a shard
// consecutively. A process knows a shard's history from its claim on.
type history struct {
	shard string
	key   string        // Redis key of the number of the shard's last commit
	acked atomic.Uint64 // highest number that was acknowledged in this process

	mu              sync.Mutex
	restored        chan struct{} // closed once Redis has all commits again; nil: Redis lacks none
	restoreError    error         // why the last attempt to restore commits failed
	restoreAttempts int           // attempts to restore commits
	lastAttempt     time.Time     // time of the last attempt
}

// history returns the history of a shard, and creates it if needed.
func (d *Driver) history(shard string) *history {
	d.historiesLock.Lock()
	defer d.historiesLock.Unlock()
	h := d.histories[shard]
	if h == nil {
		h = &history{shard: shard, key: d.prefix + "n:" + shard}
		d.histories[shard] = h
		d.historyList = append(slices.Clip(d.historyList), h)
	}
	return h
}

// allHistories returns all histories. The slice must not be changed.
func (d *Driver) allHistories() []*history {
	d.historiesLock.Lock()
	defer d.historiesLock.Unlock()
	return d.historyList
}

// recordAcknowledged records the highest acknowledged number.
func (h *history) recordAcknowledged(n uint64) {
	for {
		old := h.acked.Load()
		if n <= old || h.acked.CompareAndSwap(old, n) {
			return
		}
	}
}

// markBehind records that Redis lacks commits. It returns false if that was known.
func (h *history) markBehind() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.restored != nil {
		return false
	}
	h.restored = make(chan struct{})
	return true
}

// markRestored records that Redis has all commits. It returns false if that was known.
func (h *history) markRestored() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.restored == nil {
		return false
	}
	close(h.restored)
	h.restored, h.restoreError, h.restoreAttempts, h.lastAttempt = nil, nil, 0, time.Time{}
	return true
}

// recordFailure records why restoring commits failed.
func (h *history) recordFailure(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.restoreError, h.lastAttempt = err, time.Now()
	h.restoreAttempts++
}

// isRestoreDue reports whether restoring should be tried again now. Each attempt reads the whole ledger.
func (h *history) isRestoreDue() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.restoreAttempts < maxQuickRetries || time.Since(h.lastAttempt) > slowRetryInterval
}

// restoredChannel returns a channel that is closed once Redis has all commits; nil: it lacks none.
func (h *history) restoredChannel() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.restored
}

// err returns why the shard cannot be used now.
func (h *history) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.restored != nil && h.restoreError == nil {
		return errStale
	}
	return h.restoreError
}

// lastNumbers reads the number of the last commit of each history from Redis.
func (d *Driver) lastNumbers(ctx context.Context, of []*history) ([]uint64, error) {
	if len(of) == 0 {
		return nil, d.client.Ping(ctx).Err()
	}
	return queueLastNumbers(ctx, d.client, of)()
}

// queueLastNumbers queues a read of the last numbers. The returned function returns the answer once the queue has
// been sent.
func queueLastNumbers(ctx context.Context, to redis.Cmdable, of []*history) func() ([]uint64, error) {
	have := make([]uint64, len(of))
	if len(of) == 1 {
		one := to.Get(ctx, of[0].key)
		return func() ([]uint64, error) {
			var err error
			if have[0], err = one.Uint64(); errors.Is(err, redis.Nil) {
				err = nil
			}
			return have, err
		}
	}
	keys := make([]string, len(of))
	for i, h := range of {
		keys[i] = h.key
	}
	all := to.MGet(ctx, keys...)
	return func() ([]uint64, error) {
		list, err := all.Result()
		if err != nil {
			return nil, err
		}
		for i, v := range list {
			text, is := v.(string)
			if !is {
				continue
			}
			if have[i], err = number(text); err != nil {
				return nil, err
			}
		}
		return have, nil
	}
}

// holdUntilRestored holds a request whose shard lacks commits in Redis, and queues it again once they are restored.
// It returns false if no commits are lacking. So the shard does not delay other shards.
func (d *Driver) holdUntilRestored(r *request) bool {
	restored := r.of.restoredChannel()
	if restored == nil {
		return false
	}
	go func() {
		select {
		case <-restored:
			if err := d.enqueue(r); err != nil {
				r.answer <- outcome{err: err}
			}
		case <-r.ctx.Done(): // the caller has given up
		}
	}()
	return true
}

// triggerRestore makes the health monitor check soon whether Redis lacks commits.
func (d *Driver) triggerRestore() {
	select {
	case d.wakeRestore <- struct{}{}:
	default:
	}
}
