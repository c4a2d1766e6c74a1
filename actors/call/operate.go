package call

import (
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// alone: a call that is over has waited long enough for its second leg.
type alone struct{}

// Control admits it always.
func (alone) Control() {}

// besides is what a call hears beyond its own way from beginning to end.
func (c *call) besides(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case answerNow:
		if c.stage == preparing {
			c.pickUp(ctx, m.body)
		}
	case retrySave:
		c.save.retry(ctx)
	case conversation.Stands:
		c.stands(ctx, m)
	case conversation.Busy:
		c.resources.setBusy(m.On)
	case part, conversation.Rested, letGo, stay:
		c.parts(ctx, m)
	case keepOn:
		c.keepOn(ctx)
	case byeAgain:
		c.byeAgain(ctx)
	case reopenAgain:
		c.reopen(ctx)
	case unasked:
		c.unrevived(ctx, "no answer in time")
	case reopened:
		c.reopened(ctx, m)
	case reanswered:
		c.reanswered(ctx, m)
	case Listen:
		c.listen(ctx, m)
	case PauseRecording:
		c.pauseRecording(ctx, m)
	case conversation.Transfer:
		c.wanted(ctx, m)
	case conversation.Acted:
		c.acted(ctx, m)
	case conversation.Intent:
		c.meant(ctx, m)
	case conversation.HandedOver:
		c.handedOver(ctx, m)
	case conversation.Answerer:
		c.answererIs(ctx, m)
	case Transfer, Say, Press:
		c.operate(ctx, m)
	case reached, referred, summed, briefed, musicRead, alone:
		c.transferring(ctx, m)
	case cleared:
		c.cleared(ctx, m)
	case probed:
		c.probed(ctx, m)
	case transferleg.Prepared, transferleg.Ringing, transferleg.Answered, transferleg.Refused, transferleg.Ended, transferleg.MediaEvent, transferleg.DialogEvent:
		c.fromAside(ctx, m)
	}
}

// operate does what the API wants of a live call.
func (c *call) operate(ctx actor.Context, msg any) {
	var err error
	switch m := msg.(type) {
	case Transfer:
		err = c.handOn(ctx, m.Target, wish{mode: m.Mode, summary: m.Summary, kept: c.redactor().Text(m.Summary), by: byAPI})
	case Say:
		if err = c.talks(); err == nil && c.conversation != nil {
			ctx.Send(c.conversation, conversation.Speak{Text: m.Text})
		}
	case Press:
		if c.stage != talking || c.byeReason != "" {
			err = c.notNow("digits are sent in an answered call only")
			break
		}
		c.session.SendDigits(byOwn, m.Digits)
	}
	if err != nil {
		ctx.Respond(err)
		return
	}
	ctx.Respond(Done{Call: c.call})
}

func (c *call) notNow(text string) error {
	return domain.Errorf(domain.CodeInvalidState, "%s", text).With("current_status", c.call.Status)
}

// talks says whether the agent has the caller.
func (c *call) talks() error {
	switch {
	case c.stage != talking || c.byeReason != "":
		return c.notNow("the agent speaks in an answered call only")
	case c.away != 0:
		return c.notNow("somebody else has the caller now, or the caller is held")
	}
	return nil
}

// transferring is what the call tells itself of a transfer.
func (c *call) transferring(ctx actor.Context, msg any) {
	switch m := msg.(type) {
	case reached:
		c.found(ctx, m)
	case referred:
		c.referProgress(ctx, m)
	case summed:
		c.summed(ctx, m)
	case musicRead:
		c.musicRead(m)
	case briefed:
		if m.generation == c.asked {
			c.connect(ctx)
		}
	case alone:
		c.settle(ctx)
	}
}

func (c *call) fromAside(ctx actor.Context, msg any) {
	switch m := msg.(type) {
	case transferleg.Prepared:
		c.opened(ctx, m)
	case transferleg.Ringing:
		c.rings(ctx, m)
	case transferleg.Answered:
		c.answeredAside(ctx, m)
	case transferleg.Refused:
		c.refusedAside(ctx, m)
	case transferleg.Ended:
		c.overAside(ctx, m)
	case transferleg.MediaEvent:
		c.heardAside(ctx, m.Event)
	case transferleg.DialogEvent:
		c.signalAside(ctx, m.Event)
	}
}

