package modeltest_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// onCommit checks a durable commit against the model and applies it to the model's state.
func (m *model) onCommit(c commit.Change, events []event.Event, now time.Time) {
	t := m.tenants[c.Workspace]
	for i, e := range events {
		if e.Offset != uint64(len(t.log))+1 {
			m.addFault("event %d of %s has offset %d", len(t.log)+1, t.id, e.Offset)
		}
		t.log = append(t.log, logged{c.Events[i].ID, c.Events[i].Subject, c.Events[i].Type})
	}
	if len(c.Events) > 0 {
		now = c.Events[0].CreatedAt // time of the change, not of its commit
	}
	x := parseChange(c)
	b := m.campaignOf(x)
	if b == nil {
		return
	}
	if x.row != nil {
		m.checkStatusChange(b, x.row, now)
	}
	if x.progress != nil && x.progress.Total > len(b.contacts) {
		b.contacts = append(b.contacts, b.addedContacts(x.progress.Total)...)
	}
	for _, p := range x.pages {
		m.checkPage(b, &x, p, now)
	}
	if n := len(x.opened) + len(x.closed); n > 0 {
		m.addFault("%s: %d attempts opened or closed without a change of their contact", b.row.ID, n)
	}
	for _, r := range x.ledger {
		if t.ledger[r.AttemptID] {
			m.addFault("%s is in the ledger twice", r.AttemptID)
		}
		t.ledger[r.AttemptID] = true
	}
	if x.progress != nil {
		b.progress = *x.progress
		m.checkCounters(b, x.progress)
	}
}

// campaignOf returns the campaign that a commit changes, or nil if the commit changes none.
func (m *model) campaignOf(x change) *campaignModel {
	switch {
	case x.progress != nil:
		return m.byID[x.progress.CampaignID]
	case x.row != nil:
		return m.byID[x.row.ID]
	}
	return nil
}

// addedContacts returns the contacts beyond the known ones, up to total. An upload during the run has added them.
func (b *campaignModel) addedContacts(total int) []contactModel {
	var out []contactModel
	for i := len(b.contacts); i < total; i++ {
		out = append(out, contactModel{Contact: addedContact(b.row.ID, i)})
	}
	return out
}

// checkStatusChange checks a new version of the campaign record. Each status change needs a valid reason.
func (m *model) checkStatusChange(b *campaignModel, row *domain.Campaign, now time.Time) {
	from, to := b.row.Status, row.Status
	asked := func(k stepKind) bool { _, ok := b.requests[k]; return ok }
	ok := true
	switch {
	case from == to:
	case to == domain.CampaignRunning && from == domain.CampaignScheduled:
		ok = !now.Before(*row.Schedule.Start)
	case to == domain.CampaignRunning, to == domain.CampaignScheduled:
		ok = from == domain.CampaignDraft && asked(begin) || from == domain.CampaignPaused && asked(resume)
	case to == domain.CampaignPaused && row.PauseReason == "trunk_failures":
		bad, all := 0, 0
		for _, e := range b.ends {
			if now.Sub(e.at) <= 2*time.Minute+graceTime {
				all++
				if e.bad {
					bad++
				}
			}
		}
		ok = bad >= 3 && all >= 5
	case to == domain.CampaignPaused:
		ok = asked(pause)
	case to == domain.CampaignCancelled:
		ok = asked(cancel) && from != domain.CampaignCompleted
	case to == domain.CampaignCompleted && row.CompletionReason == "window_ended":
		ok = row.Schedule.End != nil && !now.Before(*row.Schedule.End)
	case to == domain.CampaignCompleted:
		ok = !slices.ContainsFunc(b.contacts, func(p contactModel) bool { return !p.state.Final() })
	}
	if !ok || from.Final() && from != to {
		m.addFault("%s went from %s to %s (%s%s) without a reason", row.ID, from, to, row.PauseReason, row.CompletionReason)
	}
	b.row = *row
	b.recordStatus(now)
}

