package simulation

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Assumptions describe how called persons behave in a forecast. The rates are shares of the attempts from 0 to 1. The
// remaining attempts are not answered.
type Assumptions struct {
	Answer    float64       // share answered by a person
	Voicemail float64       // share answered by voicemail
	Busy      float64       // share of busy numbers
	Failed    float64       // share that the trunk cannot reach
	Ring      time.Duration // ring time before an answer
	Unheard   time.Duration // ring time without an answer
	Talk      time.Duration // average length with a person
	Message   time.Duration // average length with voicemail
}

// DefaultAssumptions returns the assumptions for a campaign without observed calls.
func DefaultAssumptions() Assumptions {
	return Assumptions{
		Answer: 0.35, Voicemail: 0.25, Busy: 0.08, Failed: 0.02,
		Ring: 12 * time.Second, Unheard: 30 * time.Second, Talk: 60 * time.Second, Message: 25 * time.Second,
	}
}

// drawAttempt draws a random result of the n-th attempt to reach a contact. Equal arguments give equal results. Ring
// times and call lengths vary from half to one and a half of their average.
func (a Assumptions) drawAttempt(seed, contact, n uint64) (v domain.Verdict, duration, talk time.Duration) {
	h := mixBits(seed ^ mixBits(contact<<8|n))
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

// mixBits returns a pseudo-random number for x, by one step of SplitMix64.
func mixBits(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func unitInterval(x uint64) float64 { return float64(x>>11) / (1 << 53) }
