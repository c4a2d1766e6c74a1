package campaign

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/lifecycle"
)

// operation is a requested change of the campaign's status. A commit contains at most one operation.
type operation struct {
	on     lifecycle.Operation
	hangup bool
	reason string
	sender *actor.PID // nil: an operation of the campaign itself
	rider  *commit.PendingAudit
}

func operationOf(m any) operation {
	switch m := m.(type) {
	case Start:
		return operation{on: lifecycle.Start, rider: m.Rider}
	case Pause:
		return operation{on: lifecycle.Pause, rider: m.Rider}
	case Resume:
		return operation{on: lifecycle.Resume, rider: m.Rider}
	case Cancel:
		return operation{on: lifecycle.Cancel, hangup: m.HangupActive, rider: m.Rider}
	}
	return operation{}
}

func (o operation) reply(ctx actor.Context, m any) {
	if o.sender != nil {
		ctx.Send(o.sender, m)
	}
}

// isStop reports whether the operation is an API request that stops calls. Even a full store accepts such a change.
func (o operation) isStop() bool {
	return o.sender != nil && (o.on == lifecycle.Pause || o.on == lifecycle.Cancel)
}

// hangUp ends the live calls if the operation is a cancellation with HangupActive.
func (o operation) hangUp(ctx actor.Context, calls *actor.PID, open *openAttempts) {
	if o.on != lifecycle.Cancel || !o.hangup {
		return
	}
	for _, id := range open.live() {
		ctx.Request(calls, call.HangUp{CallID: id, Cancelled: true})
	}
}

func (a *Campaign) onOperation(ctx actor.Context, op operation) {
	op.sender = ctx.Sender()
	switch {
	case a.phase == gone || len(a.requests.operations) >= maxOperations:
		op.reply(ctx, domain.Errorf(domain.CodeUnavailable, "the campaign cannot be changed right now; try again").With("retry_after", 2))
	case a.commits.storeDown && (!a.commits.storeFull || !op.isStop()):
		op.reply(ctx, a.commits.storeError())
	case a.commits.storeDown: // a full store accepts it
		a.requests.operations = append(a.requests.operations, op)
		a.load(ctx)
	default:
		a.requests.operations = append(a.requests.operations, op)
	}
}

// nextOperation removes and returns the first queued operation that changes the status. It replies to operations that are
// not allowed or change nothing. It returns nil if there is no such operation or the script is still being read.
func (a *Campaign) nextOperation(ctx actor.Context, now time.Time) (op *operation, to domain.CampaignStatus) {
	c := &a.rows.campaign
	for len(a.requests.operations) > 0 {
		op := a.requests.operations[0]
		start := c.Schedule.Start
		to, allowed, ok := lifecycle.NextCampaignStatus(c.Status, op.on, start != nil && c.Clock().RealTime(*start).After(now))
		switch {
		case !ok:
			op.reply(ctx, invalidState(c.Status, op.on, allowed))
		case to == c.Status:
			op.reply(ctx, a.statusObject(now))
			op.hangUp(ctx, a.cfg.Calls, &a.open)
		case op.sender == nil && !op.allowedBy(dialer.Next(a.view(now), now).Action):
		case to == domain.CampaignRunning && a.rows.progress.Total == 0 && c.AutoComplete:
			op.reply(ctx, domain.Errorf(domain.CodeNoContacts, "the campaign has no contacts"))
		case to == domain.CampaignRunning && a.script.current == nil:
			a.script.read(ctx, &a.cfg, a.rows.campaign, a.incarnation)
			return nil, to
		default:
			a.requests.operations = a.requests.operations[1:]
			return &op, to
		}
		a.requests.operations = a.requests.operations[1:]
	}
	return nil, c.Status
}

// allowedBy reports whether the dialer's current decision still supports an operation that the campaign itself requested.
func (o operation) allowedBy(do dialer.Action) bool {
	switch o.on {
	case lifecycle.Due:
		return do == dialer.StartRunning
	case lifecycle.Exhaust:
		return do == dialer.CompleteExhausted
	case lifecycle.Expire:
		return do == dialer.CompleteExpired
	case lifecycle.Start, lifecycle.Pause, lifecycle.Resume, lifecycle.Cancel, lifecycle.Trip:
	}
	return true
}

func (a *Campaign) onScriptRead(ctx actor.Context, m scriptRead) {
	if m.incarnation != a.incarnation {
		return
	}
	a.script.reading = false
	if m.err == nil {
		a.script.current = &m.script
		return
	}
	if domain.CodeOf(m.err) == "" {
		a.log.Warn("agent or pathway could not be read", slog.Any("error", m.err))
		a.onReadFailure(ctx)
		return
	}
	if len(a.requests.operations) == 0 {
		return
	}
	op := a.requests.operations[0]
	a.requests.operations = a.requests.operations[1:]
	op.reply(ctx, m.err)
	if op.sender == nil {
		a.log.Error("campaign cannot start", slog.Any("error", m.err))
		a.requests.operations = append(a.requests.operations, operation{on: lifecycle.Pause, reason: domain.PausedWithoutScript})
	}
}

// changeStatus adds a change of the campaign's status to the commit.
func (b *batch) changeStatus(op *operation, to domain.CampaignStatus, pinned bool) {
	b.operation = op
	b.addAuditEntry(op.rider)
	c, now := b.rows.campaign, b.startedAt
	from := c.Status
	c.Status, c.UpdatedAt, c.PauseReason = to, now, ""
	if c.Test != nil && c.Test.Since == nil && from == domain.CampaignDraft && !to.Final() {
		c.Test = &domain.TestMode{TimeFactor: c.Test.TimeFactor, Since: &now}
	}
	first := to == domain.CampaignRunning && c.StartedAt == nil
	if first {
		c.StartedAt = &now
		b.progress.ReportedAt = now
	}
	if to == domain.CampaignRunning && !pinned {
		b.pin = &domain.PinnedScript{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Script: *b.script}
	}
	b.campaign = &c
	switch to {
	case domain.CampaignRunning, domain.CampaignScheduled:
		if from == domain.CampaignPaused {
			b.addEvent(event.CampaignResumed, campaignData(&c, op))
		}
		if first {
			b.addEvent(event.CampaignStarted, campaignData(&c, op))
		}
	case domain.CampaignPaused:
		c.PauseReason = op.reason
		b.addEvent(event.CampaignPaused, campaignData(&c, op))
	case domain.CampaignCancelled:
		c.EndedAt = &now
		if n := b.progress.Remaining(); n > 0 {
			b.progress.Outcomes[domain.OutcomeCancelled] += n
			b.log = append(b.log, b.remainingDecision(domain.DecidedCancel, n))
		}
		b.progress.RetryWaiting = 0
		b.addEvent(event.CampaignCancelled, campaignData(&c, op))
	case domain.CampaignCompleted:
		c.EndedAt, c.CompletionReason = &now, domain.CompletedExhausted
		if op.on == lifecycle.Expire {
			c.CompletionReason = domain.CompletedWindowEnded
		}
		if n := b.progress.Remaining(); n > 0 {
			b.progress.Expired += n
			b.log = append(b.log, b.remainingDecision(domain.DecidedExpire, n))
		}
		b.progress.RetryWaiting = 0
	case domain.CampaignDraft:
	}
}

func campaignData(c *domain.Campaign, op *operation) event.CampaignData {
	return event.CampaignData{CampaignID: c.ID, Name: c.Name, Status: c.Status, Reason: op.reason}
}
