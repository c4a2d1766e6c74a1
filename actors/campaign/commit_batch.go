package campaign

import (
	"maps"
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/event"
)

// batch is one commit, with the data for the actions that follow once it is durable. Its methods read the components of
// the campaign. They change only the lists of skipped and changed contacts.
type batch struct {
	cfg       *Config
	rows      *storedRows
	script    *domain.Script
	contacts  *contactQueue
	decisions *decisionLog

	change       commit.Change
	campaign     *domain.Campaign // nil: the campaign's row is unchanged
	pin          *domain.PinnedScript
	progress     domain.Progress
	deltas       []contactDelta
	log          []domain.Decision
	opens        []*pendingAttempt
	ends         []call.Ended
	skips        []skippedContact
	changes      []contactChange
	operation    *operation
	auditEntries []*commit.PendingAudit
	startedAt    time.Time // start of the commit in UTC
	now          time.Time // startedAt with its monotonic clock reading
}

func newBatch(a *Campaign, now time.Time) *batch {
	b := &batch{
		cfg: &a.cfg, rows: &a.rows, script: a.script.current, contacts: a.contacts, decisions: a.decisions,
		progress: a.rows.progress, startedAt: now.UTC(), now: now,
	}
	b.change.Workspace = a.cfg.Workspace
	b.progress.Outcomes = maps.Clone(a.rows.progress.Outcomes)
	return b
}

func (b *batch) put(r domain.Record) { b.change.Puts = append(b.change.Puts, r) }

// addAuditEntry adds the audit log entry of an API request to the commit.
func (b *batch) addAuditEntry(r *commit.PendingAudit) {
	if r != nil {
		b.auditEntries = append(b.auditEntries, r)
		b.put(r.Entry())
	}
}

// addEvent adds an event about the campaign to the commit.
func (b *batch) addEvent(t event.Type, data any) {
	unit := b.rows.campaign.AgentID
	if unit == "" {
		unit = b.cfg.Workspace
	}
	b.change.Events = append(b.change.Events, event.Draft{
		ID: mailbox.NewID(domain.PrefixEvent), Type: t, CreatedAt: b.startedAt, WorkspaceID: b.cfg.Workspace,
		Environment: b.rows.campaign.Environment, SvcID: domain.UnitID(unit), Subject: b.rows.campaign.ID, Data: data,
	})
}

// status returns the status that the campaign has after the commit.
func (b *batch) status() domain.CampaignStatus {
	if b.campaign != nil {
		return b.campaign.Status
	}
	return b.rows.campaign.Status
}

// openAttempts adds new call attempts to the commit. Once it is durable, the first INVITE can be sent at sendTime, and the
// others follow at the given interval.
func (b *batch) openAttempts(attempts []*pendingAttempt, sendTime time.Time, interval time.Duration) {
	b.opens = attempts
	for i, t := range attempts {
		b.fillAttemptRows(t)
		number := t.row.Number
		d := contactDelta{ordinal: t.candidate.ordinal, state: domain.ContactOpen, attempts: byte(min(number, 255)), zone: t.candidate.zone} //nolint:gosec // bounded
		b.deltas = append(b.deltas, d)
		if number == 1 {
			b.progress.Attempted++
		}
		if t.candidate.retry {
			b.progress.RetryWaiting--
			b.put(&domain.ContactResult{
				CampaignID: b.rows.campaign.ID, WorkspaceID: b.cfg.Workspace, Ordinal: d.ordinal, State: d.state.String(),
				Attempts: number, CallID: t.callID, Duration: b.contacts.durations[d.ordinal],
			})
		}
		b.progress.InProgress++
		b.progress.LastOpenAt = sendTime.Add(interval * time.Duration(i)).UTC()
		b.change.Guards = append(b.change.Guards, commit.Absent(t.row.Key()))
		b.change.Guards = append(b.change.Guards, t.grant.Guards...)
		b.change.Puts = append(b.change.Puts, t.grant.Puts...)
		b.log = append(b.log, b.dialDecision(t))
		b.put(&t.row)
		b.put(&t.call)
		b.change.Events = append(b.change.Events, event.Draft{
			ID: mailbox.NewID(domain.PrefixEvent), Type: event.CallStarted, CreatedAt: b.startedAt, WorkspaceID: b.cfg.Workspace,
			Environment: t.call.Environment, SvcID: b.script.UnitID, Subject: t.callID, Data: event.NewCallData(&t.call),
		})
	}
}

