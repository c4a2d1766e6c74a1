package modeltest_test

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/outcome"
)

// answerRow is one row of the table of call results: the behaviour of the remote side and the result that the service has to
// record. It repeats the table of the production code on purpose.
type answerRow struct {
	name      string
	final     outcome.Final // for unanswered calls
	answered  bool
	outcome   domain.Outcome
	reason    domain.Reason
	retryOn   string // retry reason; "": no retry
	uncounted bool   // the attempt does not count
}

func answerTable() []answerRow {
	return []answerRow{
		{name: "talks", answered: true, outcome: "completed", reason: "completed"},
		{name: "hangs up", answered: true, outcome: "completed", reason: "remote_hangup"},
		{name: "confirms", answered: true, outcome: "confirmed", reason: "completed"},
		{name: "declines", answered: true, outcome: "declined", reason: "completed"},
		{name: "machine", answered: true, outcome: "voicemail", reason: "completed", retryOn: "voicemail"},
		{name: "486", final: outcome.Final{Code: 486}, outcome: "busy", reason: "busy", retryOn: "busy"},
		{name: "600", final: outcome.Final{Code: 600}, outcome: "busy", reason: "busy", retryOn: "busy"},
		{name: "480", final: outcome.Final{Code: 480}, outcome: "no_answer", reason: "no_answer", retryOn: "no_answer"},
		{name: "408 after 180", final: outcome.Final{Code: 408, RangBefore: true}, outcome: "no_answer", reason: "no_answer", retryOn: "no_answer"},
		{name: "rings for ever", final: outcome.Final{RingTimeout: true}, outcome: "no_answer", reason: "no_answer", retryOn: "no_answer"},
		{name: "silence", final: outcome.Final{NoResponse: true}, outcome: "failed", reason: "trunk_error", retryOn: "failed"},
		{name: "408", final: outcome.Final{Code: 408}, outcome: "failed", reason: "trunk_error", retryOn: "failed"},
		{name: "503", final: outcome.Final{Code: 503}, outcome: "failed", reason: "trunk_error", retryOn: "failed"},
		{name: "503 rate", final: outcome.Final{Code: 503, MentionsRateLimit: true}, outcome: "failed", reason: "throttled", uncounted: true},
		{name: "429", final: outcome.Final{Code: 429}, outcome: "failed", reason: "throttled", uncounted: true},
		{name: "404", final: outcome.Final{Code: 404}, outcome: "failed", reason: "invalid_number"},
		{name: "604", final: outcome.Final{Code: 604}, outcome: "failed", reason: "invalid_number"},
		{name: "403", final: outcome.Final{Code: 403}, outcome: "failed", reason: "trunk_rejected", retryOn: "failed"},
		{name: "603", final: outcome.Final{Code: 603}, outcome: "failed", reason: "rejected", retryOn: "rejected"},
		{name: "608", final: outcome.Final{Code: 608}, outcome: "failed", reason: "blocked"},
		{name: "488", final: outcome.Final{Code: 488}, outcome: "failed", reason: "media"},
		{name: "437", final: outcome.Final{Code: 437}, outcome: "failed", reason: "identity"},
		{name: "302", final: outcome.Final{Code: 302}, outcome: "failed", reason: "redirected"},
		{name: "499", final: outcome.Final{Code: 499}, outcome: "failed", reason: "sip_499", retryOn: "failed"},
	}
}

// verdict returns the verdict that the production code derives from this call result.
func (r answerRow) verdict() domain.Verdict {
	if !r.answered {
		return outcome.Classify(r.final)
	}
	return domain.Verdict{Outcome: r.outcome, Reason: r.reason, RetryOn: r.retryOn}
}

// simulatedCall is one INVITE that reached the remote side.
type simulatedCall struct {
	space, campaign, phone string
	ordinal, number        int
	call, attempt          string
	at                     time.Time
	row                    answerRow
	lasts                  time.Duration
	ended                  time.Time // zero: ringing or talking
	hungUp                 bool      // by the service, for a cancelled campaign
	isKnown                bool      // to the current process, as its own call or as one that it found open
	boot                   string
}

// remoteSide simulates the called parties of all calls. It outlives the simulated processes and remembers each call.
type remoteSide struct {
	seed  uint64
	rings []*simulatedCall
	calls map[string]*simulatedCall
}

// answerFor returns how a number answers its nth call, and after which time. The result depends only on the seed, the number
// and nth.
func (f *remoteSide) answerFor(phone string, nth int) (answerRow, time.Duration) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(phone + "#" + strconv.Itoa(nth)))
	r := rand.New(rand.NewPCG(f.seed, h.Sum64()))
	rows := answerTable()
	lasts := time.Duration(50+r.IntN(9000)) * time.Millisecond
	if r.IntN(10) == 0 {
		lasts *= 5
	}
	if r.IntN(3) == 0 {
		return rows[r.IntN(5)], lasts
	}
	return rows[r.IntN(len(rows))], lasts
}

func (f *remoteSide) callCount(phone string) int {
	n := 0
	for _, r := range f.rings {
		if r.phone == phone {
			n++
		}
	}
	return n
}

// liveCalls returns how many of the calls for which of returns true are ringing or answered now.
func (f *remoteSide) liveCalls(of func(*simulatedCall) bool) int {
	n := 0
	for _, r := range f.rings {
		if r.ended.IsZero() && r.isKnown && of(r) {
			n++
		}
	}
	return n
}

// callsSince counts the calls after t for which of returns true.
func (f *remoteSide) callsSince(t time.Time, of func(*simulatedCall) bool) int {
	n := 0
	for _, r := range slices.Backward(f.rings) {
		if !r.at.After(t) {
			break
		}
		if of(r) {
			n++
		}
	}
	return n
}
