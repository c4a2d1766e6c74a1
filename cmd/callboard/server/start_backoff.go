package server

import (
	"sync/atomic"
	"time"
)

// maxBackoff bounds the pause after a shard could not be started.
const maxBackoff = time.Minute

// startBackoff keeps a node that could not start a shard from taking one again at once,
// so that another node tries. Times are durations since the process began. It may be
// used by several goroutines.
type startBackoff struct {
	failures atomic.Int32 // since the last success
	until    atomic.Int64
}

// fail begins a pause, of four leases after the first failure and twice as long after
// each further one.
func (b *startBackoff) fail(lease, now time.Duration) {
	b.until.Store(int64(now + min(2*lease<<min(b.failures.Add(1), 5), maxBackoff)))
}

// succeed forgets the failures.
func (b *startBackoff) succeed() { b.failures.Store(0) }

// active reports whether the pause lasts.
func (b *startBackoff) active(now time.Duration) bool { return now < time.Duration(b.until.Load()) }
