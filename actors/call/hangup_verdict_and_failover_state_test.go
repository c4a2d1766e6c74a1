package call

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
)

func TestHangupVerdictNamesOutcomeReasonAndParty(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		hangup  hangup
		ended   sip.Ended
		outcome domain.Outcome
		reason  domain.Reason
		by      string
	}{
		"the peer hangs up":         {outcome: domain.OutcomeCompleted, reason: domain.ReasonRemoteHangup, by: byRemote},
		"the peer breaks SIP":       {ended: sip.Ended{Fault: true}, outcome: domain.OutcomeFailed, reason: domain.ReasonProtocol, by: byRemote},
		"the agent hangs up":        {hangup: hangup{by: byAgent, reason: domain.ReasonCompleted}, outcome: domain.OutcomeCompleted, reason: domain.ReasonCompleted, by: byAgent},
		"our reason precedes fault": {hangup: hangup{by: byAPI, reason: domain.ReasonHangup}, ended: sip.Ended{Fault: true}, outcome: domain.OutcomeCompleted, reason: domain.ReasonHangup, by: byAPI},
		"the API cancels":           {hangup: hangup{by: byAPI, reason: domain.ReasonCancelled}, outcome: domain.OutcomeCancelled, reason: domain.ReasonCancelled, by: byAPI},
		"the media fails":           {hangup: hangup{by: byService, reason: domain.ReasonMediaRefused}, outcome: domain.OutcomeFailed, reason: domain.ReasonMediaRefused, by: byService},
		"an internal error":         {hangup: hangup{by: byService, reason: domain.ReasonInternal}, outcome: domain.OutcomeFailed, reason: domain.ReasonInternal, by: byService},
	}
	for name, c := range cases {
		v, by := c.hangup.verdict(c.ended)
		assert.Equal(t, []any{c.outcome, c.reason, c.by}, []any{v.Outcome, v.Reason, by}, name)
	}
}

func TestFailoverOffersOtherCodecsOnce(t *testing.T) {
	t.Parallel()
	f := failover{codecs: []media.Codec{media.PCMU}}
	assert.True(t, f.offerOtherCodecs())
	assert.Equal(t, []media.Codec{media.PCMA}, f.codecs)
	assert.False(t, f.offerOtherCodecs())
}

func TestFailoverLimitsTheWaitOfAThrottledCall(t *testing.T) {
	t.Parallel()
	var f failover
	now := time.Unix(1000, 0)
	assert.True(t, f.keepTrying(now))
	assert.True(t, f.keepTrying(now.Add(throttleWait-time.Second)))
	assert.False(t, f.keepTrying(now.Add(throttleWait)))
}

func TestFailoverUsesTheTargetOfARedirect(t *testing.T) {
	t.Parallel()
	f := failover{tried: []string{"a"}}
	s := trunk.Slot{Key: "b"}
	f.useSlot(&s)
	assert.Equal(t, []string{"a", "b"}, f.tried)
	f.redirect = &redirect{target: resolve.Target{Host: "192.0.2.7"}}
	s = trunk.Slot{Key: "c"}
	f.useSlot(&s)
	assert.Equal(t, "192.0.2.7", s.Target.Host)
	assert.Equal(t, []string{"a", "b"}, f.tried, "the redirect belongs to the slot before")
	assert.True(t, f.isSameTrunk(domain.Verdict{}))
}

func TestAgentResumesWhenNoPauseReasonRemains(t *testing.T) {
	t.Parallel()
	var a agent
	a.pause(nil, pausedByTransfer)
	a.pause(nil, pausedByHold)
	a.resume(nil, pausedByTransfer, true)
	assert.Equal(t, uint8(pausedByHold), a.pausedBy)
	assert.True(t, a.transferred, "stored until the conversation continues")
	a.resume(nil, pausedByHold, false)
	assert.Zero(t, a.pausedBy)
}