// checkPage checks a page of contact states. Each changed contact must have made a valid state transition.
func (m *model) checkPage(b *campaignModel, x *change, p *domain.ContactPage, now time.Time) {
	for i := range p.States {
		ordinal := p.Index*domain.PageSize + i
		if ordinal >= len(b.contacts) {
			m.addFault("%s: a contact %d of %d", b.row.ID, ordinal, len(b.contacts))
			return
		}
		who, to, attempts := &b.contacts[ordinal], domain.ContactState(p.States[i]), int(p.Attempts[i])
		if who.state == to && who.attempts == attempts {
			continue
		}
		name := fmt.Sprintf("%s contact %d", b.row.ID[len(b.row.ID)-3:], ordinal)
		idle := who.state == domain.ContactPending || who.state == domain.ContactRetryWait
		switch {
		case idle && to == domain.ContactOpen:
			m.checkOpened(b, x, ordinal, attempts, name)
		case who.state == domain.ContactOpen:
			m.checkClosed(b, x, ordinal, to, attempts, name, now)
		case idle && to == domain.ContactSkipped && attempts == who.attempts:
			m.checkSkipped(b, x, ordinal, name)
		default:
			m.addFault("%s went from %s to %s", name, who.state, to)
		}
		who.state, who.attempts = to, attempts
		if r := x.results[ordinal]; r != nil && (r.State != to.String() || r.Attempts != attempts) {
			m.addFault("%s: its result says %s after %d attempts, its page %s after %d", name, r.State, r.Attempts, to, attempts)
		}
	}
}

func (m *model) checkOpened(b *campaignModel, x *change, ordinal, attempts int, name string) {
	who, a := &b.contacts[ordinal], x.opened[ordinal]
	delete(x.opened, ordinal)
	if a == nil {
		m.addFault("%s dials without an attempt", name)
		return
	}
	call := x.calls[a.CallID]
	switch {
	case a.Number != who.attempts+1 || attempts != a.Number || a.ID != domain.AttemptID(b.row.ID, ordinal, a.Number):
		m.addFault("%s: attempt %d (%s) after %d, %d in its page", name, a.Number, a.ID, who.attempts, attempts)
	case call == nil || call.Final() || call.To != who.Phone || call.WorkspaceID != b.tenant.id:
		m.addFault("%s: its call is not in the commit of its attempt", name)
	case x.begun[a.CallID] != 1:
		m.addFault("%s: %d times call.started", name, x.begun[a.CallID])
	case a.Boot != m.boot:
		m.addFault("%s: opened for another process", name)
	case m.remoteSide.calls[a.CallID] != nil:
		m.addFault("%s: a call that was rung before", name)
	}
	b.open[a.ID] = *a
}

// checkClosed checks the end of an attempt. The result of the call must determine the contact's new state.
func (m *model) checkClosed(b *campaignModel, x *change, ordinal int, to domain.ContactState, attempts int, name string, now time.Time) {
	who := &b.contacts[ordinal]
	id := domain.AttemptID(b.row.ID, ordinal, who.attempts)
	a, open := b.open[id]
	if !open || !x.closed[id] {
		m.addFault("%s: %s is not closed with its contact", name, id)
		return
	}
	delete(x.closed, id)
	delete(b.open, id)
	v, ok := m.checkVerdict(x.calls[a.CallID], a, name)
	if !ok {
		return
	}
	if x.over[a.CallID] != 1 {
		m.addFault("%s: %d times call.ended", name, x.over[a.CallID])
	}
	spent := who.attempts
	if v.uncounted {
		spent--
	} else {
		b.attempts++
		if v.reason != domain.ReasonInterrupted {
			b.tenant.billed++
		}
	}
	want, due := m.expectedState(b, v, spent, now)
	if to != want || attempts != spent {
		m.addFault("%s: %s after %d attempts once a call ended as %s, it should be %s after %d", name, to, attempts, v.reason, want, spent)
	}
	if r := x.results[ordinal]; to == domain.ContactRetryWait && (r == nil || r.RetryAt == nil || r.RetryAt.Before(due)) {
		m.addFault("%s: the time of its retry is not kept, or too early", name)
	}
	who.notBefore = due
	d, reported := x.reported[a.CallID]
	if reported == v.uncounted || reported && (d.Final != to.Final() || d.Attempts != spent || d.Outcome != v.outcome) {
		m.addFault("%s: campaign.call.completed says %+v (%v)", name, d, reported)
	}
	b.ends = append(b.ends, callEnd{now, v.reason == domain.ReasonTrunkError})
}

