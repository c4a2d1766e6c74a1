package outcome_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/outcome"
)

func TestClassifyFinalResponses(t *testing.T) {
	v := func(o domain.Outcome, r domain.Reason, next domain.NextLeg, retry string) domain.Verdict {
		return domain.Verdict{Outcome: o, Reason: r, NextLeg: next, RetryOn: retry}
	}
	alert := func(v domain.Verdict) domain.Verdict { v.Alert = true; return v }
	busy := v("busy", "busy", 0, "busy")
	noAnswer := v("no_answer", "no_answer", 0, "no_answer")
	trunk := v("failed", "trunk_error", domain.NextLegOtherTarget, "failed")
	throttled := domain.Verdict{Outcome: "failed", Reason: "throttled", Throttled: true}
	invalid := v("failed", "invalid_number", 0, "")
	refused := alert(v("failed", "trunk_rejected", domain.NextLegOtherTarget, "failed"))
	media := v("failed", "media", domain.NextLegOtherCodecs, "")
	identity := alert(v("failed", "identity", domain.NextLegOtherTarget, ""))
	blocked := v("failed", "blocked", 0, "")
	table := map[int]domain.Verdict{
		486: busy, 600: busy, 480: noAnswer, 408: trunk, 500: trunk, 502: trunk, 503: trunk, 504: trunk,
		429: throttled, 404: invalid, 410: invalid, 484: invalid, 485: invalid, 604: invalid,
		401: refused, 403: refused, 407: refused, 603: v("failed", "rejected", 0, "rejected"), 607: blocked, 608: blocked,
		415: media, 488: media, 606: media, 428: identity, 436: identity, 437: identity, 438: identity,
	}
	for code := 300; code < 700; code++ {
		want, named := table[code]
		switch {
		case named:
		case code < 400:
			want = v("failed", "redirected", 0, "")
		default:
			want = v("failed", domain.Reason("sip_"+strconv.Itoa(code)), 0, "failed")
		}
		assert.Equal(t, want, outcome.Classify(outcome.Final{Code: code}), code)
	}
	for name, c := range map[string]struct {
		final outcome.Final
		want  domain.Verdict
	}{
		"no response":         {outcome.Final{NoResponse: true}, trunk},
		"transport":           {outcome.Final{TransportFailure: true}, trunk},
		"408 after ringing":   {outcome.Final{Code: 408, RangBefore: true}, noAnswer},
		"ring time-out":       {outcome.Final{Code: 487, RingTimeout: true}, noAnswer},
		"cancelled":           {outcome.Final{Code: 487, Cancelled: true}, v("cancelled", "cancelled", 0, "")},
		"503 with rate limit": {outcome.Final{Code: 503, MentionsRateLimit: true}, throttled},
		"403 with rate limit": {outcome.Final{Code: 403, MentionsRateLimit: true}, throttled},
		"603+":                {outcome.Final{Code: 603, Blocked: true}, blocked},
		"503 after ringing":   {outcome.Final{Code: 503, RangBefore: true}, trunk},
		"no final response":   {outcome.Final{}, trunk},
	} {
		assert.Equal(t, c.want, outcome.Classify(c.final), name)
	}
}
