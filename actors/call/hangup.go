package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// hangup is the progress of a hang-up by this side: the request of the API, the reason, and the BYE.
type hangup struct {
	requested     bool // the API has requested the hang-up
	requestReason domain.Reason
	by            string        // party that ends the answered call
	reason        domain.Reason // reason of the BYE from this side; "": no BYE was decided
	byeSent       bool          // false while the BYE is postponed or not needed
}

// verdict returns the verdict of an answered call whose dialog has ended, and the party that ended the call.
func (h *hangup) verdict(e sip.Ended) (v domain.Verdict, by string) {
	v = domain.Verdict{Outcome: domain.OutcomeCompleted, Reason: h.reason}
	switch {
	case h.reason == domain.ReasonInternal:
		v.Outcome, v.RetryOn = domain.OutcomeFailed, "failed"
	case h.reason == domain.ReasonCancelled:
		v.Outcome = domain.OutcomeCancelled
	case h.reason == domain.ReasonMediaRefused, h.reason == domain.ReasonAgentUnavailable:
		v.Outcome = domain.OutcomeFailed
	case h.reason == "" && e.Fault:
		return domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonProtocol, RetryOn: "failed"}, byRemote
	case h.reason == "":
		v.Reason = domain.ReasonRemoteHangup
		return v, byRemote
	}
	return v, h.by
}

// handleHangup handles a hang-up request of the API. An unanswered outbound call is ended with CANCEL.
func (c *call) handleHangup(ctx actor.Context, m HangUp) {
	if c.stage >= ending {
		ctx.Respond(domain.Errorf(domain.CodeInvalidState, "the call is over").With("current_status", c.call.Status))
		return
	}
	c.hangup.requested, c.hangup.requestReason = true, domain.ReasonHangup
	if m.Cancelled {
		c.hangup.requestReason = domain.ReasonCancelled
	}
	switch c.stage {
	case awaitingPermit, rerouting:
		c.refuseCaller(480)
		c.endCall(ctx, cancelled(), byAPI)
	case preparing, dialling:
		if c.alerting {
			c.refuseCaller(480)
			c.endCall(ctx, cancelled(), byAPI)
		} else if d := c.resources.Dialog(); d != nil {
			d.Cancel("hangup")
		} else if c.in == nil {
			c.resources.CancelInvite()
		}
	case talking:
		c.endAnswered(ctx, byAPI, c.hangup.requestReason)
	case resuming, ending, flushing, notifying: // a resumed call hangs up after its resumption
	}
	ctx.Respond(HangupStarted{}) // the hang-up cannot be lost from here on
}

func cancelled() domain.Verdict {
	return domain.Verdict{Outcome: domain.OutcomeCancelled, Reason: domain.ReasonCancelled}
}
