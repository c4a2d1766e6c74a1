package call

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

// result is how a call has ended.
type result struct {
	verdict    domain.Verdict // of the leg that was refused last, then of the call
	by         string
	at         time.Time
	talked     time.Duration // from the answer, by the monotonic clock
	concluding bool          // only transfer legs are waited for
	ended      *Ended
}

// endCall ends a call that has no dialog any more, and asks the conversation for its
// result.
func (c *call) endCall(ctx actor.Context, v domain.Verdict, by string) {
	if c.stage >= concluding {
		return
	}
	v = c.endTransfer(ctx, v)
	c.resources.setEnding()
	c.stage, c.result.verdict, c.result.by, c.result.at = concluding, v, by, time.Now().UTC()
	if !c.answeredAt.IsZero() {
		c.result.talked = time.Since(c.answeredAt)
	}
	if c.timers.stopClock != nil {
		c.timers.stopClock()
	}
	if c.agent.conversation == nil {
		c.wrapUp(ctx)
		return
	}
	ctx.Send(c.agent.conversation, conversation.Finish{})
	c.timers.after(ctx, finishLimit, stageTimeout{stage: concluding})
}

func (c *call) conversationFinished(ctx actor.Context, m conversation.Finished) {
	if c.stage != concluding {
		return
	}
	r := m.Result
	c.agent.segments, c.call.SlowestTurnMs = m.Segments, int(m.Slowest.Milliseconds())
	c.call.Latency = domain.LatencyOf(m.Turns)
	c.call.Intent, c.call.Variables = r.Intent, r.Variables
	c.call.Outcome = &domain.CallOutcome{Notes: r.Notes}
	c.agent.appointments.Tell(c.call.Outcome)
	switch {
	case m.Unable && c.result.verdict.Reason == domain.ReasonRemoteHangup:
		c.result.verdict = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonAgent}
	case c.result.verdict.Outcome == domain.OutcomeCompleted && r.Outcome != "":
		c.result.verdict.Outcome = r.Outcome
	}
	c.result.classifyMachine(c.call.AnsweredBy)
	c.wrapUp(ctx)
}

// concludeCall closes the media session and makes the final record. A call without an
// answer has no result of the pathway.
func (c *call) concludeCall(ctx actor.Context) {
	if c.stage != concluding {
		return
	}
	c.stage = flushing
	stats, had := c.resources.Close()
	talked := c.call.AnsweredAt != nil && !c.resumption.failed
	if had && talked {
		c.call.Quality = qualityOf(stats)
		c.call.MediaIssue = cmp.Or(c.call.MediaIssue, stats.AudioIssue)
		c.legRecord(c.leg).Codec = stats.Codec
	}
	e := conclude(c.call, &c.attempt, conclusion{
		verdict: c.result.verdict, by: c.result.by, at: c.result.at, lasted: c.result.talked, reached: c.reached, segments: c.agent.segments, language: c.script.Language,
		publicURL: c.cfg.PublicURL, recorded: talked && had && stats.Recorded, talked: talked,
	})
	if c.script.Analysis.Wants() && talked && callerSpoke(c.agent.segments) {
		e.Analysis = &domain.AnalysisDue{CallID: c.call.ID, WorkspaceID: c.call.WorkspaceID, LLM: c.script.LLM, Wanted: *c.script.Analysis}
	}
	e.Trace = c.takeTrace(c.cfg.Traces, &e.Call)
	c.reportCost(ctx, &e)
	c.result.ended, c.call = &e, e.Call
	c.resources.setEnded(&e)
	c.checkFlushed(ctx)
}

// checkFlushed reports the end once everything before it is stored, so that no event
// overtakes another.
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
	c.timers.stopRepeat = mailbox.After(ctx, repeatEndEvery, repeatEnd{})
}

func (c *call) endAcknowledged(ctx actor.Context) {
	if c.stage != notifying {
		return
	}
	c.resources.setAcknowledged()
	c.timers.stopAll()
	ctx.Poison(ctx.Self())
}

// agentEnded hangs up once the answer is stored: after a crash behind the BYE the
// call would count as interrupted. The wait is limited.
func (c *call) agentEnded(ctx actor.Context, m conversation.Over) {
	c.agent.unable = c.agent.unable || m.Unable
	if c.agent.leaving || c.commits.isIdle() {
		c.agentHangsUp(ctx)
		return
	}
	c.agent.leaving = true
	c.timers.after(ctx, leaveLimit, m)
}

func (c *call) agentHangsUp(ctx actor.Context) {
	if c.agent.unable {
		c.endAnswered(ctx, byService, domain.ReasonAgent)
		return
	}
	c.endAnswered(ctx, byAgent, domain.ReasonCompleted)
}

// wrapUp settles the call once no second leg is left, or has been waited for
// long enough.
func (c *call) wrapUp(ctx actor.Context) {
	if c.stage != concluding || c.result.concluding {
		return
	}
	c.result.concluding = true
	if len(c.transfers.ending) == 0 {
		c.concludeCall(ctx)
		return
	}
	mailbox.After(ctx, dropLimit, transferLegTimedOut{})
}

// transferLegTimedOut ends the wait of an ended call for its transfer legs.
type transferLegTimedOut struct{}

// Control admits it always.
func (transferLegTimedOut) Control() {}
