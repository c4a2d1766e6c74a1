package campaign

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

// Intervals between probes of the engines, and the time limit of one probe.
const (
	firstEngineProbe = 10 * time.Second
	maxEngineProbe   = 2 * time.Minute
	engineProbeLimit = 20 * time.Second
)

// engineOutage remembers that the agents of the campaign could not speak, hear
// or think. The campaign places no call until the engines answer; then one call
// at a time.
type engineOutage struct {
	failures int       // calls and probes in a row that failed; calls that were live together count once
	until    time.Time // nobody is rung before
	answers  bool      // the engines have answered since the last failure
}

// ended notes the end of a call.
func (o *engineOutage) ended(e *call.Ended, now time.Time) {
	switch {
	case e.Verdict.Reason == domain.ReasonAgent:
		if !o.until.After(now) {
			o.failed(now)
		}
	case e.Call.AnsweredAt != nil && e.Verdict.Spent():
		*o = engineOutage{}
	}
}

func (o *engineOutage) failed(now time.Time) {
	o.until, o.answers = now.Add(min(firstEngineProbe<<min(o.failures, 8), maxEngineProbe)), false
	o.failures++
}

// engineProbeResult tells whether the engines answered.
type engineProbeResult struct {
	incarnation uint64
	err         error
}

// Control: there is one at a time.
func (engineProbeResult) Control() {}

// probeEngines asks the engines when a probe is due. During an outage it takes the
// place of a call.
func (a *Campaign) probeEngines(ctx actor.Context, now time.Time) {
	o := &a.engine
	if a.cfg.ProbeEngines == nil || a.script == nil || o.failures == 0 || o.answers || o.until.After(now) {
		return
	}
	o.until = now.Add(engineProbeLimit)
	answer, script, incarnation := a.cfg.ProbeEngines, a.script, a.incarnation
	mailbox.Work(ctx, engineProbeLimit, func(bound context.Context) any {
		return engineProbeResult{incarnation, answer(bound, script)}
	})
}

func (a *Campaign) probed(m engineProbeResult, now time.Time) {
	switch {
	case m.incarnation != a.incarnation || a.engine.failures == 0:
	case m.err != nil:
		a.log.Warn("the engines of the agent do not answer; the campaign places no calls", slog.Any("error", m.err))
		a.engine.failed(now)
	default:
		a.engine.until, a.engine.answers = time.Time{}, true
	}
}
