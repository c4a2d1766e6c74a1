package modeltest_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// committed is a change that is durable now.
func (m *model) committed(c commit.Change, events []event.Event, now time.Time) {
	t := m.tenants[c.Workspace]
	for i, e := range events {
		if e.Offset != uint64(len(t.log))+1 {
			m.fault("event %d of %s has offset %d", len(t.log)+1, t.id, e.Offset)
		}
		t.log = append(t.log, logged{c.Events[i].ID, c.Events[i].Subject, c.Events[i].Type})
	}
	if len(c.Events) > 0 {
		now = c.Events[0].CreatedAt // when the change was made, not when it became durable
	}
	x := takeApart(c)
	b := m.boardOf(x)
	if b == nil {
		return
	}
	if x.row != nil {
		m.moved(b, x.row, now)
	}
	if x.progress != nil && x.progress.Total > len(b.people) {
		b.people = append(b.people, b.grown(x.progress.Total)...)
	}
	for _, p := range x.pages {
		m.page(b, &x, p, now)
	}
	if n := len(x.opened) + len(x.closed); n > 0 {
		m.fault("%s: %d attempts opened or closed without a change of their contact", b.row.ID, n)
	}
	for _, r := range x.ledger {
		if t.ledger[r.AttemptID] {
			m.fault("%s is in the ledger twice", r.AttemptID)
		}
		t.ledger[r.AttemptID] = true
	}
	if x.progress != nil {
		b.progress = *x.progress
		m.sums(b, x.progress)
	}
}

// boardOf is the campaign of a commit; nil: it shows nothing of one yet.
func (m *model) boardOf(x change) *board {
	switch {
	case x.progress != nil:
		return m.byID[x.progress.CampaignID]
	case x.row != nil:
		return m.byID[x.row.ID]
	}
	return nil
}

// grown are the contacts that an upload has shown.
func (b *board) grown(total int) []person {
	var out []person
	for i := len(b.people); i < total; i++ {
		out = append(out, person{Contact: added(b.row.ID, i)})
	}
	return out
}

// moved is a new row of the campaign, with the reason that it must have.
func (m *model) moved(b *board, row *domain.Campaign, now time.Time) {
	from, to := b.row.Status, row.Status
	asked := func(k kind) bool { _, ok := b.asked[k]; return ok }
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
			if now.Sub(e.at) <= 2*time.Minute+grace {
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
		ok = !slices.ContainsFunc(b.people, func(p person) bool { return !p.state.Final() })
	}
	if !ok || from.Final() && from != to {
		m.fault("%s went from %s to %s (%s%s) without a reason", row.ID, from, to, row.PauseReason, row.CompletionReason)
	}
	b.row = *row
	b.note(now)
}

// page is a page of contacts: each that differs has taken a step.
func (m *model) page(b *board, x *change, p *domain.ContactPage, now time.Time) {
	for i := range p.States {
		ordinal := p.Index*domain.PageSize + i
		if ordinal >= len(b.people) {
			m.fault("%s: a contact %d of %d", b.row.ID, ordinal, len(b.people))
			return
		}
		who, to, attempts := &b.people[ordinal], domain.ContactState(p.States[i]), int(p.Attempts[i])
		if who.state == to && who.attempts == attempts {
			continue
		}
		name := fmt.Sprintf("%s contact %d", b.row.ID[len(b.row.ID)-3:], ordinal)
		idle := who.state == domain.ContactPending || who.state == domain.ContactRetryWait
		switch {
		case idle && to == domain.ContactOpen:
			m.opened(b, x, ordinal, attempts, name)
		case who.state == domain.ContactOpen:
			m.closed(b, x, ordinal, to, attempts, name, now)
		case idle && to == domain.ContactSkipped && attempts == who.attempts:
			m.skipped(b, x, ordinal, name)
		default:
			m.fault("%s went from %s to %s", name, who.state, to)
		}
		who.state, who.attempts = to, attempts
		if r := x.results[ordinal]; r != nil && (r.State != to.String() || r.Attempts != attempts) {
			m.fault("%s: its result says %s after %d attempts, its page %s after %d", name, r.State, r.Attempts, to, attempts)
		}
	}
}

func (m *model) opened(b *board, x *change, ordinal, attempts int, name string) {
	who, a := &b.people[ordinal], x.opened[ordinal]
	delete(x.opened, ordinal)
	if a == nil {
		m.fault("%s dials without an attempt", name)
		return
	}
	call := x.calls[a.CallID]
	switch {
	case a.Number != who.attempts+1 || attempts != a.Number || a.ID != domain.AttemptID(b.row.ID, ordinal, a.Number):
		m.fault("%s: attempt %d (%s) after %d, %d in its page", name, a.Number, a.ID, who.attempts, attempts)
	case call == nil || call.Final() || call.To != who.Phone || call.WorkspaceID != b.of.id:
		m.fault("%s: its call is not in the commit of its attempt", name)
	case x.begun[a.CallID] != 1:
		m.fault("%s: %d times call.started", name, x.begun[a.CallID])
	case a.Boot != m.boot:
		m.fault("%s: opened for another process", name)
	case m.far.calls[a.CallID] != nil:
		m.fault("%s: a call that was rung before", name)
	}
	b.open[a.ID] = *a
}

