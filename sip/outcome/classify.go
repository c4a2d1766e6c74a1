package outcome

import (
	"strconv"

	"github.com/callboard/callboard/domain"
)

// Classify returns the verdict on a failed leg, which decides about the call attempt and the contact. It implements the
// table of final SIP responses in API.md for every status code.
func Classify(f Final) domain.Verdict {
	switch {
	case f.Cancelled:
		return domain.Verdict{Outcome: domain.OutcomeCancelled, Reason: domain.ReasonCancelled}
	case f.RingTimeout:
		return verdictNoAnswer
	case f.CallsSuspended:
		return failed(domain.ReasonNotSent, "")
	case f.NoResponse, f.TransportFailure, f.Code < 300:
		return verdictTrunkError
	case f.Blocked:
		return failed(domain.ReasonBlocked, "")
	}
	return classifyCode(f)
}

var (
	verdictNoAnswer = domain.Verdict{
		Outcome: domain.OutcomeNoAnswer, Reason: domain.ReasonNoAnswer, RetryOn: "no_answer",
	}
	verdictTrunkError = domain.Verdict{
		Outcome: domain.OutcomeFailed, Reason: domain.ReasonTrunkError,
		NextLeg: domain.NextLegOtherTarget, RetryOn: "failed",
	}
	verdictThrottled = domain.Verdict{
		Outcome: domain.OutcomeFailed, Reason: domain.ReasonThrottled, Throttled: true,
	}
)

func failed(reason domain.Reason, retryOn string) domain.Verdict {
	return domain.Verdict{Outcome: domain.OutcomeFailed, Reason: reason, RetryOn: retryOn}
}

func classifyCode(f Final) domain.Verdict {
	switch f.Code {
	case 486, 600:
		return domain.Verdict{Outcome: domain.OutcomeBusy, Reason: domain.ReasonBusy, RetryOn: "busy"}
	case 480:
		return verdictNoAnswer
	case 408:
		if f.RangBefore {
			return verdictNoAnswer
		}
		return verdictTrunkError
	case 429:
		return verdictThrottled
	case 500, 502, 503, 504:
		if f.MentionsRateLimit {
			return verdictThrottled
		}
		return verdictTrunkError
	case 404, 410, 484, 485, 604:
		return failed(domain.ReasonInvalidNumber, "")
	case 401, 403, 407:
		if f.MentionsRateLimit {
			return verdictThrottled
		}
		v := failed(domain.ReasonTrunkRejected, "failed")
		v.NextLeg, v.Alert = domain.NextLegOtherTarget, true
		return v
	case 603:
		return failed(domain.ReasonRejected, "rejected")
	case 607, 608:
		return failed(domain.ReasonBlocked, "")
	case 415, 488, 606:
		v := failed(domain.ReasonMediaRefused, "")
		v.NextLeg = domain.NextLegOtherCodecs
		return v
	case 428, 436, 437, 438:
		v := failed(domain.ReasonIdentity, "")
		v.NextLeg, v.Alert = domain.NextLegOtherTarget, true
		return v
	}
	if f.Code >= 300 && f.Code < 400 {
		return failed(domain.ReasonRedirected, "")
	}
	return failed(sipReason(f.Code), "failed")
}

func sipReason(code int) domain.Reason {
	return domain.Reason("sip_" + strconv.Itoa(code))
}