// asideDied: the actor of a second leg failed. Its dialog is ended here.
func (c *call) asideDied(ctx actor.Context, who *actor.PID) bool {
	if t := c.transfer; t != nil && t.aside != nil && t.aside.Id == who.Id {
		t.resources.Release()
		c.closeSecond(t)
		if t.stage == bridged {
			t.aside = nil
			c.finishTransfer(ctx, domain.TransferReturned, string(domain.ReasonInternal))
			c.comeBack(ctx, awayTransfer, true)
			return true
		}
		t.aside = nil
		c.failTransfer(ctx, string(domain.ReasonInternal))
		return true
	}
	if t := c.leavers[who.Id]; t != nil {
		t.resources.Release()
		c.closeSecond(t)
		c.left(ctx, t)
		return true
	}
	if c.adopted != nil && c.adopted.Id == who.Id && c.stage == talking {
		c.bye(ctx, byService, domain.ReasonInternal)
		c.hungUp(ctx, sip.Ended{}) // nobody will tell its end
		return true
	}
	return false
}

// endTransfer closes the transfer under way, for the call is over.
func (c *call) endTransfer(ctx actor.Context, v domain.Verdict) domain.Verdict {
	t := c.transfer
	if t == nil {
		return v
	}
	switch {
	case t.stage == bridged:
		c.finishTransfer(ctx, domain.TransferCompleted, "")
	case t.stage == referring && t.accepted:
		c.finishTransfer(ctx, domain.TransferCompleted, "")
		if v.Reason == domain.ReasonRemoteHangup {
			v.Reason = domain.ReasonTransferred
		}
	default:
		if t.told != nil {
			t.told(487, "Request Terminated", true)
		}
		c.finishTransfer(ctx, domain.TransferFailed, string(v.Reason))
	}
	return v
}

// wrapUp settles the call once no second leg is left, or has been waited for
// long enough.
func (c *call) wrapUp(ctx actor.Context) {
	if c.stage != closing || c.summedUp {
		return
	}
	c.summedUp = true
	if len(c.leavers) == 0 {
		c.settle(ctx)
		return
	}
	mailbox.After(ctx, dropLimit, alone{})
}

// closeTransfers ends what is open in the record of a call that is over.
func closeTransfers(c *domain.Call, why domain.Reason, at time.Time) {
	c.Transfers = slices.Clone(c.Transfers)
	for i := range c.Transfers {
		if t := &c.Transfers[i]; t.EndedAt == nil {
			t.Status, t.Reason, t.EndedAt = domain.TransferFailed, string(why), &at
		}
	}
}

// farHeld: nobody listens while the far end holds us; the agent waits, and
// whoever it is joined with hears the music.
func (c *call) farHeld(ctx actor.Context, e media.Hold) {
	if t := c.transfer; t != nil && t.stage == bridged {
		c.amuse(t.resources.Session(), e.Deaf)
	}
	if e.Deaf {
		c.leave(ctx, awayHeld)
		return
	}
	c.comeBack(ctx, awayHeld, false)
}

// referredOn is a REFER of the far end: it is followed only where the agent
// allows it, by our own trunks, and within the rules for destinations.
func (c *call) referredOn(ctx actor.Context, e sip.Referred) {
	user, err := domain.ReferUser(e.To)
	if err != nil || !c.script.Transfer.AcceptRefer || c.stage != talking || c.transfer != nil || c.byeReason != "" {
		e.Refuse(sipForbidden)
		return
	}
	mode := domain.TransferBlind
	if e.Replaces != nil {
		mode = domain.TransferAttended
	}
	c.reach(ctx, Whom{To: user}, wish{mode: mode, by: byRemote, refer: &e})
}

