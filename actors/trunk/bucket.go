package trunk

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// How a trunk is punished for refusing: a throttled one waits from firstWait,
// doubling to lastWait, or as long as it asked for; a target that failed
// barAfter times in a row is tried last for barFor.
const (
	firstWait = time.Second
	lastWait  = time.Minute
	barAfter  = 3
	barFor    = 30 * time.Second
	maxWait   = 10 * time.Minute // of a Retry-After that a stranger may ask for
)

// bucket is one trunk's calls per second, channels and health.
type bucket struct {
	trunk    domain.Trunk
	channels int
	next     time.Time // the next call may leave then
	backoff  time.Time // no call before
	wait     time.Duration
	barred   map[string]time.Time // by target
	failed   map[string]int       // in a row, by target
	failures int                  // in a row, whatever the target
	answered uint64
	attempts uint64
	lastErr  string
}

func newBucket() *bucket {
	return &bucket{barred: make(map[string]time.Time), failed: make(map[string]int)}
}

// ready says why the trunk cannot take a call now, and until when.
func (b *bucket) ready(now time.Time) (until time.Time, why string) {
	switch {
	case b.backoff.After(now):
		return b.backoff, Throttled
	case b.trunk.MaxChannels > 0 && b.channels >= b.trunk.MaxChannels:
		return time.Time{}, Channels
	case b.next.After(now):
		return b.next, Throttled
	}
	return time.Time{}, ""
}

// take spends a channel and the trunk's next place in time. Places are evenly
// spaced: a pause earns no burst.
func (b *bucket) take(now time.Time) {
	b.channels++
	b.attempts++
	if b.trunk.CallsPerSecond > 0 {
		b.next = now.Add(time.Duration(float64(time.Second) / b.trunk.CallsPerSecond))
	}
}

// learn changes health by how a leg ended.
func (b *bucket) learn(m Result, now time.Time) {
	switch {
	case m.Answered:
		b.answered++
		b.well(m.Key)
	case m.Verdict.Throttled:
		b.wait = min(max(2*b.wait, firstWait), lastWait)
		b.backoff = now.Add(max(b.wait, min(m.Final.RetryAfter, maxWait)))
		b.lastErr = "throttled"
	case m.Verdict.Reason == domain.ReasonTrunkError || m.Verdict.Reason == domain.ReasonTrunkRejected:
		b.failures++
		b.failed[m.Key]++
		b.lastErr = string(m.Verdict.Reason) + " " + m.Final.Phrase
		if m.Final.RetryAfter > 0 {
			b.barred[m.Key] = now.Add(min(m.Final.RetryAfter, maxWait))
		} else if b.failed[m.Key] >= barAfter {
			b.barred[m.Key] = now.Add(barFor)
		}
	case m.Verdict.Reason == domain.ReasonCancelled || m.Verdict.Reason == domain.ReasonNotSent:
	default:
		b.well(m.Key) // busy, no answer, declined: the trunk did its work
	}
}

func (b *bucket) well(key string) {
	b.failures, b.wait, b.lastErr = 0, 0, ""
	delete(b.failed, key)
	delete(b.barred, key)
}

func (b *bucket) state(now time.Time) State {
	s := State{
		Channels: b.channels, Failures: b.failures, Answered: b.answered, Attempts: b.attempts,
		LastError: b.lastErr, Healthy: b.failures < barAfter && !b.backoff.After(now),
	}
	if b.backoff.After(now) {
		till := b.backoff
		s.BackoffTill = &till
	}
	return s
}
