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

	maxConflicts = 8 // in a row that are read again at once; after those the store counts as failing
)

// commitPipeline is the way of the campaign's changes to the store: at most one commit is in flight, and meanwhile
// the next one gathers. After a failure the store is read again.
type commitPipeline struct {
	inFlight   *batch
	generation uint64        // of the reading or commit under way; random at first: answers to a predecessor carry another number
	lookahead  time.Duration // how long before its INVITE an attempt is prepared, from the time that commits take
	readAgain  bool          // the store has changed meanwhile
	conflicts  int           // in a row

	storeDown bool
	storeFull bool // the last commit found no room
	backoff   time.Duration
}

func newCommitPipeline() commitPipeline {
	return commitPipeline{generation: rand.Uint64(), lookahead: minLookahead, backoff: minBackoff} //nolint:gosec // no secret
}

// start sends a batch off; the answer carries the generation.
func (p *commitPipeline) start(b *batch) (generation uint64) {
	p.inFlight = b
	p.generation++
	return p.generation
}

// finish is the batch that an answer is for; nil: the answer is for an earlier one.
func (p *commitPipeline) finish(generation uint64) *batch {
	if generation != p.generation {
		return nil
	}
	b := p.inFlight
	p.inFlight = nil
	return b
}

// succeeded notes a durable batch. A store that was full has room again if it took more than the reserved kind of
// change.
func (p *commitPipeline) succeeded(b *batch) {
	p.conflicts, p.storeFull = 0, p.storeFull && b.change.Reserved
}

// measure adapts the lookahead to the time that a commit took.
func (p *commitPipeline) measure(took time.Duration) {
	p.lookahead = min(max((3*p.lookahead+2*took)/4, minLookahead), maxLookahead)
}

// conflicted notes a conflict. false: so many came in a row that the store counts as failing.
func (p *commitPipeline) conflicted() bool {
	p.conflicts++
	return p.conflicts <= maxConflicts
}

// storeAnswered ends the backoff.
func (p *commitPipeline) storeAnswered() { p.storeDown, p.backoff = false, minBackoff }

// nextBackoff is how long to wait before the store is read again: longer each time, with jitter.
func (p *commitPipeline) nextBackoff() time.Duration {
	d := p.backoff + rand.N(p.backoff/4+1) //nolint:gosec // jitter
	p.backoff = min(2*p.backoff, maxBackoff)
	return d
}

// storeError answers requests while the store fails.
func (p *commitPipeline) storeError() *domain.Error {
	if p.storeFull {
		return domain.StoreFull()
	}
	return domain.Errorf(domain.CodeUnavailable, "the store does not answer; try again").With("retry_after", 2)
}
