package dialer

import (
	"math"
	"time"

	"github.com/callboard/callboard/domain"
)

// CallResult holds the facts about an ended call attempt that adaptive pacing evaluates.
type CallResult struct {
	Answered    bool          // answered by a person or a machine
	Short       bool          // answered and hung up within shortSeconds
	Failed      bool          // failed by a fault of the trunk
	SlowestTurn time.Duration // the longest time that the callee waited for the agent's reply; 0: unknown
}

// ResultOf returns the CallResult of a call that has ended. v is the verdict on the call.
func ResultOf(c *domain.Call, v domain.Verdict) CallResult {
	r := CallResult{Answered: c.AnsweredAt != nil, SlowestTurn: time.Duration(c.SlowestTurnMs) * time.Millisecond}
	r.Short = r.Answered && v.Reason == domain.ReasonRemoteHangup && c.DurationSeconds < shortSeconds
	switch v.Reason { //nolint:exhaustive // other reasons say nothing about the trunk
	case domain.ReasonTrunkError, domain.ReasonThrottled, domain.ReasonTrunkRejected, domain.ReasonBlocked:
		r.Failed = !v.NoTarget
	}
	return r
}

// Limits and factors of adaptive pacing. A campaign that exceeds maxShortShare, maxFailedShare or maxTurnLatency, or
// falls below minAnswerRate, slows down.
const (
	shortSeconds   = 6
	maxShortShare  = 0.35            // share of short calls in the answered calls
	maxFailedShare = 0.15            // share of failed calls in the ended attempts
	minAnswerRate  = 0.5             // answer rate relative to the usual rate
	maxTurnLatency = 2 * time.Second // average of the calls' slowest turns

	evaluationInterval = 30 * time.Second
	minEvaluated       = 10 // attempts before the first evaluation
	minForUsual        = 50 // attempts before an answer rate counts as usual

	slowDownFactor = 0.7
	speedUpStep    = 0.1
	minShare       = 0.1
)

// AdaptivePacing adapts the pace of a campaign to the results of its calls. The pace slows down if many callees
// hang up at once, if calls fail, if fewer calls than usual are answered, or if the agent replies late. It recovers
// when results are good. The zero value is full pace; the pace never exceeds the configured limits.
type AdaptivePacing struct {
	reduction       float64 // 1 minus the used share of the pace
	intervalStart   time.Time
	ended           int
	answered        int // number of answered attempts
	short           int
	failed          int
	withLatency     int
	totalLatency    time.Duration
	usualAnswerRate float64 // moving average of the answer rate
	usualWeight     float64
}

// AddResult adds the result of an attempt. It reevaluates the share of the pace every evaluationInterval.
func (t *AdaptivePacing) AddResult(r CallResult, now time.Time) {
	if t.intervalStart.IsZero() {
		t.intervalStart = now
	}
	t.ended++
	if r.Answered {
		t.answered++
	}
	if r.Short {
		t.short++
	}
	if r.Failed {
		t.failed++
	}
	if r.SlowestTurn > 0 {
		t.withLatency++
		t.totalLatency += r.SlowestTurn
	}
	if t.ended >= minEvaluated && now.Sub(t.intervalStart) >= evaluationInterval {
		t.evaluate()
		t.intervalStart, t.ended, t.answered, t.short, t.failed, t.withLatency, t.totalLatency = now, 0, 0, 0, 0, 0, 0
	}
}

func (t *AdaptivePacing) evaluate() {
	share := 1 - t.reduction
	answers := float64(t.answered) / float64(t.ended)
	bad := float64(t.failed) > maxFailedShare*float64(t.ended) ||
		float64(t.short) > maxShortShare*float64(t.answered) ||
		t.withLatency > 0 && t.totalLatency/time.Duration(t.withLatency) > maxTurnLatency ||
		t.usualWeight >= minForUsual && answers < minAnswerRate*t.usualAnswerRate
	if bad {
		share = max(minShare, share*slowDownFactor)
	} else {
		share = min(1, share+speedUpStep)
	}
	t.reduction = 1 - share
	const memory = 500 // attempts that the moving average covers
	t.usualWeight = min(t.usualWeight+float64(t.ended), memory)
	t.usualAnswerRate += (answers - t.usualAnswerRate) * min(1, float64(t.ended)/t.usualWeight)
}

// Share returns the share of the configured pace that the campaign uses now, from 0.1 to 1.
func (t *AdaptivePacing) Share() float64 { return 1 - t.reduction }

// Adapt returns the pacing to apply now. In adaptive mode the limits are scaled by Share, to at least 1.
func (t *AdaptivePacing) Adapt(p domain.Pacing) domain.Pacing {
	if p.Mode != domain.PacingAdaptive {
		return p
	}
	p.CallsPerMinute = scaleLimit(p.CallsPerMinute, t.Share())
	p.MaxConcurrent = scaleLimit(p.MaxConcurrent, t.Share())
	return p
}

// scaleLimit returns share times the limit n, at least 1. The limit 0 means no limit and stays 0.
func scaleLimit(n int, share float64) int {
	if n <= 0 {
		return n
	}
	return min(n, max(1, int(math.Floor(float64(n)*share+1e-9))))
}