// adopt takes the leg that a REFER of the far end asked for in the place of
// its own: the same sound, another far end.
func (c *call) adopt(ctx actor.Context) {
	t := c.transfer
	d := t.resources.ReplaceDialog(0, nil)
	if d == nil {
		return
	}
	old := c.resources.ReplaceDialog(t.leg, d)
	c.leg, c.adopted = t.leg, t.aside
	t.aside, t.leg = nil, 0
	t.told(sipOK, "OK", true)
	if old != nil && !t.referrerGone {
		old.Bye(16, "transferred")
	}
	c.finishTransfer(ctx, domain.TransferCompleted, "")
	c.leave(ctx, awayTransfer)
	c.comeBack(ctx, awayTransfer, true)
}

// formerOver: the dialog whose place another one took has ended.
func (c *call) formerOver(ctx actor.Context, leg int) {
	if leg < 1 || leg > len(c.call.Legs) || leg > len(c.attempt.Legs) {
		return
	}
	now := time.Now().UTC()
	l, row := c.second(leg)
	l.EndedAt, row.Closed = &now, true
	c.commit(ctx, "", nil, nil)
}

// replaced: somebody takes the place of the far end, who has handed us on.
func (c *call) replaced(ctx actor.Context, e sip.Replaced) {
	trunkID, ours := e.By.TrunkID, true
	if c.cfg.Ours != nil {
		trunkID, ours = c.cfg.Ours(c.call.Environment, e.By)
	}
	if !ours || !c.script.Transfer.AcceptRefer || c.stage != talking || c.transfer != nil || c.byeReason != "" {
		e.By.Reject(sipForbidden, 0)
		return
	}
	e.By.Ring()
	c.cfg.Traces.Claim(c.call.ID, e.By.CallID, e.By.Tag())
	now := time.Now().UTC()
	n := len(c.call.Legs) + 1
	c.call.Legs = append(slices.Clone(c.call.Legs), domain.Leg{
		TrunkID: trunkID, SIPCallID: e.By.CallID, Target: e.By.Source.String(), Role: roleTransfer, StartedAt: now,
	})
	c.row()
	c.attempt.Legs = append(slices.Clone(c.attempt.Legs), domain.AttemptLeg{Number: n, TrunkID: trunkID, SIPCallID: e.By.CallID})
	c.call.Transfers = append(slices.Clone(c.call.Transfers), domain.Transfer{
		To: strings.TrimSpace(e.By.From), Mode: domain.TransferAttended, Status: domain.TransferStarted, By: byRemote, Legs: []int{n}, StartedAt: now,
	})
	c.transfer = &transfer{wish: wish{mode: domain.TransferAttended, by: byRemote}, at: len(c.call.Transfers) - 1}
	c.asked++
	c.transferred(ctx, func(ctx actor.Context, durable bool) { c.takeOver(ctx, e.By, n, durable) })
}

func (c *call) takeOver(ctx actor.Context, by *sip.Incoming, n int, durable bool) {
	if c.stage != talking || c.byeReason != "" || !durable { // nobody would end what is answered after our BYE
		by.Reject(500, 0)
		if c.stage == talking {
			c.failTransfer(ctx, string(domain.ReasonInternal))
		}
		return
	}
	c.session.Rekey() // another far end is told another key
	body := c.session.Offer()
	if len(by.Body) > 0 {
		var err error
		if body, err = c.session.Answer(by.Body); err != nil {
			by.Reject(488, 0, leg.RefusalWarning(err)...)
			c.mediaRefused(err)
			c.failTransfer(ctx, string(domain.ReasonMedia))
			return
		}
	}
	d, gaveUp := c.answerTo(ctx, by, n, body)
	if gaveUp { // whose place he wanted stays, and is heard again
		c.failTransfer(ctx, string(domain.ReasonCancelled))
		leg.RenewKey(c.log, c.session, c.resources.Dialog())
		return
	}
	c.leg = n
	c.resources.ReplaceDialog(n, d)
	l := c.record()
	l.Code, l.Reason = sipOK, "OK"
	c.keepDialog(d.State())
	c.finishTransfer(ctx, domain.TransferCompleted, "")
	c.leave(ctx, awayTransfer)
	c.comeBack(ctx, awayTransfer, true)
}
