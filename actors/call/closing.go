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

// over: no dialog is left. What the conversation has come to is asked for.
func (c *call) over(ctx actor.Context, v domain.Verdict, by string) {
	if c.stage >= closing {
		return
	}
	v = c.endTransfer(ctx, v)
	c.resources.setEnding()
	c.stage, c.verdict, c.endedBy, c.endedAt = closing, v, by, time.Now().UTC()
	if !c.answeredAt.IsZero() {
		c.lasted = time.Since(c.answeredAt)
	}
	if c.stopClock != nil {
		c.stopClock()
	}
	if c.conversation == nil {
		c.wrapUp(ctx)
		return
	}
	ctx.Send(c.conversation, conversation.Finish{})
	c.after(ctx, finishLimit, late{stage: closing})
}

func (c *call) finished(ctx actor.Context, m conversation.Finished) {
	if c.stage != closing {
		return
	}
	r := m.Result
	c.segments, c.call.SlowestTurnMs = m.Segments, int(m.Slowest.Milliseconds())
	c.call.Latency = domain.LatencyOf(m.Turns)
	c.call.Intent, c.call.Variables = r.Intent, r.Variables
	c.call.Outcome = &domain.CallOutcome{Notes: r.Notes}
	c.appointments.Tell(c.call.Outcome)
	switch {
	case m.Unable && c.verdict.Reason == domain.ReasonRemoteHangup:
		c.verdict = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonAgent}
	case c.verdict.Outcome == domain.OutcomeCompleted && r.Outcome != "":
		c.verdict.Outcome = r.Outcome
	}
	c.toMachine()
	c.wrapUp(ctx)
}

// settle closes the sound and makes the final record. A failure before any
// answer has no words of the pathway in it.
func (c *call) settle(ctx actor.Context) {
	if c.stage != closing {
		return
	}
	c.stage = flushing
	stats, had := c.resources.Close()
	talked := c.call.AnsweredAt != nil && !c.revival.failed
	if had && talked {
		c.call.Quality = qualityOf(stats)
		c.call.MediaIssue = cmp.Or(c.call.MediaIssue, stats.AudioIssue)
		c.record().Codec = stats.Codec
	}
	e := conclude(c.call, &c.attempt, ending{
		verdict: c.verdict, by: c.endedBy, at: c.endedAt, lasted: c.lasted, reached: c.reached, segments: c.segments, language: c.script.Language,
		publicURL: c.cfg.PublicURL, recorded: talked && had && stats.Recorded, talked: talked,
	})
	if c.script.Analysis.Wants() && talked && heardSomebody(c.segments) {
		e.Analysis = &domain.AnalysisDue{CallID: c.call.ID, WorkspaceID: c.call.WorkspaceID, LLM: c.script.LLM, Wanted: *c.script.Analysis}
	}
	e.Trace = c.trace(c.cfg.Traces, &e.Call)
	c.bill(ctx, &e)
	c.ended, c.call = &e, e.Call
	c.resources.setEnded(&e)
	c.flushed(ctx)
}

// flushed tells the end once everything before it is stored, so that no event
// overtakes another.
func (c *call) flushed(ctx actor.Context) {
	if c.stage == flushing && c.save.idle() {
		c.stage = telling
		c.log.Info("call ended", slog.String("outcome", string(c.verdict.Outcome)), slog.String("reason", string(c.verdict.Reason)),
			slog.Int("legs", len(c.call.Legs)), slog.Int("seconds", c.call.DurationSeconds))
		c.ended.version = c.save.version
		c.tell(ctx)
	}
}

func (c *call) tell(ctx actor.Context) {
	ctx.Request(c.owner, *c.ended)
	c.stopRepeat = mailbox.After(ctx, repeatEvery, repeat{})
}

func (c *call) acknowledged(ctx actor.Context) {
	if c.stage != telling {
		return
	}
	c.resources.setAcknowledged()
	c.stopRepeat()
	for _, stop := range c.timers {
		stop()
	}
	ctx.Poison(ctx.Self())
}

// after sends msg, a Control message, to this actor once d has passed, unless
// it is over by then: most wait for what comes much sooner.
func (c *call) after(ctx actor.Context, d time.Duration, msg any) {
	c.timers = append(c.timers, mailbox.After(ctx, d, msg))
}

// agentLeaves hangs up once the answer is stored: a crash behind the BYE would
// make of it a call that was cut off. A store that is down is not waited for.
func (c *call) agentLeaves(ctx actor.Context, m conversation.Over) {
	c.unable = c.unable || m.Unable
	if c.leaving || c.save.idle() {
		c.agentHangsUp(ctx)
		return
	}
	c.leaving = true
	c.after(ctx, leaveLimit, m)
}

func (c *call) agentHangsUp(ctx actor.Context) {
	if c.unable {
		c.bye(ctx, byService, domain.ReasonAgent)
		return
	}
	c.bye(ctx, byAgent, domain.ReasonCompleted)
}
