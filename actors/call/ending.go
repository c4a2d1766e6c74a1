package call

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// result collects outcome, end time and duration of a call that is ending or has ended.
type result struct {
	verdict        domain.Verdict // of the last refused leg, later of the call
	by             string
	at             time.Time
	talked         time.Duration // time since the answer by the monotonic clock
	waitingForLegs bool          // only transfer legs are still open
	ended          *Ended
}

// endCall ends a call whose dialog is over and requests the result of its conversation.
func (c *call) endCall(ctx actor.Context, v domain.Verdict, by string) {
	if c.stage >= ending {
		return
	}
	v = c.endTransfer(ctx, v)
	c.resources.setEnding()
	c.stage, c.result.verdict, c.result.by, c.result.at = ending, v, by, time.Now().UTC()
	if !c.answeredAt.IsZero() {
		c.result.talked = time.Since(c.answeredAt)
	}
	if c.timers.stopClock != nil {
		c.timers.stopClock()
	}
	if c.agent.conversation == nil {
		c.awaitTransferLegs(ctx)
		return
	}
	ctx.Send(c.agent.conversation, conversation.FinishConversation{})
	c.timers.schedule(ctx, finishTimeout, stageTimeout{stage: ending})
}

func (c *call) onConversationFinished(ctx actor.Context, m conversation.FinishReply) {
	if c.stage != ending {
		return
	}
	r := m.Result
	c.agent.segments, c.call.SlowestTurnMs = m.Segments, int(m.SlowestTurn.Milliseconds())
	c.call.Latency = domain.LatencyOf(m.Turns)
	c.call.Intent, c.call.Variables = r.Intent, r.Variables
	c.call.Outcome = &domain.CallOutcome{Notes: r.Notes}
	c.agent.appointments.SetOutcome(c.call.Outcome)
	switch {
	case m.AgentUnable && c.result.verdict.Reason == domain.ReasonRemoteHangup:
		c.result.verdict = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonAgentUnavailable}
	case c.result.verdict.Outcome == domain.OutcomeCompleted && r.Outcome != "":
		c.result.verdict.Outcome = r.Outcome
	}
	c.result.classifyMachine(c.call.AnsweredBy)
	c.awaitTransferLegs(ctx)
}

// checkFlushed reports the end of the call to the owner once all earlier commits are done. The events thus stay in order.
func (c *call) checkFlushed(ctx actor.Context) {
	if c.stage == flushing && c.commits.isIdle() {
		c.stage = notifying
		c.log.Info("call ended", slog.String("outcome", string(c.result.verdict.Outcome)), slog.String("reason", string(c.result.verdict.Reason)),
			slog.Int("legs", len(c.call.Legs)), slog.Int("seconds", c.call.DurationSeconds))
		c.result.ended.version = c.commits.version
		c.notifyOwner(ctx)
	}
}

func (c *call) notifyOwner(ctx actor.Context) {
	ctx.Request(c.owner, *c.result.ended)
	c.timers.stopRepeat = mailbox.SendAfter(ctx, repeatEndEvery, repeatEnd{})
}

func (c *call) onEndAcknowledged(ctx actor.Context) {
	if c.stage != notifying {
		return
	}
	c.resources.setAcknowledged()
	c.timers.stopAll()
	ctx.Poison(ctx.Self())
}

// onAgentEnded hangs up once the commit of the answer is stored. After a crash between the BYE and that commit, the call
// would count as interrupted. The wait is limited by answerStoreTimeout.
func (c *call) onAgentEnded(ctx actor.Context, m conversation.PathwayEnded) {
	c.agent.engineFailed = c.agent.engineFailed || m.AgentUnable
	if c.agent.leaving || c.commits.isIdle() {
		c.agentHangsUp(ctx)
		return
	}
	c.agent.leaving = true
	c.timers.schedule(ctx, answerStoreTimeout, m)
}

func (c *call) agentHangsUp(ctx actor.Context) {
	if c.agent.engineFailed {
		c.endAnswered(ctx, byService, domain.ReasonAgentUnavailable)
		return
	}
	c.endAnswered(ctx, byAgent, domain.ReasonCompleted)
}

// awaitTransferLegs makes the final record once all transfer legs have ended, at the latest after
// transferLegEndTimeout.
func (c *call) awaitTransferLegs(ctx actor.Context) {
	if c.stage != ending || c.result.waitingForLegs {
		return
	}
	c.result.waitingForLegs = true
	if len(c.transfers.ending) == 0 {
		c.makeFinalRecord(ctx)
		return
	}
	mailbox.SendAfter(ctx, transferLegEndTimeout, transferLegTimedOut{})
}

// transferLegTimedOut is the timer message that ends the wait of an ended call for its transfer legs.
type transferLegTimedOut struct{}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (transferLegTimedOut) Control() {}

// endAnswered hangs up an answered call for the given reason. Only the first reason counts.
func (c *call) endAnswered(ctx actor.Context, by string, reason domain.Reason) {
	if c.stage != talking || c.hangup.reason != "" {
		return
	}
	c.hangup.by, c.hangup.reason = by, reason
	c.resources.setEnding()
	alone := c.transfers.current != nil && c.transfers.current.referrerGone
	if !alone {
		c.sendBye(ctx)
	}
	if s := c.resources.Session(); s != nil {
		s.Close() // no audio follows a BYE; makeFinalRecord reads the statistics again
	}
	if alone {
		c.onDialogEnded(ctx, sip.Ended{ByRemote: true}) // the peer that sent the REFER has hung up already
	}
}

// sendBye sends the BYE. While another process may own the call, sendBye retries later: by then this process either is
// sure of its ownership or has handed over all calls.
func (c *call) sendBye(ctx actor.Context) {
	if c.cfg.isCutOff() && c.resources.isStored() { // another process could be resuming the call
		mailbox.SendAfter(ctx, byeRetryAfter, byeRetryDue{})
		return
	}
	if !c.hangup.byeSent {
		c.hangup.byeSent = true
		c.timers.schedule(ctx, byeTimeout, stageTimeout{stage: talking})
	}
	if d := c.resources.Dialog(); d != nil {
		d.Bye(16, string(c.hangup.reason))
	}
}

// onDialogEnded handles the end of the dialog, whichever side ended it.
func (c *call) onDialogEnded(ctx actor.Context, e sip.Ended) {
	switch {
	case c.stage == resuming:
		c.reportResumption(ctx, recovery.ResultRefused)
		c.endCall(ctx, interrupted(), byService)
		return
	case c.stage != talking:
		by := byRemote
		if c.hangup.requested {
			by = byAPI
		}
		c.endCall(ctx, cancelled(), by)
		return
	}
	v, by := c.hangup.verdict(e)
	c.endCall(ctx, v, by)
}