// fillAttemptRows sets the fields of the call and attempt records from the contact and the granted trunk slot,
// before the batch commits them.
func (b *batch) fillAttemptRows(t *pendingAttempt) {
	c, next, now := &b.rows.campaign, &t.candidate, b.startedAt
	from := t.slot.From
	number := int(b.contacts.attempts[next.ordinal]) + 1
	id := domain.AttemptID(c.ID, next.ordinal, number)
	leg := domain.AttemptLeg{Number: 1, TrunkID: t.slot.Trunk().ID}
	if b.cfg.NewLeg != nil {
		leg = b.cfg.NewLeg(t.callID, &t.slot, next.contact.Phone, from) // derived from the call ID, because a returned attempt becomes another call
	}
	t.attemptRows = new(attemptRows)
	t.call = domain.Call{
		Meta: domain.Meta{
			ID: t.callID, Object: "call", WorkspaceID: c.WorkspaceID, Environment: c.Environment, CreatedAt: now, UpdatedAt: now,
		},
		Direction: domain.Outbound, From: from, To: next.contact.Phone, AgentID: c.AgentID, AgentVersion: b.script.Version, PathwayID: c.PathwayID,
		CampaignID: c.ID, ContactID: domain.ContactID(c.ID, next.ordinal), Status: domain.CallInitiated,
		Attempt: number, StartedAt: &now, Variables: map[string]string{}, Context: next.contact.Context, Record: true,
		Legs: []domain.Leg{{
			TrunkID: t.slot.Trunk().ID, Target: t.slot.Target.String(), SIPCallID: leg.SIPCallID, StartedAt: now,
		}},
	}
	t.row = domain.Attempt{
		ID: id, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CallID: t.callID, CampaignID: c.ID,
		Ordinal: next.ordinal, Number: number, Direction: domain.Outbound, Boot: b.cfg.Boot, OpenedAt: now,
		Legs: []domain.AttemptLeg{leg},
	}
	if b.cfg.Tariff != nil {
		t.row.Tariff = b.cfg.Tariff()
	}
}

// endAttempts adds the ends of calls to the commit: the final call, the contact's result, the counters and the billed cost.
func (b *batch) endAttempts(ends []call.Ended, open *openAttempts) {
	b.ends = ends
	for _, e := range ends {
		t := open.attempts[e.AttemptID]
		ordinal := t.row.Ordinal
		common := call.EndChange(e, b.startedAt)
		b.change.Guards = append(b.change.Guards, common.Guards...)
		b.change.Puts = append(b.change.Puts, common.Puts...)
		b.change.Adds = append(b.change.Adds, common.Adds...)
		b.change.Deletes = append(b.change.Deletes, common.Deletes...)
		b.change.Events = append(b.change.Events, common.Events...)

		spent := int(b.contacts.attempts[ordinal])
		b.progress.InProgress--
		if !e.Verdict.SpendsAttempt() {
			if spent--; spent == 0 {
				b.progress.Attempted--
			}
		} else {
			b.progress.Attempts++
		}
		after := b.transition(&e, spent)
		d := contactDelta{ordinal: ordinal, state: after.State, attempts: byte(spent), retryAt: after.RetryAt, duration: b.contacts.durations[ordinal], zone: t.zone} //nolint:gosec // 0 to 255
		if e.Call.AnsweredAt != nil {
			d.duration = e.Call.DurationSeconds
		}
		if !d.retryAt.IsZero() { // the delay is measured by the monotonic clock
			d.retryAt = b.now.Add(after.RetryAt.Sub(b.startedAt))
		}
		b.deltas = append(b.deltas, d)
		switch {
		case after.State == domain.ContactRetryWait:
			b.progress.RetryWaiting++
		case after.State.Final():
			b.progress.Outcomes[domain.Outcome(after.State.String())]++
		}
		b.put(b.result(&e, d))
		if e.Verdict.SpendsAttempt() {
			b.addEvent(event.CampaignCallCompleted, b.callCompleted(&e, after.State, spent))
			b.change.Events[len(b.change.Events)-1].Attributes = event.CallAttributes(&e.Call)
		}
	}
}

// transition returns the state that the contact gets after a call. Once the campaign has ended, there is no retry.
func (b *batch) transition(e *call.Ended, spent int) dialer.ContactTransition {
	f := dialer.TransitionAfter(e.Verdict, spent, b.rows.campaign.RealTimeRetry(), b.startedAt)
	if !b.status().Final() || f.State.Final() {
		return f
	}
	if e.Verdict.SpendsAttempt() {
		return dialer.ContactTransition{State: domain.ContactStateOf(e.Verdict.Outcome)}
	}
	return dialer.ContactTransition{State: domain.ContactCancelled}
}

func (b *batch) result(e *call.Ended, d contactDelta) *domain.ContactResult {
	r := &domain.ContactResult{
		CampaignID: b.rows.campaign.ID, WorkspaceID: b.cfg.Workspace, Ordinal: d.ordinal, State: d.state.String(),
		Attempts: int(d.attempts), CallID: e.CallID, Duration: d.duration,
	}
	if !d.retryAt.IsZero() {
		at := d.retryAt.UTC()
		r.RetryAt = &at
	}
	if !e.Verdict.SpendsAttempt() {
		return r
	}
	r.Outcome, r.Reason, r.Intent, r.EndedAt = e.Verdict.Outcome, e.Verdict.Reason, e.Call.Intent, e.Call.EndedAt
	if e.Call.Outcome != nil {
		r.Notes = e.Call.Outcome.Notes
		if r.Intent == "" {
			r.Intent = e.Call.Outcome.Intent
		}
	}
	return r
}

