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

// history is what this process knows of the commits of one shard. Commits and
// claims of a shard are numbered in turn, by Redis; what a process remembers of a
// shard begins with its claim.
type history struct {
	shard string
	key   string        // of the number of the shard's last commit
	acked atomic.Uint64 // the highest number that was acknowledged here

	mu    sync.Mutex
	whole chan struct{} // closed once Redis lacks nothing any more; nil: it lacks nothing
	lost  error         // why that was not given back, last
	tries int           // to give it back
	at    time.Time     // of the last one
}

// history is that of a shard, which begins with this where it is not known.
func (d *Driver) history(shard string) *history {
	d.shards.Lock()
	defer d.shards.Unlock()
	h := d.histories[shard]
	if h == nil {
		h = &history{shard: shard, key: d.prefix + "n:" + shard}
		d.histories[shard] = h
		d.all = append(slices.Clip(d.all), h)
	}
	return h
}

// known are all histories; nobody changes what is returned.
func (d *Driver) known() []*history {
	d.shards.Lock()
	defer d.shards.Unlock()
	return d.all
}

// reached remembers the highest number that was acknowledged.
func (h *history) reached(n uint64) {
	for {
		old := h.acked.Load()
		if n <= old || h.acked.CompareAndSwap(old, n) {
			return
		}
	}
}

// lacks notes that Redis lacks commits; false: that was known.
func (h *history) lacks() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.whole != nil {
		return false
	}
	h.whole = make(chan struct{})
	return true
}

// found notes that Redis has all commits; false: that was known.
func (h *history) found() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.whole == nil {
		return false
	}
	close(h.whole)
	h.whole, h.lost, h.tries, h.at = nil, nil, 0, time.Time{}
	return true
}

// failed notes why they could not be given back.
func (h *history) failed(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost, h.at = err, time.Now()
	h.tries++
}

// due says whether it is worth to try again: the whole ledger is read for it.
func (h *history) due() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tries < triesLost || time.Since(h.at) > retryLost
}

// awaits is closed once Redis lacks nothing any more; nil: it lacks nothing.
func (h *history) awaits() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.whole
}

// err is why nothing can be done with the shard now.
func (h *history) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.whole != nil && h.lost == nil {
		return errStale
	}
	return h.lost
}

// numbers is how far the Redis that answers now goes, in each of some histories.
func (d *Driver) numbers(ctx context.Context, of []*history) ([]uint64, error) {
	if len(of) == 0 {
		return nil, d.client.Ping(ctx).Err()
	}
	return askNumbers(ctx, d.client, of)()
}

// askNumbers asks how far histories go; what it returns is called for the
// answer, where the asking waits for others.
func askNumbers(ctx context.Context, to redis.Cmdable, of []*history) func() ([]uint64, error) {
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

// rests keeps a request whose shard Redis lacks commits of, until that is over;
// false: it lacks none. So a shard that is lost holds up no other one.
func (d *Driver) rests(r *request) bool {
	whole := r.of.awaits()
	if whole == nil {
		return false
	}
	go func() {
		select {
		case <-whole:
			if err := d.enqueue(r); err != nil {
				r.answer <- answer{err: err}
			}
		case <-r.ctx.Done(): // nobody waits any more
		}
	}()
	return true
}

// wake has what Redis lacks looked at soon.
func (d *Driver) wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}