// closed is the end of an attempt: what the far end did decides what becomes
// of the contact.
func (m *model) closed(b *board, x *change, ordinal int, to domain.ContactState, attempts int, name string, now time.Time) {
	who := &b.people[ordinal]
	id := domain.AttemptID(b.row.ID, ordinal, who.attempts)
	a, open := b.open[id]
	if !open || !x.closed[id] {
		m.fault("%s: %s is not closed with its contact", name, id)
		return
	}
	delete(x.closed, id)
	delete(b.open, id)
	v, ok := m.verdict(x.calls[a.CallID], a, name)
	if !ok {
		return
	}
	if x.over[a.CallID] != 1 {
		m.fault("%s: %d times call.ended", name, x.over[a.CallID])
	}
	spent := who.attempts
	if v.free {
		spent--
	} else {
		b.attempts++
		if v.reason != domain.ReasonInterrupted {
			b.of.billed++
		}
	}
	want, due := m.fate(b, v, spent, now)
	if to != want || attempts != spent {
		m.fault("%s: %s after %d attempts once a call ended as %s, it should be %s after %d", name, to, attempts, v.reason, want, spent)
	}
	if r := x.results[ordinal]; to == domain.ContactRetryWait && (r == nil || r.RetryAt == nil || r.RetryAt.Before(due)) {
		m.fault("%s: the time of its retry is not kept, or too early", name)
	}
	who.due = due
	d, told := x.told[a.CallID]
	if told == v.free || told && (d.Final != to.Final() || d.Attempts != spent || d.Outcome != v.outcome) {
		m.fault("%s: campaign.call.completed says %+v (%v)", name, d, told)
	}
	b.ends = append(b.ends, end{now, v.reason == domain.ReasonTrunkError})
}

// verdict is how an attempt ended: the stored word has to be what happened.
func (m *model) verdict(c *domain.Call, a domain.Attempt, name string) (row, bool) {
	if c == nil || !c.Final() {
		m.fault("%s: the end of its call is not in the commit", name)
		return row{}, false
	}
	rung := m.far.calls[a.CallID]
	switch {
	case c.EndedReason == domain.ReasonNotSent:
		if rung != nil {
			m.fault("%s was rung, and its attempt closed as never sent", name)
		}
		return row{reason: domain.ReasonNotSent, free: true}, true
	case c.EndedReason == domain.ReasonInterrupted:
		if a.Boot == m.boot {
			m.fault("%s: interrupted, though its process lives", name)
		}
		return row{outcome: "failed", reason: domain.ReasonInterrupted, retryOn: "interrupted"}, true
	case rung == nil:
		m.fault("%s: ended as %s and was never rung", name, c.EndedReason)
		return row{}, false
	case rung.hungUp && c.EndedReason == domain.ReasonHangup:
		return row{outcome: "completed", reason: domain.ReasonHangup}, true
	case rung.ended.IsZero() || c.EndedReason != rung.row.reason || domain.Outcome(c.Disposition) != rung.row.outcome:
		m.fault("%s: the far end did %q, the call says %s, %s", name, rung.row.name, c.Disposition, c.EndedReason)
	}
	return rung.row, true
}

// fate is what has to become of a contact, and when it may be rung again.
func (m *model) fate(b *board, v row, spent int, now time.Time) (domain.ContactState, time.Time) {
	retry := b.row.Retry
	wait := domain.ContactRetryWait
	var due time.Time
	switch {
	case v.free && spent == 0:
		wait = domain.ContactPending
	case v.free:
	case retry.Enabled && v.retryOn != "" && spent < retry.MaxAttempts && slices.Contains(retry.RetryOn, v.retryOn):
		due = now.Add(time.Duration(retry.IntervalHours * float64(time.Hour)))
	default:
		return stateOf(v.outcome), due
	}
	if b.row.Status.Final() {
		if v.free {
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

func (m *model) skipped(b *board, x *change, ordinal int, name string) {
	who := &b.people[ordinal]
	_, listed := b.of.forbidden[who.Phone]
	b.skipped++
	switch r := x.results[ordinal]; {
	case r == nil:
		m.fault("%s: skipped without a result", name)
	case r.Reason == "dnc" && listed, r.Reason == "invalid" && len(who.Phone) < 8:
	default:
		m.fault("%s: skipped as %s without a reason", name, r.Reason)
	}
}