func (b *batch) callCompleted(e *call.Ended, s domain.ContactState, spent int) event.CampaignCallData {
	name, _ := e.Call.Context.Text("name")
	d := event.CampaignCallData{
		CampaignID: b.rows.campaign.ID, CallID: e.CallID, Contact: event.ContactData{Phone: e.Call.To, Name: name},
		Outcome: e.Verdict.Outcome, Reason: e.Verdict.Reason, AnsweredBy: e.Call.AnsweredBy, Attempts: spent, Final: s.Final(),
	}
	d.Progress.Completed, d.Progress.Remaining = b.progress.FinalContacts(), b.progress.Remaining()
	d.Progress.PercentComplete = b.progress.Percent()
	return d
}

// skipContacts closes contacts that a rule excludes from calling, and counts them as skipped.
func (b *batch) skipContacts(skips []skippedContact) {
	b.skips = skips
	for _, s := range skips {
		switch s.reason {
		case SkipDNC:
			b.progress.Skipped.DNC++
		case SkipHours:
			b.progress.Skipped.Hours++
		case SkipInvalid:
			b.progress.Skipped.Invalid++
		}
		b.log = append(b.log, b.skipDecision(s))
		b.closeContact(s.ordinal, domain.ContactSkipped, domain.Reason(s.reason))
	}
}

// closeContact gives a waiting contact its final state without a call.
func (b *batch) closeContact(ordinal int, state domain.ContactState, reason domain.Reason) {
	if b.contacts.state(ordinal) == domain.ContactRetryWait {
		b.progress.RetryWaiting--
	}
	d := contactDelta{ordinal: ordinal, state: state, attempts: b.contacts.attempts[ordinal]}
	b.deltas = append(b.deltas, d)
	at := b.startedAt
	b.put(&domain.ContactResult{
		CampaignID: b.rows.campaign.ID, WorkspaceID: b.cfg.Workspace, Ordinal: ordinal, State: d.state.String(),
		Reason: reason, Attempts: int(d.attempts), Duration: b.contacts.durations[ordinal], EndedAt: &at,
	})
}

// publishProgress adds the event campaign.progress, if it is due, and campaign.completed at the end. unpublished reports
// that something has changed since the last campaign.progress.
func (b *batch) publishProgress(unpublished bool) {
	status := b.status()
	if due, _ := dialer.CheckProgressReport(&b.progress, unpublished || len(b.deltas) > 0, b.startedAt); due && status == domain.CampaignRunning {
		b.progress.ReportedAt, b.progress.ReportedPercent = b.startedAt, int(b.progress.Percent())
		b.addEvent(event.CampaignProgress, event.ProgressData{
			Event: event.CampaignProgress, CampaignID: b.rows.campaign.ID, ProgressPercent: b.progress.Percent(),
			Outcomes: domain.NewStatusObject(&b.rows.campaign, &b.progress).Outcomes,
		})
		b.put(domain.NewProgressMark(&b.progress, b.startedAt))
	}
	if status.Final() && (b.campaign != nil || len(b.deltas) > 0) { // live calls may end after the campaign
		b.put(domain.NewProgressMark(&b.progress, b.startedAt))
	}
	if b.campaign != nil && status == domain.CampaignCompleted {
		b.addEvent(event.CampaignCompleted, domain.NewStatusObject(b.campaign, &b.progress))
	}
}

// complete adds the parts that every commit has: version guards, counters, pages of contact states, and logged decisions.
func (b *batch) complete(lastSent time.Time) {
	b.change.Guards = append(b.change.Guards,
		commit.Guard{Key: b.rows.campaign.Key(), Version: b.rows.campaignVersion}, commit.Guard{Key: b.rows.progress.Key(), Version: b.rows.progressVersion})
	pages := make(map[int]bool)
	for _, d := range b.deltas {
		pages[d.ordinal/domain.PageSize] = true
	}
	for i := range pages {
		b.put(b.contacts.page(&b.rows.campaign, i, b.deltas))
	}
	b.progress.LastOpenAt = later(b.progress.LastOpenAt, lastSent.UTC())
	b.progress.Cursor = b.contacts.cursor(b.progress.Cursor, b.deltas)
	b.putDecisions()
	progress := b.progress
	progress.Outcomes = maps.Clone(b.progress.Outcomes)
	b.put(&progress)
	if b.campaign != nil {
		row := *b.campaign
		b.put(&row)
	}
	if b.pin != nil {
		b.put(b.pin)
	}
}
