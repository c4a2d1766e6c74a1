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

// row is one line of the table of final answers: what the far end does, and
// what that has to mean. It is written down again here on purpose.
type row struct {
	name    string
	final   outcome.Final // of a call that is not answered
	talks   bool
	outcome domain.Outcome
	reason  domain.Reason
	retryOn string // the word that allows another attempt; "" never
	free    bool   // the attempt does not count
}

func table() []row {
	return []row{
		{name: "talks", talks: true, outcome: "completed", reason: "completed"},
		{name: "hangs up", talks: true, outcome: "completed", reason: "remote_hangup"},
		{name: "confirms", talks: true, outcome: "confirmed", reason: "completed"},
		{name: "declines", talks: true, outcome: "declined", reason: "completed"},
		{name: "machine", talks: true, outcome: "voicemail", reason: "completed", retryOn: "voicemail"},
		{name: "486", final: outcome.Final{Code: 486}, outcome: "busy", reason: "busy", retryOn: "busy"},
		{name: "600", final: outcome.Final{Code: 600}, outcome: "busy", reason: "busy", retryOn: "busy"},
		{name: "480", final: outcome.Final{Code: 480}, outcome: "no_answer", reason: "no_answer", retryOn: "no_answer"},
		{name: "408 after 180", final: outcome.Final{Code: 408, RangBefore: true}, outcome: "no_answer", reason: "no_answer", retryOn: "no_answer"},
		{name: "rings for ever", final: outcome.Final{RingTimeout: true}, outcome: "no_answer", reason: "no_answer", retryOn: "no_answer"},
		{name: "silence", final: outcome.Final{NoResponse: true}, outcome: "failed", reason: "trunk_error", retryOn: "failed"},
		{name: "408", final: outcome.Final{Code: 408}, outcome: "failed", reason: "trunk_error", retryOn: "failed"},
		{name: "503", final: outcome.Final{Code: 503}, outcome: "failed", reason: "trunk_error", retryOn: "failed"},
		{name: "503 rate", final: outcome.Final{Code: 503, MentionsRateLimit: true}, outcome: "failed", reason: "throttled", free: true},
		{name: "429", final: outcome.Final{Code: 429}, outcome: "failed", reason: "throttled", free: true},
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

// verdict is what the service makes of it: the real table.
func (r row) verdict() domain.Verdict {
	if !r.talks {
		return outcome.Classify(r.final)
	}
	return domain.Verdict{Outcome: r.outcome, Reason: r.reason, RetryOn: r.retryOn}
}

// ring is one INVITE that reached the far end.
type ring struct {
	space, campaign, phone string
	ordinal, number        int
	call, attempt          string
	at                     time.Time
	row                    row
	lasts                  time.Duration
	ended                  time.Time // zero: it rings or talks
	hungUp                 bool      // by the service, for a cancelled campaign
	known                  bool      // to the process that runs: its own, or one that it found open
	boot                   string
}

// farEnd is everybody's telephone: it outlives the processes and remembers
// each call.
type farEnd struct {
	seed  uint64
	rings []*ring
	calls map[string]*ring
}

// answer is what a number does at its nth ring: drawn from the seed, whatever
// the order of things.
func (f *farEnd) answer(phone string, nth int) (row, time.Duration) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(phone + "#" + strconv.Itoa(nth)))
	r := rand.New(rand.NewPCG(f.seed, h.Sum64()))
	rows := table()
	lasts := time.Duration(50+r.IntN(9000)) * time.Millisecond
	if r.IntN(10) == 0 {
		lasts *= 5
	}
	if r.IntN(3) == 0 {
		return rows[r.IntN(5)], lasts
	}
	return rows[r.IntN(len(rows))], lasts
}

func (f *farEnd) times(phone string) int {
	n := 0
	for _, r := range f.rings {
		if r.phone == phone {
			n++
		}
	}
	return n
}

// live are the calls that ring or talk now.
func (f *farEnd) live(of func(*ring) bool) int {
	n := 0
	for _, r := range f.rings {
		if r.ended.IsZero() && r.known && of(r) {
			n++
		}
	}
	return n
}

// since counts the rings after a time.
func (f *farEnd) since(t time.Time, of func(*ring) bool) int {
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
