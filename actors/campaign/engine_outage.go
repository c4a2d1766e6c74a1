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

// Intervals between probes of the agent's speech engines and language model, and the time limit of one probe.
const (
	firstEngineProbe = 10 * time.Second
	maxEngineProbe   = 2 * time.Minute
	engineProbeLimit = 20 * time.Second
)

// engineOutage tracks a failure of the agent's speech engines or language model. The campaign starts no calls until a probe
// succeeds. Then it makes one call at a time until a call succeeds.
type engineOutage struct {
	failures  int       // consecutive failed calls and probes; calls that were live together count once
	until     time.Time // no call starts before this time
	recovered bool      // the engines have responded since the last failure
}

// callEnded counts a call that failed because of the engines. A successful call ends the outage.
func (o *engineOutage) callEnded(e *call.Ended, now time.Time) {
	switch {
	case e.Verdict.Reason == domain.ReasonAgentUnavailable:
		if !o.until.After(now) {
			o.addFailure(now)
		}
	case e.Call.AnsweredAt != nil && e.Verdict.SpendsAttempt():
		*o = engineOutage{}
	}
}

func (o *engineOutage) addFailure(now time.Time) {
	o.until, o.recovered = now.Add(min(firstEngineProbe<<min(o.failures, 8), maxEngineProbe)), false
	o.failures++
}

// probeDue reports whether a probe of the speech engines and the language model is due.
func (o *engineOutage) probeDue(now time.Time) bool {
	return o.failures > 0 && !o.recovered && !o.until.After(now)
}

// addProbeResult records whether the engines have responded to a probe.
func (o *engineOutage) addProbeResult(err error, now time.Time) {
	if err != nil {
		o.addFailure(now)
		return
	}
	o.until, o.recovered = time.Time{}, true
}

// engineProbeResult carries the result of a probe of the speech engines and the language model.
type engineProbeResult struct {
	incarnation uint64
	err         error
}

// Control implements mailbox.Control: a full mailbox accepts this message. At most one probe is in progress.
func (engineProbeResult) Control() {}

// probeEngines probes the speech engines and the language model when a probe is due. During an outage the campaign probes
// them instead of making a call.
func (a *Campaign) probeEngines(ctx actor.Context, now time.Time) {
	o := &a.feedback.engines
	if a.cfg.ProbeEngines == nil || a.script.current == nil || !o.probeDue(now) {
		return
	}
	o.until = now.Add(engineProbeLimit)
	probe, script, incarnation := a.cfg.ProbeEngines, a.script.current, a.incarnation
	mailbox.RunTask(ctx, engineProbeLimit, func(bound context.Context) any {
		return engineProbeResult{incarnation, probe(bound, script)}
	})
}

func (a *Campaign) onEngineProbe(m engineProbeResult, now time.Time) {
	if m.incarnation != a.incarnation || a.feedback.engines.failures == 0 {
		return
	}
	if m.err != nil {
		a.log.Warn("the engines of the agent do not answer; the campaign places no calls", slog.Any("error", m.err))
	}
	a.feedback.engines.addProbeResult(m.err, now)
}
