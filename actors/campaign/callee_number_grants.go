package campaign

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
)

// numberRepeat is the time after which a request to the numbers actor is repeated, because a restarted actor has lost it.
const numberRepeat = 2 * time.Second

// numberRequests requests the grants to call the numbers of attempts. It also checks that the numbers may still be called.
type numberRequests struct {
	cfg  *Config
	rows *storedRows
}

// checkEligibility reports whether the contact of an attempt may be called. If not, by is the rule that forbids it.
func (n *numberRequests) checkEligibility(t *pendingAttempt) (by SkipReason, ok bool) {
	if n.cfg.Check != nil {
		return n.cfg.Check(t.candidate.contact)
	}
	return by, true
}

// request requests a grant for the number of an attempt. Only the reply to the last request counts.
func (n *numberRequests) request(ctx actor.Context, t *pendingAttempt) {
	t.numberRequested = true
	t.numberRequest++
	t.numberRequestedAt = time.Now()
	ctx.Request(n.cfg.Numbers, numbers.RequestNumber{
		Generation: t.numberRequest,
		CallID:     t.callID, Number: t.candidate.contact.Phone, Environment: n.rows.campaign.Environment,
		Scrub: n.rows.scrub(), Exclusive: true, Until: t.permit.Expires,
	})
}

// giveBack returns the grant of a number that will not be called.
func (n *numberRequests) giveBack(ctx actor.Context, t *pendingAttempt) {
	if t.numberRequested {
		t.numberRequested = false
		ctx.Send(n.cfg.Numbers, numbers.ReleaseNumber{CallID: t.callID})
	}
}

// opened tells the numbers actor that the attempt for which it granted the number is committed.
func (n *numberRequests) opened(ctx actor.Context, t *pendingAttempt) {
	if t.numberRequested {
		ctx.Send(n.cfg.Numbers, numbers.AttemptCommitted{CallID: t.callID})
	}
}

// stillAllowed reports whether the contact of an attempt may be called now. Its calling hours must be open, and its number
// must not have been added to a do-not-call list since the grant.
func (n *numberRequests) stillAllowed(t *pendingAttempt, now time.Time) bool {
	return t.candidate.zone.window.Allows(now) && n.stillUnlisted(t)
}

func (n *numberRequests) stillUnlisted(t *pendingAttempt) bool {
	if _, ok := n.checkEligibility(t); !ok {
		return false
	}
	if n.cfg.DNCRegistry == nil || !t.numberRequested {
		return true
	}
	number, err := dnc.PackNumber(t.candidate.contact.Phone)
	return err == nil && n.cfg.DNCRegistry.IsStillUnlisted(n.cfg.Workspace, n.rows.scrub(), number, t.grant.Filters)
}

// uncount removes a call that reached no callee from the daily call count of its number. A call whose agent could not speak
// stays counted, because it reached the callee.
func (n *numberRequests) uncount(ctx actor.Context, e *call.Ended) {
	if n.cfg.Numbers != nil && !e.Verdict.SpendsAttempt() && e.Verdict.Reason != domain.ReasonAgentUnavailable {
		ctx.Send(n.cfg.Numbers, numbers.UncountAttempt{CallID: e.CallID, Number: e.Call.To, Environment: e.Call.Environment})
	}
}

// rulingOfDenial converts a denial of the numbers actor into a rule description for the decision log.
func rulingOfDenial(m numbers.NumberDenied) domain.Ruling {
	switch m.Reason {
	case numbers.DNC:
		r := domain.Ruling{Rule: ruleDNC}
		if m.Match != nil {
			r.Lists, r.Source = []string{m.Match.ListID}, m.Match.Origin.Source
		}
		return r
	case numbers.Frequency:
		return domain.Ruling{Rule: ruleFrequency, Count: m.DayCount, Limit: m.DayLimit}
	case numbers.Busy:
		return domain.Ruling{Rule: ruleLine}
	case numbers.Unknown:
	}
	return domain.Ruling{Rule: ruleUnknown}
}
