package server

import (
	"sync/atomic"
	"time"
)

// maxBackoff is the longest pause after failed starts of shards.
const maxBackoff = time.Minute

// startBackoff delays the next start of a shard on a node where a start failed, so that another node can try. Times
// are durations since the start of the process. It is safe for concurrent use.
type startBackoff struct {
	failures atomic.Int32 // failures since the last success
	until    atomic.Int64
}

// fail begins a pause of four lease durations after the first failed start. Each further failure doubles the pause, up
// to maxBackoff.
func (b *startBackoff) fail(lease, now time.Duration) {
	b.until.Store(int64(now + min(2*lease<<min(b.failures.Add(1), 5), maxBackoff)))
}

// succeed records a successful start, so that the next failure begins with the shortest pause.
func (b *startBackoff) succeed() { b.failures.Store(0) }

// active reports whether the node still pauses after a failed start.
func (b *startBackoff) active(now time.Duration) bool { return now < time.Duration(b.until.Load()) }
