package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// hangup is the end of the dialog: what the API has requested, and our BYE.
type hangup struct {
	requested     bool // by the API
	requestReason domain.Reason
	by            string        // who ends the answered call
	reason        domain.Reason // of our BYE; "": none was decided
	byeSent       bool          // until then the BYE waits, or was not needed
}

// verdict is that of an answered call whose dialog has ended, and who ended it.
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

// handleHangup answers the API. Before the answer it sends a CANCEL.
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
	case resuming, ending, flushing, notifying: // a resumed call hangs up then
	}
	ctx.Respond(HangupStarted{}) // the request may count on it
}

func cancelled() domain.Verdict {
	return domain.Verdict{Outcome: domain.OutcomeCancelled, Reason: domain.ReasonCancelled}
}
