package campaign

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/lifecycle"
)

const maxOperations = 64 // that wait for their commit

// operation changes the campaign's state; one at a time rides in a commit.
type operation struct {
	on     lifecycle.Operation
	hangup bool
	reason string
	reply  *actor.PID // nil: the campaign's own
	rider  *commit.Rider
}

func operationOf(m any) operation {
	switch m := m.(type) {
	case Begin:
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

func (o operation) answer(ctx actor.Context, m any) {
	if o.reply != nil {
		ctx.Send(o.reply, m)
	}
}

func (a *Campaign) operate(ctx actor.Context, op operation) {
	op.reply = ctx.Sender()
	switch {
	case a.phase == gone || len(a.ops) >= maxOperations:
		op.answer(ctx, domain.Errorf(domain.CodeUnavailable, "the campaign cannot be changed right now; try again").With("retry_after", 2))
	case a.down && (!a.full || !op.stops()):
		op.answer(ctx, a.storeError())
	case a.down: // a full store takes it
		a.ops = append(a.ops, op)
		a.load(ctx)
	default:
		a.ops = append(a.ops, op)
	}
}

// stops says whether somebody asks for the end of dialling: that is written also to
// a full store.
func (o operation) stops() bool {
	return o.reply != nil && (o.on == lifecycle.Pause || o.on == lifecycle.Cancel)
}

// stops are the operations that wait and are written also to a full store.
func (a *Campaign) stops() (ops []operation) {
	if !a.full {
		return nil
	}
	for _, op := range a.ops {
		if op.stops() {
			ops = append(ops, op)
		}
	}
	a.ops = slices.DeleteFunc(a.ops, operation.stops)
	return ops
}

// own queues an operation of the campaign itself, once.
func (a *Campaign) own(on lifecycle.Operation, reason string) {
	same := func(op operation) bool { return op.on == on && op.reply == nil }
	if !slices.ContainsFunc(a.ops, same) && (a.flight == nil || a.flight.op == nil || !same(*a.flight.op)) {
		a.ops = append(a.ops, operation{on: on, reason: reason})
	}
}

// nextOperation is the first one that changes something; those that do not
// are answered. nil: none, or it waits for the script.
func (a *Campaign) nextOperation(ctx actor.Context, now time.Time) (op *operation, to domain.CampaignStatus) {
	for len(a.ops) > 0 {
		op := a.ops[0]
		start := a.campaign.Schedule.Start
		to, allowed, ok := lifecycle.Campaign(a.campaign.Status, op.on, start != nil && a.campaign.Clock().Moment(*start).After(now))
		switch {
		case !ok:
			op.answer(ctx, refusalOf(a.campaign.Status, op.on, allowed))
		case to == a.campaign.Status:
			op.answer(ctx, a.object(now))
			a.hangUp(ctx, op)
		case op.reply == nil && !a.stillDue(op.on, now):
		case to == domain.CampaignRunning && a.progress.Total == 0 && a.campaign.AutoComplete:
			op.answer(ctx, domain.Errorf(domain.CodeNoContacts, "the campaign has no contacts"))
		case to == domain.CampaignRunning && a.script == nil:
			a.readScript(ctx)
			return nil, to
		default:
			a.ops = a.ops[1:]
			return &op, to
		}
		a.ops = a.ops[1:]
	}
	return nil, a.campaign.Status
}

// stillDue asks again before the campaign acts on its own.
func (a *Campaign) stillDue(on lifecycle.Operation, now time.Time) bool {
	switch do := dialer.Next(a.view(now), now).Do; on {
	case lifecycle.Due:
		return do == dialer.Begin
	case lifecycle.Exhaust:
		return do == dialer.Exhaust
	case lifecycle.Expire:
		return do == dialer.Expire
	case lifecycle.Start, lifecycle.Pause, lifecycle.Resume, lifecycle.Cancel, lifecycle.Trip:
	}
	return true
}

// readScript asks for what the calls will speak; it is pinned by the commit
// that starts the campaign.
func (a *Campaign) readScript(ctx actor.Context) {
	if a.scripts {
		return
	}
	a.scripts = true
	ask, c, incarnation := a.cfg.Script, a.campaign, a.incarnation
	mailbox.Work(ctx, scriptLimit, func(bound context.Context) any {
		s, err := ask(bound, &c)
		return scripted{incarnation, s, err}
	})
}

func (a *Campaign) scripted(ctx actor.Context, m scripted) {
	if m.incarnation != a.incarnation {
		return
	}
	a.scripts = false
	if m.err == nil {
		a.script = &m.script
		return
	}
	if domain.CodeOf(m.err) == "" {
		a.log.Warn("agent or pathway could not be read", slog.Any("error", m.err))
		a.trouble(ctx)
		return
	}
	if len(a.ops) == 0 {
		return
	}
	op := a.ops[0]
	a.ops = a.ops[1:]
	op.answer(ctx, m.err)
	if op.reply == nil {
		a.log.Error("campaign cannot start", slog.Any("error", m.err))
		a.ops = append(a.ops, operation{on: lifecycle.Pause, reason: domain.PausedWithoutScript})
	}
}

// enact changes the state in a batch.
func (a *Campaign) enact(b *batch, op *operation, to domain.CampaignStatus, now time.Time) {
	b.op = op
	b.board(op.rider)
	c := a.campaign
	from := c.Status
	c.Status, c.UpdatedAt, c.PauseReason = to, now, ""
	if c.Test != nil && c.Test.Since == nil && from == domain.CampaignDraft && !to.Final() {
		c.Test = &domain.TestMode{TimeFactor: c.Test.TimeFactor, Since: &now}
	}
	first := to == domain.CampaignRunning && c.StartedAt == nil
	if first {
		c.StartedAt = &now
		b.progress.ToldAt = now
	}
	if to == domain.CampaignRunning && !a.pinned {
		b.pin = &domain.PinnedScript{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Script: *a.script}
	}
	b.campaign = &c
	switch to {
	case domain.CampaignRunning, domain.CampaignScheduled:
		if from == domain.CampaignPaused {
			b.tell(a, event.CampaignResumed, a.data(&c, op))
		}
		if first {
			b.tell(a, event.CampaignStarted, a.data(&c, op))
		}
	case domain.CampaignPaused:
		c.PauseReason = op.reason
		b.tell(a, event.CampaignPaused, a.data(&c, op))
	case domain.CampaignCancelled:
		c.EndedAt = &now
		if n := b.progress.Remaining(); n > 0 {
			b.progress.Outcomes[domain.OutcomeCancelled] += n
			b.decisions = append(b.decisions, a.leftBehind(domain.DecidedCancel, n, now))
		}
		b.progress.Waits = 0
		b.tell(a, event.CampaignCancelled, a.data(&c, op))
	case domain.CampaignCompleted:
		c.EndedAt, c.CompletionReason = &now, domain.CompletedExhausted
		if op.on == lifecycle.Expire {
			c.CompletionReason = domain.CompletedWindowEnded
		}
		if n := b.progress.Remaining(); n > 0 {
			b.progress.Expired += n
			b.decisions = append(b.decisions, a.leftBehind(domain.DecidedExpire, n, now))
		}
		b.progress.Waits = 0
	case domain.CampaignDraft:
	}
}

func (a *Campaign) data(c *domain.Campaign, op *operation) event.CampaignData {
	return event.CampaignData{CampaignID: c.ID, Name: c.Name, Status: c.Status, Reason: op.reason}
}

// hangUp ends the live calls of a campaign that was cancelled so.
func (a *Campaign) hangUp(ctx actor.Context, op operation) {
	if op.on != lifecycle.Cancel || !op.hangup {
		return
	}
	for _, t := range a.open {
		if !a.closing[t.row.ID] {
			ctx.Request(a.cfg.Calls, call.Hangup{CallID: t.row.CallID, Cancelled: true})
		}
	}
}
