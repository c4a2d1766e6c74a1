package campaign

import (
	"math/rand/v2"
	"time"

	"github.com/callboard/callboard/domain"
)

const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second

	minLookahead = 5 * time.Millisecond
	maxLookahead = 100 * time.Millisecond

	maxConflicts = 8 // consecutive conflicts with an immediate reload; then the store counts as failing
)

// commitPipeline commits the campaign's changes, one commit at a time. Changes collect while a commit is in progress. After
// a failed commit the campaign reads its state from the store again.
type commitPipeline struct {
	inFlight   *batch
	generation uint64        // of the current read or commit; random at first, so that replies to an earlier incarnation differ
	lookahead  time.Duration // how long before its INVITE an attempt is prepared, adapted to the duration of commits
	readAgain  bool          // the store has changed during the commit
	conflicts  int           // number of consecutive conflicts

	storeDown bool
	storeFull bool // the last commit found no space
	backoff   time.Duration
}

func newCommitPipeline() commitPipeline {
	return commitPipeline{generation: rand.Uint64(), lookahead: minLookahead, backoff: minBackoff} //nolint:gosec // no secret
}

// start records the batch that is being committed. The reply to the commit carries the returned generation.
func (p *commitPipeline) start(b *batch) (generation uint64) {
	p.inFlight = b
	p.generation++
	return p.generation
}

// finish returns the batch to whose commit the reply belongs. It returns nil if the reply is stale.
func (p *commitPipeline) finish(generation uint64) *batch {
	if generation != p.generation {
		return nil
	}
	b := p.inFlight
	p.inFlight = nil
	return b
}

// succeeded records a durable batch. If it needed no reserved space, the store is not full any more.
func (p *commitPipeline) succeeded(b *batch) {
	p.conflicts, p.storeFull = 0, p.storeFull && b.change.UsesReservedSpace
}

// measure adapts the lookahead, which is how early attempts are prepared, to the duration of a commit.
func (p *commitPipeline) measure(took time.Duration) {
	p.lookahead = min(max((3*p.lookahead+2*took)/4, minLookahead), maxLookahead)
}

// addConflict records a version conflict. After more than maxConflicts in a row it returns false, and the store then counts
// as failing.
func (p *commitPipeline) addConflict() bool {
	p.conflicts++
	return p.conflicts <= maxConflicts
}

// storeAnswered records that the store works again and resets the backoff.
func (p *commitPipeline) storeAnswered() { p.storeDown, p.backoff = false, minBackoff }

// nextBackoff returns the growing delay, with jitter, before the store is read again.
func (p *commitPipeline) nextBackoff() time.Duration {
	d := p.backoff + rand.N(p.backoff/4+1) //nolint:gosec // jitter
	p.backoff = min(2*p.backoff, maxBackoff)
	return d
}

// storeError is the reply to requests while the store fails.
func (p *commitPipeline) storeError() *domain.Error {
	if p.storeFull {
		return domain.StoreFull()
	}
	return domain.Errorf(domain.CodeUnavailable, "the store does not answer; try again").With("retry_after", 2)
}