// checkVerdict checks that the stored result of a call matches the events at the remote side. It returns the matching row of
// the table of call results.
func (m *model) checkVerdict(c *domain.Call, a domain.Attempt, name string) (answerRow, bool) {
	if c == nil || !c.Final() {
		m.addFault("%s: the end of its call is not in the commit", name)
		return answerRow{}, false
	}
	rung := m.remoteSide.calls[a.CallID]
	switch {
	case c.EndedReason == domain.ReasonNotSent:
		if rung != nil {
			m.addFault("%s was rung, and its attempt closed as never sent", name)
		}
		return answerRow{reason: domain.ReasonNotSent, uncounted: true}, true
	case c.EndedReason == domain.ReasonInterrupted:
		if a.Boot == m.boot {
			m.addFault("%s: interrupted, though its process lives", name)
		}
		return answerRow{outcome: "failed", reason: domain.ReasonInterrupted, retryOn: "interrupted"}, true
	case rung == nil:
		m.addFault("%s: ended as %s and was never rung", name, c.EndedReason)
		return answerRow{}, false
	case rung.hungUp && c.EndedReason == domain.ReasonHangup:
		return answerRow{outcome: "completed", reason: domain.ReasonHangup}, true
	case rung.ended.IsZero() || c.EndedReason != rung.row.reason || domain.Outcome(c.Disposition) != rung.row.outcome:
		m.addFault("%s: the far end did %q, the call says %s, %s", name, rung.row.name, c.Disposition, c.EndedReason)
	}
	return rung.row, true
}

// expectedState returns the state that the contact must have after a call, and the earliest time of its next call.
func (m *model) expectedState(b *campaignModel, v answerRow, spent int, now time.Time) (domain.ContactState, time.Time) {
	retry := b.row.Retry
	wait := domain.ContactRetryWait
	var due time.Time
	switch {
	case v.uncounted && spent == 0:
		wait = domain.ContactPending
	case v.uncounted:
	case retry.Enabled && v.retryOn != "" && spent < retry.MaxAttempts && slices.Contains(retry.RetryOn, v.retryOn):
		due = now.Add(time.Duration(retry.IntervalHours * float64(time.Hour)))
	default:
		return stateOf(v.outcome), due
	}
	if b.row.Status.Final() {
		if v.uncounted {
			return domain.ContactCancelled, due
		}
		return stateOf(v.outcome), due
	}
	return wait, due
}

func stateOf(o domain.Outcome) domain.ContactState {
	return map[domain.Outcome]domain.ContactState{
		"completed": domain.ContactCompleted, "confirmed": domain.ContactConfirmed, "declined": domain.ContactDeclined,
		"voicemail": domain.ContactVoicemail, "no_answer": domain.ContactNoAnswer, "busy": domain.ContactBusy, "failed": domain.ContactFailed,
	}[o]
}

func (m *model) checkSkipped(b *campaignModel, x *change, ordinal int, name string) {
	who := &b.contacts[ordinal]
	_, listed := b.tenant.forbidden[who.Phone]
	b.skipped++
	switch r := x.results[ordinal]; {
	case r == nil:
		m.addFault("%s: skipped without a result", name)
	case r.Reason == "dnc" && listed, r.Reason == "invalid" && len(who.Phone) < 8:
	default:
		m.addFault("%s: skipped as %s without a reason", name, r.Reason)
	}
}
