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

// history is the state of one shard's commits as this process knows it. Redis numbers the commits and claims of a
// shard consecutively. A process knows these numbers from its own claim of the shard on.
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

// history returns the history of a shard. It creates the history on the first call.
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

// allHistories returns the histories of all shards that this process has used. The caller must not change the slice.
func (d *Driver) allHistories() []*history {
	d.historiesLock.Lock()
	defer d.historiesLock.Unlock()
	return d.historyList
}

// recordAcknowledged raises the highest acknowledged commit number of the shard to n, if n is greater.
func (h *history) recordAcknowledged(n uint64) {
	for {
		old := h.acked.Load()
		if n <= old || h.acked.CompareAndSwap(old, n) {
			return
		}
	}
}

// markBehind records that Redis lacks commits of the shard. It returns false if this was already recorded.
func (h *history) markBehind() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.restored != nil {
		return false
	}
	h.restored = make(chan struct{})
	return true
}

// markRestored records that Redis has all commits of the shard again. It returns false if Redis lacked none.
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

// recordFailure records the error of a failed attempt to restore the commits of the shard.
func (h *history) recordFailure(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.restoreError, h.lastAttempt = err, time.Now()
	h.restoreAttempts++
}

// isRestoreDue reports whether the driver should try again now to restore the commits of the shard. The retries are
// limited because each one reads the whole ledger.
func (h *history) isRestoreDue() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.restoreAttempts < maxQuickRetries || time.Since(h.lastAttempt) > slowRetryInterval
}

// restoredChannel returns a channel that is closed once Redis has all commits of the shard again. It returns nil if
// Redis lacks none.
func (h *history) restoredChannel() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.restored
}

// err returns the reason why the shard cannot be used now, or nil.
func (h *history) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.restored != nil && h.restoreError == nil {
		return errStale
	}
	return h.restoreError
}

// lastNumbers reads from Redis the number of the last commit of each shard in of.
func (d *Driver) lastNumbers(ctx context.Context, of []*history) ([]uint64, error) {
	if len(of) == 0 {
		return nil, d.client.Ping(ctx).Err()
	}
	return queueLastNumbers(ctx, d.client, of)()
}

// queueLastNumbers adds to a pipeline the reads of each shard's last commit number. The returned function returns these
// numbers once the pipeline has been executed.
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

// holdUntilRestored holds a request while Redis lacks commits of its shard, and then queues the request again. It
// returns false if Redis lacks none. Held requests do not delay requests of other shards.
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

// triggerRestore makes the health monitor check at once whether Redis lacks commits, instead of at its next interval.
func (d *Driver) triggerRestore() {
	select {
	case d.wakeRestore <- struct{}{}:
	default:
	}
}
