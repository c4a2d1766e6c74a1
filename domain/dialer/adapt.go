package dialer

import (
	"math"
	"time"

	"github.com/callboard/callboard/domain"
)

// Result is what the end of an attempt says about the pace.
type Result struct {
	Answered bool          // by a person or a machine
	Short    bool          // answered, and hung up at once
	Failed   bool          // the trunk could not do its work
	Slowest  time.Duration // the longest that the called waited for the agent's next word; 0: not known
}

// ResultOf reads a call that is over.
func ResultOf(c *domain.Call, v domain.Verdict) Result {
	r := Result{Answered: c.AnsweredAt != nil, Slowest: time.Duration(c.SlowestTurnMs) * time.Millisecond}
	r.Short = r.Answered && v.Reason == domain.ReasonRemoteHangup && c.DurationSeconds < shortSeconds
	switch v.Reason { //nolint:exhaustive // the others say nothing about the trunk
	case domain.ReasonTrunkError, domain.ReasonThrottled, domain.ReasonTrunkRejected, domain.ReasonBlocked:
		r.Failed = !v.NoTarget
	}
	return r
}

// What slows a campaign down whose pacing is adaptive.
const (
	shortSeconds = 6
	mostShort    = 0.35            // share of the answered
	mostFailed   = 0.15            // share of the ended
	leastAnswers = 0.5             // of the share that has been usual
	mostLatency  = 2 * time.Second // of the agent's words, on average of the calls' longest

	judgeEvery = 30 * time.Second
	judgeLeast = 10 // attempts, before anything is judged
	usualLeast = 50 // attempts, before a share of answers is usual

	slower = 0.7
	faster = 0.1
	least  = 0.1
)

// Tempo follows how a campaign's calls go: it slows down where many are hung
// up at once, fail, are answered more seldom than is usual, or where the agent
// answers late, and gets faster again where all is well. Zero is full pace. It
// only ever takes away from what the limits allow: nobody is rung ahead of a
// line that is free.
type Tempo struct {
	less   float64 // 1 less the share
	begun  time.Time
	ended  int
	good   int // answered
	short  int
	failed int
	timed  int
	waited time.Duration
	usual  float64 // share of answers, fading
	weight float64
}

// Ended notes the end of an attempt.
func (t *Tempo) Ended(r Result, now time.Time) {
	if t.begun.IsZero() {
		t.begun = now
	}
	t.ended++
	if r.Answered {
		t.good++
	}
	if r.Short {
		t.short++
	}
	if r.Failed {
		t.failed++
	}
	if r.Slowest > 0 {
		t.timed++
		t.waited += r.Slowest
	}
	if t.ended >= judgeLeast && now.Sub(t.begun) >= judgeEvery {
		t.judge()
		t.begun, t.ended, t.good, t.short, t.failed, t.timed, t.waited = now, 0, 0, 0, 0, 0, 0
	}
}

func (t *Tempo) judge() {
	share := 1 - t.less
	answers := float64(t.good) / float64(t.ended)
	bad := float64(t.failed) > mostFailed*float64(t.ended) ||
		float64(t.short) > mostShort*float64(t.good) ||
		t.timed > 0 && t.waited/time.Duration(t.timed) > mostLatency ||
		t.weight >= usualLeast && answers < leastAnswers*t.usual
	if bad {
		share = max(least, share*slower)
	} else {
		share = min(1, share+faster)
	}
	t.less = 1 - share
	const memory = 500 // attempts
	t.weight = min(t.weight+float64(t.ended), memory)
	t.usual += (answers - t.usual) * min(1, float64(t.ended)/t.weight)
}

// Share is how much of its pace the campaign uses, 0.1 to 1.
func (t *Tempo) Share() float64 { return 1 - t.less }

// Of is the pacing to keep now: the one that was set, or in adaptive mode less
// of it, at least one of each.
func (t *Tempo) Of(p domain.Pacing) domain.Pacing {
	if p.Mode != domain.PacingAdaptive {
		return p
	}
	p.CallsPerMinute = part(p.CallsPerMinute, t.Share())
	p.MaxConcurrent = part(p.MaxConcurrent, t.Share())
	return p
}

// part is a share of n, at least 1; 0 is no limit, and stays none.
func part(n int, share float64) int {
	if n <= 0 {
		return n
	}
	return min(n, max(1, int(math.Floor(float64(n)*share+1e-9))))
}
