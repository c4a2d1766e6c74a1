package campaign

import (
	"maps"
	"slices"

	"github.com/callboard/callboard/domain"
)

// maxZonesNamed limits the number of time zones that the decision about all remaining contacts lists.
const maxZonesNamed = 32

// dialDecision returns the decision to call a contact, with its reasons.
func (b *batch) dialDecision(t *pendingAttempt) domain.Decision {
	c, now, local := &b.rows.campaign, b.startedAt, b.contacts.rules.HasLocalHours()
	closed, held := b.decisions.closedRuling(&t.candidate, local, now)
	rules := make([]domain.Ruling, 0, 6+len(b.decisions.held[t.candidate.ordinal]))
	if held {
		rules = append(rules, closed)
	}
	rules = append(rules, b.decisions.takeHolds(t.candidate.ordinal)...)
	rules = append(rules, domain.Ruling{Rule: ruleSchedule, Passed: true, Zone: c.Schedule.Timezone, Local: b.decisions.timeIn(c.Schedule.Timezone, now)})
	if h := c.Compliance.CallingHours; h.Start != h.End {
		rules = append(rules, b.decisions.hoursRuling(t.candidate.zone, local, now, true))
	}
	scrub := b.rows.scrub()
	rules = append(rules, domain.Ruling{Rule: ruleDestination, Passed: true, Country: t.candidate.country}, domain.Ruling{Rule: ruleDNC, Passed: true, Lists: scrub.Lists()})
	if g := &t.grant; g.DayLimit > 0 {
		rules = append(rules, domain.Ruling{Rule: ruleFrequency, Passed: true, Count: g.DayCount, Limit: g.DayLimit})
	}
	return domain.Decision{
		At: now, Ordinal: t.candidate.ordinal, Phone: t.candidate.contact.Phone, Verdict: domain.DecidedDial, Attempt: t.row.Number,
		CallID: t.callID, Rules: rules,
	}
}

// skipDecision returns the decision to skip a contact, with its reasons.
func (b *batch) skipDecision(s skippedContact) domain.Decision {
	return domain.Decision{
		At: b.startedAt, Ordinal: s.ordinal, Phone: s.phone, Verdict: domain.DecidedSkip,
		Attempt: int(b.contacts.attempts[s.ordinal]), Rules: append(b.decisions.takeHolds(s.ordinal), s.ruling),
	}
}

// removeDecision returns the decision to cancel a contact on request.
func (b *batch) removeDecision(r contactChange) domain.Decision {
	phone := r.phone
	if phone == "" {
		phone = b.contacts.cache.phoneOf(r.ordinal)
	}
	return domain.Decision{
		At: b.startedAt, Ordinal: r.ordinal, Phone: phone, Verdict: domain.DecidedCancel, Attempt: int(b.contacts.attempts[r.ordinal]),
		Rules: append(b.decisions.takeHolds(r.ordinal), domain.Ruling{Rule: ruleRemoved}),
	}
}

// remainingDecision returns one decision about the n contacts that still wait when the campaign ends. It lists up to
// maxZonesNamed time zones whose calling hours are closed at that time.
func (b *batch) remainingDecision(verdict string, n int) domain.Decision {
	c, now := &b.rows.campaign, b.startedAt
	d := domain.Decision{At: now, Verdict: verdict, Contacts: n, Rules: []domain.Ruling{{Rule: ruleCancelled}}}
	if verdict == domain.DecidedExpire {
		d.Rules[0] = domain.Ruling{Rule: ruleSchedule, Zone: c.Schedule.Timezone, Local: b.decisions.timeIn(c.Schedule.Timezone, now)}
		if c.Schedule.End != nil {
			end := c.Schedule.End.UTC()
			d.Rules[0].Last = &end
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.contacts.zones)) {
		if z := b.contacts.zones[key]; !z.isEmpty() && !z.window.Allows(now) && len(d.Rules) < maxZonesNamed {
			d.Rules = append(d.Rules, b.decisions.hoursRuling(z, b.contacts.rules.HasLocalHours(), now, false))
		}
	}
	return d
}

// putDecisions adds the decisions of the batch to the stored decision log. The hash of each page covers the page before it.
func (b *batch) putDecisions() {
	for from := 0; from < len(b.log); from += domain.DecisionsPerPage {
		page := &domain.DecisionPage{
			WorkspaceID: b.cfg.Workspace, CampaignID: b.rows.campaign.ID, Seq: b.progress.DecisionPages + 1, Prev: b.progress.DecisionHead,
			Decisions: b.log[from:min(from+domain.DecisionsPerPage, len(b.log))],
		}
		page.Hash = page.ComputeHash(b.cfg.DecisionLogKey)
		b.progress.DecisionPages, b.progress.DecisionHead = page.Seq, page.Hash
		b.put(page)
	}
}
