package simulation

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Assumptions are what the called do. The rates are shares of 0 to 1; what
// they leave of 1 does not answer.
type Assumptions struct {
	Answer    float64 // a person answers
	Voicemail float64
	Busy      float64
	Failed    float64       // the trunk cannot reach them
	Ring      time.Duration // until somebody answers
	Unheard   time.Duration // of ringing where nobody does
	Talk      time.Duration // with a person, on average
	Message   time.Duration // with a machine, on average
}

// DefaultAssumptions is assumed where nothing else is known.
func DefaultAssumptions() Assumptions {
	return Assumptions{
		Answer: 0.35, Voicemail: 0.25, Busy: 0.08, Failed: 0.02,
		Ring: 12 * time.Second, Unheard: 30 * time.Second, Talk: 60 * time.Second, Message: 25 * time.Second,
	}
}

// drawAttempt is how the n-th attempt of a contact ends: always alike for one seed.
// A length is drawn between half and one and a half of its average.
func (a Assumptions) drawAttempt(seed, who, n uint64) (v domain.Verdict, takes, talk time.Duration) {
	h := mixBits(seed ^ mixBits(who<<8|n))
	kind, length := unitInterval(h), 0.5+unitInterval(mixBits(h))
	last := func(average time.Duration) time.Duration { return time.Duration(length * float64(average)) }
	switch {
	case kind < a.Answer:
		talk = last(a.Talk)
		return domain.Verdict{Outcome: domain.OutcomeCompleted, Reason: domain.ReasonCompleted}, last(a.Ring) + talk, talk
	case kind < a.Answer+a.Voicemail:
		talk = last(a.Message)
		return domain.Verdict{Outcome: domain.OutcomeVoicemail, Reason: domain.ReasonCompleted, RetryOn: "voicemail"}, last(a.Ring) + talk, talk
	case kind < a.Answer+a.Voicemail+a.Busy:
		return domain.Verdict{Outcome: domain.OutcomeBusy, Reason: domain.ReasonBusy, RetryOn: "busy"}, 2 * time.Second, 0
	case kind < a.Answer+a.Voicemail+a.Busy+a.Failed:
		return domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonTrunkError, RetryOn: "failed"}, 5 * time.Second, 0
	}
	return domain.Verdict{Outcome: domain.OutcomeNoAnswer, Reason: domain.ReasonNoAnswer, RetryOn: "no_answer"}, a.Unheard, 0
}

// mixBits is a step of splitmix64.
func mixBits(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func unitInterval(x uint64) float64 { return float64(x>>11) / (1 << 53) }
